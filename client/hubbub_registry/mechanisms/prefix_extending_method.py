"""Calibrates the prefix extending method, and chooses its levels and its hash functions (docs/discovery.md)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hubbub_client.mechanisms.local_hashing import worst_ratio
from hubbub_client.mechanisms.prefix_extending_method import POLYNOMIALS
from hubbub_client.records import bits_for
from hubbub_registry.calibration import Calibrated, field_of, largest_signal
from hubbub_registry.exact import exp_lower
from hubbub_registry.mechanisms import Key, Settings

# All first beginnings of three bytes, some two million, can be gone through; so can the extensions, by two bytes, of a
# few hundred beginnings. Shorter steps make more levels, and fewer reports for each.
FIRST, STEP = 3, 2
# So many cells for each part leave an error by collisions of 0.0003 in a skewed population.
_CELLS = 1 << 20
# Up to eight times as many items as are wanted are better than fewer items in more families, which take more look-ups.
_SPARE_BITS = 3
MAX_FAMILIES = 1 << 8
KEYS: Mapping[str, Key] = {
    "longest": Key("integer", 1, 31, required=False, default=15),
    "items": Key("power-of-two", 4, 1 << 20, required=False, default=1 << 18),
    "families": Key("power-of-two", 1, MAX_FAMILIES, required=False),
}


def closed(_keys: Mapping[str, Any]) -> bool:
    """Any value can be reported; a decoder finds the frequent ones."""
    return False


def longest(keys: Mapping[str, Any]) -> int:
    """The bytes of the longest string that can be found."""
    return FIRST + STEP * (levels_for(keys["longest"]) - 1)


def best_width(ratio: Fraction) -> int:
    """The power of two, of at most 256, with the least variance of a rare value's estimate, as in local hashing."""
    widths = [1 << (i + 1) for i in range(len(POLYNOMIALS))]
    return min(widths, key=lambda g: (ratio - 1 + g) ** 2 / (g - 1))


def calibrate(settings: Settings) -> Calibrated:
    """The largest share of kept buckets that epsilon allows."""
    width_bits = bits_for(best_width(exp_lower(settings.epsilon)))
    dimension = _dimension(bits_for(settings.keys["items"]), width_bits)
    families = settings.keys["families"] or min(MAX_FAMILIES, max(1, _CELLS >> (width_bits * dimension)))
    levels = levels_for(settings.keys["longest"])
    slots = _slots(levels + 1)

    def ratio(threshold: int, precision: int) -> Fraction:
        return Fraction(*worst_ratio({"width_bits": width_bits, "threshold": threshold, "precision": precision}))

    threshold, precision = largest_signal(settings.epsilon, ratio)
    parameters = {
        "levels": levels,
        "first": FIRST,
        "step": STEP,
        "slots_bits": bits_for(slots),
        "families_bits": bits_for(families),
        "dimension": dimension,
        "width_bits": width_bits,
        "threshold": threshold,
        "precision": precision,
        "salt": settings.salt,
    }
    functions = 1 << (width_bits * (dimension - 1))
    fields = (
        field_of("slot", slots),
        field_of("family", families),
        field_of("function", functions),
        field_of("bucket", 1 << width_bits),
    )
    return Calibrated(parameters, fields)


def levels_for(longest: int) -> int:
    """The levels, at least one, with which the longest beginning has ``longest`` bytes or more."""
    return 1 + max(0, -(-(longest - FIRST) // STEP))


def _slots(parts: int) -> int:
    """A power of two, so that every record is a valid one, in which all parts are about as large."""
    bits = bits_for(parts)
    return 1 << (bits if parts == 1 << bits else bits + 3)


def _dimension(item_bits: int, width_bits: int) -> int:
    """The coordinates, two at least, of as many items as are wanted, or of fewer where that would be many more."""
    enough = -(-item_bits // width_bits)
    return max(2, enough if enough * width_bits <= item_bits + _SPARE_BITS else enough - 1)
