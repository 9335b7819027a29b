"""Calibrates d-bit flip: the least permanent flip within epsilon (Ding, Kulkarni, Yekhanin 2017, section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

from hubbub_client.mechanisms.d_bit_flip import permanent_ratio
from hubbub_client.records import bits_for
from hubbub_registry.calibration import Calibrated, CalibrationError, Field, KeyProblem, field_of
from hubbub_registry.mechanisms import Key, Settings
from hubbub_registry.mechanisms.ranges import (
    EXTRA_BITS,
    PERTURBATION_KEYS,
    RANGE_KEYS,
    flip_parameters,
    range_parameters,
    range_problems,
)

KEYS: Mapping[str, Key] = {
    **RANGE_KEYS,
    "buckets": Key("integer", 2, 1 << 16),
    "bits": Key("integer", 1, 64),
    **PERTURBATION_KEYS,
}


def closed(_keys: Mapping[str, Any]) -> bool:
    """The integers of the range are no list."""
    return False


def labels(keys: Mapping[str, Any]) -> tuple[str, ...]:
    """The buckets as text, ``"0..9"``, or the integer itself where a bucket holds one.

    Bucket b holds the integers whose offset x above ``low`` has x buckets // (span + 1) = b.
    """
    low, buckets = keys["low"], keys["buckets"]
    integers = keys["high"] - low + 1
    starts = [low - -b * integers // buckets for b in range(buckets + 1)]
    return tuple(f"{start}" if end - start == 1 else f"{start}..{end - 1}" for start, end in pairwise(starts))


def calibrate(settings: Settings) -> Calibrated:
    """Two bits differ between two values at most; with one bit a report, that one."""
    keys = settings.keys
    buckets, bits = keys["buckets"], keys["bits"]
    problems = range_problems(keys)
    if not problems and buckets > keys["high"] - keys["low"] + 1:
        problems.append(KeyProblem("buckets", f"{buckets} are more than the range has integers", "use fewer"))
    if bits > buckets:
        problems.append(
            KeyProblem("bits", f"{bits} different buckets cannot be drawn from {buckets}", f"write at most {buckets}")
        )
    if problems:
        raise CalibrationError(*problems)
    parameters = {
        **range_parameters(keys),
        "buckets": buckets,
        "bits": bits,
        "draw_bits": bits_for(buckets) + EXTRA_BITS,
        **flip_parameters(settings, differing=2 if bits > 1 else 1),
    }
    fields = [field_of(f"bucket_{i}", buckets) for i in range(bits)]
    return Calibrated(parameters, (*fields, Field("bits", bits)), Fraction(*permanent_ratio(parameters)))
