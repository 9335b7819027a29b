"""What every metric has spent, on record before anything is encoded.

An entry is keyed by the metric's name, not by its fingerprint: a new version of a plan does not refill a lifetime. It
holds the start and end, in Unix seconds, of the last period reported in; the reports made in it; and the epsilon spent
in the whole life, in 1e-9. Start and end, not a period number, so that a plan that changes a metric's period is not
taken for a new period or for a clock that went back.
"""

import json
from hashlib import sha256

from hubbub_client.errors import StateError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Metric
    from hubbub_client.storage import Storage

NAME = "budget"
_CHECK = 32


class Budget:
    """The spent budget of one device. ``entries`` is name -> [start, end, reports, spent_nano]."""

    def __init__(self, storage: "Storage", entries: "dict[str, list[int]]") -> None:
        self._storage = storage
        self.entries = entries

    @staticmethod
    def load(storage: "Storage") -> "Budget | None":
        """The stored budget, or None where there is none. Raises StateError where it is damaged, and OSError."""
        data = storage.read(NAME)
        if data is None:
            return None
        text = data[_CHECK:]
        if sha256(text).digest() != data[:_CHECK]:
            raise StateError(
                "state, %s: it is damaged, so what was spent is unknown and nothing more is reported" % NAME
            )
        return Budget(storage, json.loads(text))

    def save(self) -> None:
        """Stores the budget, durably. Raises OSError."""
        text = json.dumps(self.entries).encode()
        self._storage.write(NAME, sha256(text).digest() + text)

    def spend(self, metric: "Metric", now: int) -> "str | None":
        """Spends one report of ``metric`` at Unix time ``now`` and stores that; None, or the reason not to report.

        Reasons: ``"clock-went-back"``, ``"period-used-up"``, ``"lifetime-used-up"``. Raises OSError where the budget
        could not be stored for sure; the caller must then encode nothing, and load the budget again.
        """
        start = now - now % metric.period
        end = start + metric.period
        before = self.entries.get(metric.name)
        reports = spent = 0
        if before is not None:
            spent = before[3]
            if end <= before[0]:
                return "clock-went-back"
            if start < before[1]:
                # The same period; or, after the plan changed its length, one that overlaps it and shares its reports.
                start, end, reports = max(start, before[0]), max(end, before[1]), before[2]
        if reports >= metric.reports_per_period:
            return "period-used-up"
        spent += metric.epsilon_nano
        if metric.lifetime_nano is not None and spent > metric.lifetime_nano:
            return "lifetime-used-up"
        self.entries[metric.name] = [start, end, reports + 1, spent]
        self.save()
        return None
