"""What every metric has spent, on record before anything is encoded.

An entry goes by the metric's name, not by its fingerprint: a new version of a plan does not refill a lifetime. The
period is kept as its start and end in Unix seconds, not as a number, so that a plan that changes a metric's period is
not taken for a new period or for a clock that went back. docs/ledger.md says what all of it is for.
"""

import json

from hubbub_client.charges import charged_after
from hubbub_client.journal import replay
from hubbub_client.ledger_file import read_lines, write_lines
from hubbub_client.prf import expand
from hubbub_client.reasons import RefusalError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hubbub_client.frames import Report
    from hubbub_client.plan import Metric
    from hubbub_client.report_files import Readable
    from hubbub_client.storage import Storage

# Values told apart for each metric. One that was forgotten is charged as new: too much, never too little.
MOST_TAGS = 32
TAG_BYTES = 8


def tag_of(secret: bytes, metric: "Metric", permanent_key: bytes) -> str:
    """What tells one permanent noise of a device from another, and says nothing without the device's secret: hex."""
    return expand(secret, b"hubbub ledger tag", metric.fingerprint + permanent_key, TAG_BYTES).hex()


class Entry:
    """What one metric has spent.

    ``start`` and ``end`` of the last period reported in, and the ``reports`` made in it; ``spent`` in the whole life,
    and the ``lifetime`` (or None) that the plan last allowed, in 1e-9; ``tags`` as ``[tag, reports]``, latest last.
    """

    def __init__(
        self, start: int, end: int, reports: int, spent: int, lifetime: "int | None", tags: "list[list[object]]"
    ) -> None:
        self.start = start
        self.end = end
        self.reports = reports
        self.spent = spent
        self.lifetime = lifetime
        self.tags = tags

    def reports_of(self, tag: str) -> int:
        """How many reports were made with the permanent noise that ``tag`` stands for."""
        for known in self.tags:
            if known[0] == tag:
                return known[1]  # type: ignore[return-value]
        return 0

    def count_one(self, tag: str) -> None:
        """One more report of ``tag``; the tag that was used longest ago is forgotten where there are too many."""
        reports = self.reports_of(tag) + 1
        self.tags = [known for known in self.tags if known[0] != tag][1 - MOST_TAGS :] + [[tag, reports]]


class Ledger:
    """The spent budget of one device.

    ``entries`` is name -> Entry. ``generation`` goes up with each save. ``enabled`` is False after an opt-out.
    ``secret`` and ``device`` are what binds the ledger to them (see device_state.py), or empty. ``joined``: a spend is
    stored with the report it pays for (see journal.py), and not before; ``stored`` is the generation in its own file.
    """

    def __init__(self, storage: "Readable") -> None:
        self._storage = storage
        self._lines: dict[str, str] = {}
        self.entries: dict[str, Entry] = {}
        self.generation = 0
        self.enabled = True
        self.secret = ""
        self.device = ""
        self.joined: bool = getattr(storage, "journal", False)
        self.stored = 0

    @staticmethod
    def load(storage: "Readable") -> "Ledger | None":
        """The stored ledger, or None where there is none. Raises StateError where it is damaged, and OSError."""
        lines = read_lines(storage)
        if lines is None:
            return None
        ledger = Ledger(storage)
        for line in lines:
            ledger.take(line)
        ledger.stored = ledger.generation
        replay(ledger, storage)
        return ledger

    def save(self) -> None:
        """Stores the ledger, durably, as one generation more. Raises OSError."""
        self.generation += 1
        self.catch_up()
        self.count_up()

    def catch_up(self) -> None:
        """Stores in the ledger's own file what only the open file of reports says so far. Raises OSError."""
        storage: Storage = self._storage  # type: ignore[assignment]
        if self.stored != self.generation:
            write_lines(storage, self._text())
            self.stored = self.generation

    def count_up(self) -> None:
        """Advances the storage's counter, if any, to a generation that is stored. Raises OSError."""
        counter = getattr(self._storage, "counter", None)
        if counter is not None:  # after the ledger: a crash in between leaves the counter behind, which is no rollback
            counter.advance(self.generation)

    def journal(self, name: str, tag: str) -> bytes:
        """What a report of metric ``name`` stores of a ``joined`` ledger: the entry, with its own tag and no other."""
        if not self.joined:
            return b""
        entry = self.entries[name]
        return json.dumps([entry.start, entry.end, entry.reports, entry.spent, entry.lifetime, tag]).encode()

    def redo(self, report: "Report") -> None:
        """Spends again what the next report says it cost."""
        start, end, reports, spent, lifetime, tag = json.loads(report.journal.decode())
        known = self.entries.get(report.name)
        entry = Entry(start, end, reports, spent, lifetime, known.tags if known else [])
        if tag:
            entry.count_one(tag)
        self._set(report.name, entry)
        self.generation = report.serial

    def total(self) -> int:
        """What this device has spent over all metrics, those of earlier plans among them, in 1e-9 of epsilon."""
        return sum([entry.spent for entry in self.entries.values()])

    def forget_tags(self) -> None:
        """Every value is charged as new from now on: for a new secret, under which all permanent noise is new."""
        for name in list(self.entries):
            entry = self.entries[name]
            entry.tags = []
            self._set(name, entry)

    def spend(self, metric: "Metric", now: int, tag: str) -> int:
        """Spends one report of ``metric`` at Unix time ``now``, stores that, and returns its charge, in 1e-9.

        Where the ledger is ``joined`` the caller stores it, with the report. ``tag`` is ``tag_of`` the value where the
        metric has ``charges``. Raises RefusalError ("clock-went-back",
        "period-used-up", "lifetime-used-up"), with nothing changed; and OSError where the ledger could not be stored
        for sure: the caller must then encode nothing, and load the ledger again.
        """
        entry = self.entries.get(metric.name) or Entry(0, 0, 0, 0, None, [])
        start = now - now % metric.period
        end = start + metric.period
        reports = 0
        if end <= entry.start:
            raise _refusal(metric, "clock-went-back")
        if start < entry.end:
            # The same period; or, after the plan changed its length, one that overlaps it and shares its reports.
            start, end, reports = max(start, entry.start), max(end, entry.end), entry.reports
        if reports >= metric.reports_per_period:
            raise _refusal(metric, "period-used-up")
        before = entry.reports_of(tag) if metric.charges else 0
        charge = charged_after(metric, before + 1) - charged_after(metric, before)
        if metric.lifetime_nano is not None and entry.spent + charge > metric.lifetime_nano:
            raise _refusal(metric, "lifetime-used-up")
        entry.start, entry.end, entry.reports = start, end, reports + 1
        entry.spent += charge
        entry.lifetime = metric.lifetime_nano
        if metric.charges:
            entry.count_one(tag)
        self._set(metric.name, entry)
        if self.joined:
            self.generation += 1
        else:
            self.save()
        return charge

    def take(self, line: "Any") -> None:
        """Takes a decoded line of the ledger's file, the device's or a metric's, in place of what was known."""
        if isinstance(line, dict):
            self.generation, self.enabled = line["generation"], line["enabled"]
            self.secret, self.device = line["secret"], line["device"]
        else:
            self._set(line[0], Entry(line[1], line[2], line[3], line[4], line[5], line[6]))

    def _text(self) -> "list[str]":
        head = {
            "generation": self.generation, "enabled": self.enabled, "secret": self.secret, "device": self.device,
        }  # fmt: skip
        return [json.dumps(head)] + list(self._lines.values())

    def _set(self, name: str, entry: Entry) -> None:
        """Keeps an entry, and its line, so that a report costs the writing of one line and not of all."""
        self.entries[name] = entry
        line = [name, entry.start, entry.end, entry.reports, entry.spent, entry.lifetime, entry.tags]
        self._lines[name] = json.dumps(line)


def _refusal(metric: "Metric", reason: str) -> RefusalError:
    return RefusalError(reason, "metric %s: %s" % (metric.name, reason))
