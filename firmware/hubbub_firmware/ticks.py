"""Milliseconds of uptime, the same on a board as on a host. On boards they wrap around, at 2^30."""

import time

if hasattr(time, "ticks_ms"):  # a board
    ticks_ms = time.ticks_ms
    ticks_diff = time.ticks_diff  # type: ignore[attr-defined]
else:

    def ticks_ms() -> int:
        """Milliseconds since some moment."""
        return time.monotonic_ns() // 1000000

    def ticks_diff(later: int, earlier: int) -> int:
        """How many milliseconds lie between two ticks; on a board, right below half the wrap-around (6.2 days)."""
        return later - earlier
