"""Runs on MicroPython, as one board from its first start: it reads its sensor once, and uploads the report.

The sensor is the command line: the reading, in tenths of a degree Fahrenheit.
"""

import sys

import board

from hubbub_firmware.loop import run

_BAND = 3


def read():
    """The band of the reading, as the registry lists them."""
    celsius = (int(sys.argv[1]) - 320) // 18
    low = celsius - celsius % _BAND
    return [("temperature_band", "%d-%d °C" % (low, low + _BAND - 1))]


if run(board, read, sys.path[1] + "/", rounds=1):
    print("done")
