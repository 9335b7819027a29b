"""Whether a sketch is large enough for what it is to tell apart."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date
from fractions import Fraction

from hubbub_client.mechanisms.local_hashing import worst_ratio
from hubbub_registry.lints.finding import Finding, warning
from hubbub_registry.metric import Metric

# The sum of squared frequencies of a skewed population: one value at 30 %, say, and a long tail.
TYPICAL_S = 0.1
# The floor may hide a tenth of a value that one device in a hundred holds.
HIGHEST_FLOOR = 0.001
_HASHING = ("local-hashing", "count-mean-sketch", "hadamard-count-mean-sketch", "sequence-fragment-puzzle")


def collision_floor(metric: Metric, _today: date) -> Iterator[Finding]:
    """``collision-floor``: other values that share a bucket leave an error that no number of reports removes.

    With k fixed hash functions of m buckets the estimate of one value keeps the variance S / ((m - 1) k), where S is
    the sum of f^2 over the other values (Apple 2017, appendix; docs/estimators.md).
    """
    if metric.mechanism == "prefix-extending-method":
        yield from _few_items(metric)
    if metric.mechanism not in _HASHING:
        return
    hashes, width = metric.settings["hashes"], 1 << metric.device.parameters["width_bits"]
    floor = math.sqrt(TYPICAL_S / ((width - 1) * hashes))
    if floor <= HIGHEST_FLOOR:
        return
    enough = 1 << math.ceil(math.log2(TYPICAL_S / HIGHEST_FLOOR**2 / (width - 1)))
    yield warning(
        metric,
        "collision-floor",
        "hashes",
        f"collisions leave a standard error of {floor:.2g} (skewed population) to "
        f"{1 / math.sqrt((width - 1) * hashes):.2g} (one value only), however many devices report; past about "
        f"{_dominates_from(metric, hashes, width):.2g} reports they are most of the error",
        f"raise hashes to {enough}{', or raise width' if 'width' in metric.settings else ''}",
    )


def _few_items(metric: Metric) -> Iterator[Finding]:
    """The same of families of items: S g / ((g - 1) D k), in the reports of one part (docs/estimators.md)."""
    p = metric.device.parameters
    width, items = 1 << p["width_bits"], 1 << (p["width_bits"] * p["dimension"])
    one_value = width / (width - 1) / (items << p["families_bits"])
    if TYPICAL_S * one_value <= HIGHEST_FLOOR**2:
        return
    enough = 1 << math.ceil(math.log2(TYPICAL_S * width / (width - 1) / HIGHEST_FLOOR**2 / items))
    yield warning(
        metric,
        "collision-floor",
        "families",
        f"collisions leave a standard error of {math.sqrt(TYPICAL_S * one_value):.2g} (skewed population) to "
        f"{math.sqrt(one_value):.2g} (one value only), however many devices report",
        f"raise families to {enough}, or raise items",
    )


def _dominates_from(metric: Metric, hashes: int, width: int) -> float:
    """The number of reports at which the floor equals the noise."""
    ratio = float(metric.ratio)
    if metric.mechanism == "sequence-fragment-puzzle":  # of the report of the whole string
        ratio = float(Fraction(*worst_ratio(metric.device.parameters)))
    if metric.mechanism == "count-mean-sketch":
        noise = math.sqrt(ratio) / (math.sqrt(ratio) - 1) ** 2
    elif metric.mechanism in ("local-hashing", "sequence-fragment-puzzle"):
        noise = (1 - 1 / width) ** 2 * (ratio - 1 + width) ** 2 / ((width - 1) * (ratio - 1) ** 2)
    else:
        noise = ((ratio + 1) / (ratio - 1)) ** 2
    return (width / (width - 1)) ** 2 * noise * (width - 1) * hashes / TYPICAL_S
