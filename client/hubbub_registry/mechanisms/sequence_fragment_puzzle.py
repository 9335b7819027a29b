"""Calibrates the sequence fragment puzzle: one epsilon for its two reports of local hashing (Apple 2017)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hubbub_client.mechanisms.local_hashing import worst_ratio
from hubbub_client.records import bits_for
from hubbub_registry.calibration import Calibrated, CalibrationError, KeyProblem, field_of, largest_signal
from hubbub_registry.exact import exp_lower
from hubbub_registry.mechanisms import Key, Settings
from hubbub_registry.mechanisms.local_hashing import best_width
from hubbub_registry.mechanisms.sketches import MAX_HASHES

# The whole string's share of epsilon, where the registry does not say. The fragments' reports are divided over the
# positions, so they need more of it: on lists of names this finds a third more than an even split.
USUAL = Fraction(2, 5)
KEYS: Mapping[str, Key] = {
    "hashes": Key("power-of-two", 1, MAX_HASHES, required=False, default=1 << 16),
    "fragment_hashes": Key("power-of-two", 1, 1 << 16, required=False, default=1 << 10),
    "positions": Key("power-of-two", 1, 64, required=False, default=8),
    "fragment_bytes": Key("integer", 1, 3, required=False, default=2),
    "piece_bits": Key("integer", 1, 16, required=False, default=8),
    "split": Key("probability", required=False, default=USUAL),
}
# With less than that for one of its parts a string is not found, or not told from a false one.
LEAST_SHARE = Fraction(1, 10)
# Past epsilon 5.5 for a part more buckets would be a little better, and a state hundreds of megabytes.
MOST_BUCKETS = 256


def closed(_keys: Mapping[str, Any]) -> bool:
    """Any value can be reported; a decoder finds the frequent ones."""
    return False


def calibrate(settings: Settings) -> Calibrated:
    """The whole string's report as its share of epsilon allows; the fragment's as the rest of epsilon does."""
    keys = settings.keys
    share = keys["split"]
    if not LEAST_SHARE <= share <= 1 - LEAST_SHARE:
        what = f"{float(share):g} of epsilon for the whole string leaves one of the two parts next to nothing"
        raise CalibrationError(KeyProblem("split", what, "write a share from 0.1 to 0.9, or leave it out for 0.4"))
    whole, whole_ratio = _part(settings.epsilon * share, settings.epsilon * share, Fraction(1))
    fragment, _ = _part(settings.epsilon * (1 - share), settings.epsilon, whole_ratio)
    positions, hashes, fragment_hashes = keys["positions"], keys["hashes"], keys["fragment_hashes"]
    parameters = {
        "hashes_bits": bits_for(hashes),
        **whole,
        "salt": settings.salt,
        "positions_bits": bits_for(positions),
        "fragment_bytes": keys["fragment_bytes"],
        "piece_bits": keys["piece_bits"],
        "fragment_hashes_bits": bits_for(fragment_hashes),
        **{f"fragment_{name}": number for name, number in fragment.items()},
        "fragment_salt": _fragment_salt(settings.salt),
    }
    fields = (
        field_of("hash", hashes),
        field_of("bucket", 1 << whole["width_bits"]),
        field_of("position", positions),
        field_of("fragment_hash", fragment_hashes),
        field_of("fragment_bucket", 1 << fragment["width_bits"]),
    )
    return Calibrated(parameters, fields)


def _part(share: Fraction, bound: Fraction, spent: Fraction) -> tuple[dict[str, int], Fraction]:
    """One report with the buckets that suit ``share``, and its ratio: the largest with which e^bound is not exceeded.

    ``spent`` is the ratio of what is sent beside it.
    """
    width_bits = bits_for(min(best_width(exp_lower(share)), MOST_BUCKETS))

    def ratio(threshold: int, precision: int) -> Fraction:
        return Fraction(*worst_ratio({"width_bits": width_bits, "threshold": threshold, "precision": precision}))

    threshold, precision = largest_signal(bound, lambda t, b: spent * ratio(t, b))
    return {"width_bits": width_bits, "threshold": threshold, "precision": precision}, ratio(threshold, precision)


def _fragment_salt(salt: int) -> int:
    """Another salt, so that whole strings and fragments meet in unrelated buckets."""
    return int.from_bytes(hashlib.sha256(b"hubbub fragments" + salt.to_bytes(8, "little")).digest()[:8], "little")
