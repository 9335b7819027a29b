"""What the board runs: reads the sensor, and leaves the rest to hubbub. Yours to edit."""

import board

from hubbub_firmware.loop import run


def read():
    """One reading: pairs of a metric's name and a value, an integer or text. Read your sensor here."""
    return []


run(board, read)
