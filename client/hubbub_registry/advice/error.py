"""How exact a mechanism is: the standard error of the estimated frequency of a value that hardly anybody holds.

Each formula is n times the variance at frequency 0, from the integers of a plan; docs/estimators.md derives them. The
simulations have formulas of their own for every frequency, and the tests hold these against those.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from hubbub_client.mechanisms.prefix_extending_method import part_of
from hubbub_registry.lints.sketch import TYPICAL_S
from hubbub_registry.mechanisms import projective_geometry_response, subset_selection

Parameters = Mapping[str, int]


def rare_value_error(mechanism: str, parameters: Parameters, reports: int) -> float | None:
    """The standard error, as a share of all reports; None where a mechanism has no such formula here.

    For hash families with the collision floor of a skewed population (``TYPICAL_S``), averaged over families; for
    Hadamard response where values spread evenly over the blocks.
    """
    formula = _NOISE.get(mechanism)
    if formula is None or (mechanism == "rappor" and (parameters["hashes"] or parameters["irr_precision"])):
        return None
    variance = formula(parameters)
    if "hashes_bits" in parameters:
        variance += (1 - 0.5 ** parameters["hashes_bits"]) / ((1 << parameters["width_bits"]) - 1)
    return math.sqrt(variance / reports + floor_variance(parameters))


def floor_variance(parameters: Parameters) -> float:
    """The variance of a frequency that a fixed family of hash functions leaves, however many devices report."""
    if "families_bits" in parameters:  # items collide, in families of them
        cells = 1 << (parameters["width_bits"] * parameters["dimension"] + parameters["families_bits"])
        return TYPICAL_S * (1 << parameters["width_bits"]) / ((1 << parameters["width_bits"]) - 1) / cells
    if "hashes_bits" not in parameters:
        return 0.0
    return TYPICAL_S / (((1 << parameters["width_bits"]) - 1) << parameters["hashes_bits"])


def _probability(parameters: Parameters, threshold: str = "threshold", precision: str = "precision") -> Fraction:
    return Fraction(parameters[threshold], 1 << parameters[precision])


def _support(p: Fraction, q: Fraction) -> float:
    """A report supports a value with probability p for its holders and q for others (Wang et al. 2017, section 3.2)."""
    return float(q * (1 - q) / (p - q) ** 2)


def _randomized_response(parameters: Parameters) -> float:
    keep = _probability(parameters)
    other = (1 - keep) / parameters["domain"]
    return _support(keep + other, other)


def _unary_encoding(parameters: Parameters) -> float:
    return _support(Fraction(1, 2), _probability(parameters))


def _one_time_rappor(parameters: Parameters) -> float:
    flip = _probability(parameters, "prr_threshold", "prr_precision")
    return _support(1 - flip, flip)


def _hadamard_response(parameters: Parameters) -> float:
    return float(1 / _probability(parameters) ** 2 / (1 << parameters["blocks_bits"]))


def _projective_geometry_response(parameters: Parameters) -> float:
    geometry = parameters["order"], parameters["dimension"]
    return _support(*projective_geometry_response.support_rates(_probability(parameters), *geometry))


def _subset_selection(parameters: Parameters) -> float:
    return _support(*subset_selection.support_rates(_probability(parameters), parameters["size"], parameters["domain"]))


def _local_hashing(parameters: Parameters) -> float:
    return float((1 / _probability(parameters) ** 2 - 1) / ((1 << parameters["width_bits"]) - 1))


def _prefix_extending_method(parameters: Parameters) -> float:
    """Of a string so long that it is counted in the reports of the whole only."""
    keep, slots = _probability(parameters), 1 << parameters["slots_bits"]
    whole = sum(part_of(slot, dict(parameters)) == parameters["levels"] for slot in range(slots))
    other = Fraction(1, 1 << parameters["width_bits"])
    return _support(keep + (1 - keep) * other, other) * slots / whole


def _count_mean_sketch(parameters: Parameters) -> float:
    flip, width = _probability(parameters), 1 << parameters["width_bits"]
    return float(Fraction(width, width - 1) ** 2 * flip * (1 - flip) / (1 - 2 * flip) ** 2)


def _hadamard_count_mean_sketch(parameters: Parameters) -> float:
    width = 1 << parameters["width_bits"]
    return float(Fraction(width, width - 1) ** 2 * (1 / (1 - 2 * _probability(parameters)) ** 2 - Fraction(1, width)))


_NOISE: Mapping[str, Callable[[Parameters], float]] = {
    "randomized-response": _randomized_response,
    "hadamard-response": _hadamard_response,
    "projective-geometry-response": _projective_geometry_response,
    "unary-encoding": _unary_encoding,
    "subset-selection": _subset_selection,
    "rappor": _one_time_rappor,
    "local-hashing": _local_hashing,
    "prefix-extending-method": _prefix_extending_method,
    "sequence-fragment-puzzle": _local_hashing,  # of whole strings, by the same names
    "hadamard-count-mean-sketch": _hadamard_count_mean_sketch,
    "count-mean-sketch": _count_mean_sketch,
}
