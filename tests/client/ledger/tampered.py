"""A model of a device whose storage somebody tampers with: one file is removed, or is again what it was before."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hubbub_client import MemoryStorage, Reporter, StateError
from hubbub_client.device_state import known_ledger, known_secret
from hubbub_client.frames import parse
from hubbub_client.ledger import Ledger
from hubbub_client.ledger_file import read_lines
from hubbub_client.report_files import OPEN, fate_of, report_files

from tests.client.ledger import test_model as model
from tests.client.reporter.reporting import DAY, NOW, Collector, FailingStorage, PowerCut, reporter_of


class Remembering(FailingStorage):
    """Storage whose ``past`` is name -> what was under it before, oldest first."""

    past: dict[str, list[bytes]]

    def write(self, name: str, data: bytes) -> None:
        self._remember(name)
        super().write(name, data)

    def append(self, name: str, data: bytes) -> None:
        self._remember(name)
        super().append(name, data)

    def rename(self, old: str, new: str) -> None:
        super().rename(old, new)
        self.past[new] = self.past.pop(old, [])

    def _remember(self, name: str) -> None:
        if name in self.files:
            self.past.setdefault(name, []).append(self.files[name])


def head_of(ledger: bytes) -> dict[str, Any]:
    """The device's line of a ledger's file."""
    storage = MemoryStorage()
    storage.files["ledger"] = ledger
    lines = read_lines(storage)
    assert lines is not None
    return dict(lines[0])


class TamperedLife(model.Life):
    """A device one of whose files somebody removes, or puts back as it was, while it is without power.

    Reports that were only ever in an open file, and are gone, were told to nobody.
    """

    def __init__(self) -> None:
        self.past: dict[str, list[bytes]] = {}
        self.made_of: dict[tuple[int, bytes], tuple[bytes, bytes, str, str, int]] = {}
        self.left: set[tuple[int, bytes]] = set()
        self.off = False
        self.stood: set[bytes | None] = set()  # ledger files that were there once a report was made
        super().__init__()

    def start(self, at: int = 0, how: str = "") -> Reporter:
        storage = Remembering(at, how, PowerCut, self.files)
        storage.past = self.past
        clock = lambda: NOW + self.day * DAY  # noqa: E731
        self.reporter = reporter_of(self.plan, storage, Collector(), source=self.noise, clock=clock)
        return self.reporter

    def step(self, kind: str, *what: Any) -> None:
        if kind in ("lose", "back"):
            self.tamper(kind, *what)
            self.start()
            kind, what = "days", (0,)
        if kind == "enabled":
            self.off = False
        before = len(self.made_of)
        super().step(kind, *what)
        if len(self.made_of) > before:
            assert not self.off, "an opt-out was undone"
            self.stood.add(self.files.get("ledger"))
        if kind == "enabled" and not what[0]:
            ledger = self.usable()
            self.off = ledger is not None and not ledger.enabled

    def tamper(self, kind: str, which: int, when: int = 0) -> None:
        names = sorted(name for name in self.files if kind == "lose" or self.past.get(name))
        if not names:
            return
        name = names[which % len(names)]
        old = b"" if kind == "lose" else self.past[name][when % len(self.past[name])]
        if name == "ledger" and not any(fate_of(each) for each in self.files):
            # docs/ledger.md: where nothing else is left of what was spent, only a counter tells these.
            if not head_of(self.files[name])["enabled"] and (kind == "lose" or not head_of(old)["enabled"]):
                return
            if kind == "back" and not head_of(old)["secret"] and old not in self.stood:
                return
        if kind == "lose":
            del self.files[name]
        else:
            self.files[name] = old

    def look(self, value: str) -> None:
        secret = self.files.get("secret", b"")
        self.metrics.update({metric.fingerprint: metric for metric in self.plan.metrics.values()})
        self.made, self.periods = Counter(), Counter()
        present = set()
        for name in report_files(self.start_reading()):
            for report in parse(self.files[name])[0]:
                key = report.serial, report.record
                present.add(key)
                made = secret, report.fingerprint, value, report.name, report.period
                self.made_of.setdefault(key, made)
                if fate_of(name) != OPEN:
                    self.left.add(key)
        for key in self.left | present:
            of, fingerprint, told, metric, period = self.made_of[key]
            self.made[of, fingerprint, told] += 1
            self.periods[metric, period] += 1

    def usable(self) -> Ledger | None:
        """The ledger that the next run goes by; None where it refuses."""
        storage = self.start_reading()
        try:
            ledger = known_ledger(storage)
            if ledger is not None and ledger.enabled:
                known_secret(storage, ledger)
        except StateError:
            return None
        return ledger

    def check(self) -> None:
        if self.usable() is not None or not self.files:
            known = {reason for reason in self.reporter.counts if reason.startswith("state-")}
            for reason in known:
                del self.reporter.counts[reason]
            super().check()
