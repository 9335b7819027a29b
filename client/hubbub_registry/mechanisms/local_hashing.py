"""Calibrates local hashing, and chooses how many buckets (Wang, Blocki, Li, Jha, USENIX Security 2017, section 4.4)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hubbub_client.mechanisms.local_hashing import worst_ratio
from hubbub_client.records import bits_for
from hubbub_registry.calibration import Calibrated, field_of, largest_signal
from hubbub_registry.exact import exp_lower
from hubbub_registry.mechanisms import Key, Settings
from hubbub_registry.mechanisms.sketches import MAX_HASHES

MAX_WIDTH = 1 << 16
KEYS: Mapping[str, Key] = {
    "hashes": Key("power-of-two", 1, MAX_HASHES, required=False, default=1 << 16),
    "width": Key("power-of-two", 2, MAX_WIDTH, required=False),
}


def closed(_keys: Mapping[str, Any]) -> bool:
    """Any value can be reported; candidates are named when decoding."""
    return False


def best_width(ratio: Fraction) -> int:
    """The power of two with the least variance of a rare value's estimate.

    n Var is (E - 1 + g)**2 / ((g - 1)(E - 1)**2), least at g = E + 1. A power of two costs 3 % of that from epsilon 1
    on, and 8 % at most, near 0.55; for it every record is a valid one, and no draw of a bucket is biased.
    """
    return min((1 << i for i in range(1, bits_for(MAX_WIDTH) + 1)), key=lambda g: (ratio - 1 + g) ** 2 / (g - 1))


def calibrate(settings: Settings) -> Calibrated:
    """The largest share of kept buckets that epsilon allows."""
    hashes = settings.keys["hashes"]
    width = settings.keys["width"] or best_width(exp_lower(settings.epsilon))
    fixed = {"hashes_bits": bits_for(hashes), "width_bits": bits_for(width)}

    def ratio(threshold: int, precision: int) -> Fraction:
        return Fraction(*worst_ratio({**fixed, "threshold": threshold, "precision": precision}))

    threshold, precision = largest_signal(settings.epsilon, ratio)
    parameters = {**fixed, "threshold": threshold, "precision": precision, "salt": settings.salt}
    return Calibrated(parameters, (field_of("hash", hashes), field_of("bucket", width)))
