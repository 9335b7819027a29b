"""The main loop of a board: reads the sensor, records, uploads, and goes on whatever happens."""

import gc

from hubbub_client.reasons import text_of
from hubbub_firmware.device import Device, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from hubbub_firmware.device import Read


def run(
    board: "Any",
    read: "Read",
    folder: str = "",
    transport: "Any" = None,
    feed: "Callable[[], object]" = gc.collect,
    rounds: "int | None" = None,
    clock: "Callable[[], int] | None" = None,
) -> bool:
    """Runs ``board``, its module, for ever, or for ``rounds`` readings and a last upload. Never raises.

    ``read()`` gives pairs of a metric's name and a value, and the value of its public dimension third where it has one.
    ``folder`` is where plan.json, settings.json and build.json
    are, with a slash at its end. ``transport`` stands in for the one that the settings name. ``feed`` is called about
    once a second, such as a watchdog's. ``clock`` gives Unix seconds where the board has a clock that is right; without
    it the time is learnt (see slow_clock.py). False where the device could not be started; nothing was recorded then.
    """
    try:
        device = Device(board, folder, transport, feed, clock)
    except Exception as error:  # noqa: BLE001 - a board that stops with a trace tells nobody
        # There is no value yet that an OSError could hold, and which file it was helps.
        say("%s; nothing is recorded" % (str(error) if isinstance(error, OSError) else text_of(error)))
        return False
    _survive(device.upload)  # what waits from before; and it learns the time
    done = 0
    while rounds is None or done < rounds:
        if done:
            _survive(device.wait, 1000 * device.settings["read_seconds"])
        _survive(device.record, read)
        _survive(device.upload_where_due)
        done += 1
    if done:
        _survive(device.upload)
    return True


def _survive(step: "Callable[..., object]", *words: object) -> None:
    """Runs a step. Most are guarded closer to what may fail; here is what nobody foresaw, and memory that ran out."""
    try:
        step(*words)
    except Exception as error:  # noqa: BLE001 - as above; its text may hold a value, its type does not
        say("%s; going on" % type(error).__name__)
