"""Time in whole seconds and milliseconds, the same on a board as in an app."""

import time

# 2025-01-01. A clock before it was never set: boards wake up in 1970, 2000, 2015 or 2021.
EARLIEST = 1735689600
# Several boards count from 2000-01-01.
_OFFSET = 946684800 if time.gmtime(0)[0] == 2000 else 0


def unix_time() -> int:
    """Seconds since 1970-01-01."""
    return int(time.time()) + _OFFSET


def sleep_ms(milliseconds: int) -> None:
    """Waits."""
    if hasattr(time, "sleep_ms"):  # a board
        time.sleep_ms(milliseconds)
    else:
        time.sleep(milliseconds / 1000)  # the client's one fraction: a wait, on an interpreter that has them
