"""A real public series: the hourly temperature in Seattle in 2010, as the ``vega_datasets`` package ships it.

The series is NOAA's and in the public domain; the package (MIT) carries it unchanged.
"""

from __future__ import annotations

import csv
import math
from importlib import resources

_BAND = 3


def readings(count: int) -> list[int]:
    """``count`` hours spread evenly over the year, in tenths of a degree Fahrenheit. At most one for each hour."""
    with (resources.files("vega_datasets") / "_data" / "seattle-temps.csv").open(encoding="utf-8") as file:
        year = [round(10 * float(row["temp"])) for row in csv.DictReader(file)]
    count = min(count, len(year))
    return [year[i * len(year) // count] for i in range(count)]


def band(tenths: int) -> str:
    """The band of a reading, written once more than in the board's own program: the truth is not to come from that."""
    celsius = math.floor((tenths / 10 - 32) / 1.8 + 1e-9)
    low = celsius // _BAND * _BAND
    return f"{low}-{low + _BAND - 1} °C"
