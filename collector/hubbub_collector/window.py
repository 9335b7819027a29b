"""Which periods are still, or already, accepted."""

from __future__ import annotations

from dataclasses import dataclass

from hubbub_collector.errors import Refusal

EARLY = 86_400
"""How many seconds before it begins a period is accepted: device clocks and time zones."""
LATE = 28 * 86_400
"""For how many seconds after its end a period is accepted, unless the operator says otherwise."""
ALWAYS = 1 << 62
"""For longer than there are periods: a window that never closes."""


_WORDS = {
    "period-too-early": "period {} begins too far in the future",
    "period-too-late": "period {} ended too long ago",
    "metric-expired": "its metric had expired when period {} began",
}


class OutsideWindow(Refusal):
    """The refusal of a batch for its period alone."""


@dataclass(frozen=True)
class Window:
    """The acceptance window. ``early`` and ``late`` are in seconds."""

    early: int = EARLY
    late: int = LATE

    def outside(self, period: int, seconds: int, expires: int, now: float, closed: int = 0) -> str | None:
        """Why period number ``period``, ``seconds`` long, is not accepted at Unix time ``now``, as a refusal's code.

        ``expires`` is when the metric expires, in Unix time: a period that begins then or later has no reports.
        What had ended by ``closed`` is not accepted, whatever the clock says. None where the period is accepted.
        """
        begin = period * seconds
        if begin > now + self.early:
            return "period-too-early"
        if begin + seconds < now - self.late or begin + seconds <= closed:
            return "period-too-late"
        return "metric-expired" if begin >= expires else None

    def check(self, batch: int, period: int, seconds: int, expires: int, now: float, closed: int = 0) -> None:
        """Raises OutsideWindow for batch number ``batch`` of an upload where ``outside`` gives a reason."""
        code = self.outside(period, seconds, expires, now, closed)
        if code is not None:
            raise OutsideWindow(400, code, f"batch {batch}: {_WORDS[code].format(period)}")
