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


class OutsideWindow(Refusal):
    """The refusal of a batch for its period alone."""


@dataclass(frozen=True)
class Window:
    """The acceptance window. ``early`` and ``late`` are in seconds."""

    early: int = EARLY
    late: int = LATE

    def check(self, batch: int, period: int, seconds: int, expires: int, now: float, closed: int = 0) -> None:
        """Raises OutsideWindow unless period number ``period``, ``seconds`` long, is accepted at Unix time ``now``.

        ``expires`` is when the metric expires, in Unix time: a period that begins then or later has no reports.
        What had ended by ``closed`` is not accepted, whatever the clock says. ``batch`` is the index to name in the
        refusal.
        """
        begin = period * seconds
        if begin > now + self.early:
            raise OutsideWindow(400, "period-too-early", f"batch {batch}: period {period} begins too far in the future")
        if begin + seconds < now - self.late or begin + seconds <= closed:
            raise OutsideWindow(400, "period-too-late", f"batch {batch}: period {period} ended too long ago")
        if begin >= expires:
            raise OutsideWindow(
                400, "metric-expired", f"batch {batch}: its metric had expired when period {period} began"
            )
