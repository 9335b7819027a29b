"""Waiting for a connection, with an end."""

from hubbub_client.clock import sleep_ms
from hubbub_firmware.ticks import ticks_diff, ticks_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_STEP_MS = 100
_TIMED_OUT = 110  # ETIMEDOUT


def wait_until_connected(interface: "Any", seconds: int) -> None:
    """Returns as soon as ``interface.isconnected()``. Raises OSError(ETIMEDOUT) after ``seconds``."""
    began = ticks_ms()
    while not interface.isconnected():
        if ticks_diff(ticks_ms(), began) >= 1000 * seconds:
            raise OSError(_TIMED_OUT, "no connection within %d s, status %s" % (seconds, interface.status()))
        sleep_ms(_STEP_MS)
