"""A Pico W that reports the warmest reading of the chip's own thermometer, once a week."""

import board
from machine import ADC

from hubbub_firmware.loop import run

# RP2040 datasheet, section 4.9.5: 27 degrees at 0.706 V, and 1.721 mV less for each degree more.
_MICROVOLT_AT_27 = 706000
_MICROVOLT_PER_DEGREE = 1721
_COLDEST = -274
_READINGS = 7 * 24 * 60  # one a minute for a week

thermometer = ADC(4)
warmest = _COLDEST
readings = 0


def celsius():
    """The temperature in whole degrees."""
    microvolt = thermometer.read_u16() * 3300000 // 65535
    return 27 - (microvolt - _MICROVOLT_AT_27) // _MICROVOLT_PER_DEGREE


def band(degrees):
    """The value of ``temperature_band``, as the registry lists it."""
    if degrees < 0:
        return "below 0"
    if degrees >= 40:
        return "40 and above"
    low = degrees - degrees % 10
    return "%d-%d" % (low, low + 9)


def read():
    """Nothing for a week, and then the week's warmest reading."""
    global warmest, readings
    warmest = max(warmest, celsius())
    readings += 1
    if readings < _READINGS:
        return []
    week, warmest, readings = warmest, _COLDEST, 0
    return [("temperature_band", band(week))]


run(board, read)
