"""How far one report of a mechanism can be apart between two values, in total variation: exactly, from its integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from hubbub_client.mechanisms.hierarchical_histogram import at_level
from hubbub_client.mechanisms.projective_geometry_response import points_in
from hubbub_registry.composition.part import largest_variation
from hubbub_registry.metric import Metric


def variation(metric: Metric) -> Fraction:
    """The total variation distance of one report of ``metric``, at most, over all pairs of values.

    The largest that epsilon allows for a mechanism that is not in the table, and for permanent noise.
    """
    largest = largest_variation(metric.ratio)
    if metric.permanent_ratio is not None:
        return largest
    if metric.parts:
        # Each part can be coupled by itself, and the pair differs only where a part does.
        return min(largest, 1 - math.prod((1 - variation(part) for part in metric.parts), start=Fraction(1)))
    own = own_variation(metric.mechanism, metric.device.parameters)
    return largest if own is None else min(largest, own)


def own_variation(mechanism: str, parameters: Mapping[str, int]) -> Fraction | None:
    """That of a mechanism with these integers, all its noise drawn anew; None where none is known here."""
    formula = _OWN.get(mechanism)
    return None if formula is None else formula(parameters)


def _randomized_response(parameters: Mapping[str, int]) -> Fraction:
    """The two distributions share the uniform draw, and differ by the value (or its bucket) that is kept."""
    return _probability(parameters)


def _unary_encoding(parameters: Mapping[str, int]) -> Fraction:
    """Only the two values' own bits differ: (1/2, q) against (q, 1/2)."""
    return Fraction(1, 2) - _probability(parameters)


def _hadamard_response(parameters: Mapping[str, int]) -> Fraction:
    """Two halves of one block share half of their elements; halves of two blocks none."""
    one_block = parameters["domain"] < 1 << parameters["size_bits"]
    return _probability(parameters) / (2 if one_block else 1)


def _projective_geometry_response(parameters: Mapping[str, int]) -> Fraction:
    """Two values own (q**(t-2) - 1) / (q - 1) of the points together, of (q**(t-1) - 1) / (q - 1) each."""
    order, dimension = parameters["order"], parameters["dimension"]
    common = Fraction(points_in(order, dimension - 2), points_in(order, dimension - 1))
    return _probability(parameters) * (1 - common)


def _sequence_fragment_puzzle(parameters: Mapping[str, int]) -> Fraction:
    """Over the pairs of buckets: both the one value's, one each, or one of them neither's, where the other decides."""
    p, q = _bucket_rates(parameters, "")
    r, s = _bucket_rates(parameters, "fragment_")
    return (p * r - q * s) + abs(p * s - q * r) + (p - q) * (1 - r - s) + (1 - p - q) * (r - s)


def _bucket_rates(parameters: Mapping[str, int], prefix: str) -> tuple[Fraction, Fraction]:
    """How often a report of local hashing is in the bucket of its value, and in any other."""
    keep = Fraction(parameters[prefix + "threshold"], 1 << parameters[prefix + "precision"])
    other = (1 - keep) / (1 << parameters[prefix + "width_bits"])
    return keep + other, other


def _hierarchical_histogram(parameters: Mapping[str, int]) -> Fraction:
    """The mean over levels, which are drawn evenly; two values that differ on the first level differ on all."""
    levels = [at_level(dict(parameters), level) for level in range(1 << parameters["levels_bits"])]
    return sum(map(_projective_geometry_response, levels), Fraction()) / len(levels)


def _subset_selection(parameters: Mapping[str, int]) -> Fraction:
    """A set with one value's bit and without the other's is likelier for the one: by a d - w over all of d - 1."""
    return (_probability(parameters) * parameters["domain"] - parameters["size"]) / (parameters["domain"] - 1)


def _count_mean_sketch(parameters: Mapping[str, int]) -> Fraction:
    """Two bits differ: both as the one value has them, (1 - r)^2, against both flipped, r^2."""
    return 1 - 2 * _probability(parameters)


def _hadamard_count_mean_sketch(parameters: Mapping[str, int]) -> Fraction:
    """One bit, (1 - r) against r, in the half of the Hadamard rows in which two buckets differ."""
    return (1 - 2 * _probability(parameters)) / 2


def _one_time_rappor(parameters: Mapping[str, int]) -> Fraction:
    """At most 2 h bits differ, and the likelihood depends on how many of them are flipped: j against 2 h - j."""
    flip = Fraction(parameters["prr_threshold"], 1 << parameters["prr_precision"])
    half = parameters["hashes"] or 1
    return sum(
        (
            math.comb(2 * half, j) * (flip**j * (1 - flip) ** (2 * half - j) - flip ** (2 * half - j) * (1 - flip) ** j)
            for j in range(half)
        ),
        Fraction(),
    )


def _probability(parameters: Mapping[str, int]) -> Fraction:
    return Fraction(parameters["threshold"], 1 << parameters["precision"])


_OWN: Mapping[str, Callable[[Mapping[str, int]], Fraction]] = {
    "randomized-response": _randomized_response,
    "unary-encoding": _unary_encoding,
    "hadamard-response": _hadamard_response,
    "projective-geometry-response": _projective_geometry_response,
    "local-hashing": _randomized_response,
    "subset-selection": _subset_selection,
    "count-mean-sketch": _count_mean_sketch,
    "hadamard-count-mean-sketch": _hadamard_count_mean_sketch,
    "sequence-fragment-puzzle": _sequence_fragment_puzzle,
    "rappor": _one_time_rappor,
    "hierarchical-histogram": _hierarchical_histogram,
    "prefix-extending-method": _randomized_response,
}
