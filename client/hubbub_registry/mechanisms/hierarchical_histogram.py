"""Calibrates the hierarchical histogram, level by level, and chooses how many levels it has (Cormode, Kulkarni,
Srivastava, "Answering range queries under local differential privacy", PVLDB 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

from hubbub_client.mechanisms.hierarchical_histogram import nodes_bits
from hubbub_client.mechanisms.projective_geometry_response import points_in, worst_ratio
from hubbub_client.records import bits_for
from hubbub_registry.calibration import Calibrated, CalibrationError, Field, KeyProblem, field_of, largest_signal
from hubbub_registry.exact import exp_lower
from hubbub_registry.mechanisms import Key, Settings
from hubbub_registry.mechanisms.d_bit_flip import labels
from hubbub_registry.mechanisms.projective_geometry_response import best_geometry
from hubbub_registry.mechanisms.ranges import EXTRA_BITS, RANGE_KEYS, range_parameters, range_problems

__all__ = ["KEYS", "best_levels_bits", "calibrate", "closed", "labels"]

MOST_BUCKETS = 1 << 16
KEYS: Mapping[str, Key] = {
    **RANGE_KEYS,
    "buckets": Key("power-of-two", 2, MOST_BUCKETS),
    "levels": Key("power-of-two", 1, 16, required=False),
}


def closed(_keys: Mapping[str, Any]) -> bool:
    """The integers of the range are no list."""
    return False


def best_levels_bits(ratio: Fraction, buckets_bits: int) -> int:
    """The number of levels, as its binary logarithm, with the least variance of the share below a random bucket."""
    possible = [bits for bits in range(5) if 1 << bits <= buckets_bits]
    return min(possible, key=lambda bits: _below_variance(ratio, buckets_bits, bits))


def _below_variance(ratio: Fraction, buckets_bits: int, levels_bits: int) -> Fraction:
    """n times the variance of the share below a random bucket, after constrained inference, where values are spread.

    A level of m nodes has n / h of the reports, and its oracle the variance v of k-ary randomized response or that of
    the optimum, 4 E / (E - 1)**2, whichever is less; 1 / m on top, for which reports it has. Constrained inference
    weighs a node with the sum of its c children, so its variance s is 1 / (1 / (h (v + 1 / m)) + 1 / (c s_below)); and
    a level adds s (c - 1) / 6, on average over where in a node the bucket lies, for how c siblings share their parent.
    """
    shape = {"buckets_bits": buckets_bits, "levels_bits": levels_bits}
    levels = 1 << levels_bits
    total, below, children_below = Fraction(0), Fraction(0), 1
    for level in reversed(range(levels)):
        nodes = nodes_bits(shape, level)
        oracle = levels * (min((1 << nodes) - 2 + ratio, 4 * ratio) / (ratio - 1) ** 2 + Fraction(1, 1 << nodes))
        variance = 1 / (1 / oracle + 1 / (children_below * below)) if below else oracle
        children = 1 << (nodes - (nodes_bits(shape, level - 1) if level else 0))
        total += variance * Fraction(children - 1, 6)
        below, children_below = variance, children
    return total


@lru_cache(maxsize=256)  # a file's metrics, and the levels of one, ask for the same again
def _geometry(epsilon: Fraction, nodes: int) -> tuple[int, int]:
    return best_geometry(exp_lower(epsilon), nodes)


@lru_cache(maxsize=256)
def _signal(epsilon: Fraction, order: int, dimension: int, uniform_bits: int) -> tuple[int, int]:
    fixed = {"order": order, "dimension": dimension, "uniform_bits": uniform_bits}

    def ratio(threshold: int, precision: int) -> Fraction:
        return Fraction(*worst_ratio({**fixed, "threshold": threshold, "precision": precision}))

    return largest_signal(epsilon, ratio)


def calibrate(settings: Settings) -> Calibrated:
    """For each level the best geometry, and the most signal that epsilon allows in it."""
    keys = settings.keys
    problems = range_problems({**keys, "perturbation": None})
    buckets_bits = bits_for(keys["buckets"])
    if not problems and keys["buckets"] > keys["high"] - keys["low"] + 1:
        problems.append(KeyProblem("buckets", f"{keys['buckets']} are more than the range has integers", "use fewer"))
    if keys["levels"] is not None and keys["levels"] > buckets_bits:
        what = f"{keys['levels']} levels, but {keys['buckets']} buckets can be halved {buckets_bits} times only"
        problems.append(KeyProblem("levels", what, "leave it out, and the best number is taken"))
    if problems:
        raise CalibrationError(*problems)
    ratio = exp_lower(settings.epsilon)
    levels_bits = bits_for(keys["levels"]) if keys["levels"] else best_levels_bits(ratio, buckets_bits)
    shape = {"buckets_bits": buckets_bits, "levels_bits": levels_bits}
    found = [_geometry(settings.epsilon, 1 << nodes_bits(shape, level)) for level in range(1 << levels_bits)]
    most = max(points_in(*geometry) for geometry in found)
    uniform_bits = bits_for(most) + EXTRA_BITS
    signals = [_signal(settings.epsilon, *geometry, uniform_bits) for geometry in found]
    precision = max(own for _, own in signals)
    parameters = {**range_parameters(keys), **shape, "precision": precision, "uniform_bits": uniform_bits}
    for level, ((order, dimension), (threshold, own)) in enumerate(zip(found, signals, strict=True)):
        parameters[f"order_{level}"] = order
        parameters[f"dimension_{level}"] = dimension
        parameters[f"threshold_{level}"] = threshold << (precision - own)
    return Calibrated(parameters, (Field("level", levels_bits), field_of("point", most)))
