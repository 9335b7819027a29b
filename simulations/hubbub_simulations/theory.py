"""What the error of each mechanism's estimate must be: n times the mean squared error of a frequency, in closed form.

The figures are exact: they come from the integers of the plan, and hold at every frequency. The mean is over the
device's noise, with the population fixed, and for the sketches over the family of hash functions too. That last part
is the collision floor: averaged over families it is variance, and for one metric's own family it is an error that no
number of reports removes.

``frequencies (d,)`` always holds the whole population, so it sums to 1; values that nobody holds have frequency 0.
RAPPOR over a Bloom filter, whose estimator is a regression, is in ``bloom_theory``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from hubbub_client.mechanisms.prefix_extending_method import part_of
from hubbub_decoder.discovery.pooled import first_counted
from hubbub_registry import Metric
from hubbub_registry.mechanisms import projective_geometry_response, subset_selection
from hubbub_simulations.bits import Floats
from hubbub_simulations.bloom_theory import regression_scaled_mse
from hubbub_simulations.tree_theory import bucket_scaled_mse


def scaled_mse(metric: Metric, values: Sequence[str], frequencies: Floats, reports: int) -> Floats:
    """n x MSE ``(d,)`` of the frequency estimates of ``values``, from ``reports`` reports.

    Of a closed domain, ``values`` are all of it, in its order; of a range of integers they are its buckets. The one-bit
    mean has one figure, of shape (1,): n x MSE of the mean, with the range taken as 1; ``values`` are then integers.
    """
    if metric.mechanism == "one-bit-mean":
        return _one_bit_mean(metric, values, frequencies)
    if metric.mechanism == "rappor":
        held, not_held = _rappor(metric)
        if metric.closed:
            return _support(held, not_held, frequencies)
        return regression_scaled_mse(metric, values, frequencies, held, not_held)
    if metric.mechanism == "prefix-extending-method":
        return _prefix_extending_method(metric, values, frequencies, reports)
    return _FORMULAS[metric.mechanism](metric, frequencies, reports)


def _share(metric: Metric, threshold: str, precision: str) -> float:
    """A probability of the plan, ``threshold / 2**precision``."""
    p = metric.device.parameters
    return float(p[threshold] / (1 << p[precision]))


def _support(p: float, q: float, frequencies: Floats) -> Floats:
    """A mechanism that counts support: p is a holder's probability of supporting a value, q everyone else's.

    Source: Wang, Blocki, Li, Jha, USENIX Security 2017, section 3.2, equation 3, at every f.
    """
    f = frequencies
    return np.asarray((f * p * (1 - p) + (1 - f) * q * (1 - q)) / (p - q) ** 2)


def _randomized_response(metric: Metric, frequencies: Floats, _reports: int) -> Floats:
    """Kairouz, Oh, Viswanath 2014: the truth with probability a, else uniform; (d - 2 + E) / (E - 1)**2 at f = 0."""
    a = _share(metric, "threshold", "precision")
    q = (1 - a) / metric.device.parameters["domain"]
    return _support(a + q, q, frequencies)


def _unary_encoding(metric: Metric, frequencies: Floats, _reports: int) -> Floats:
    """Wang et al. 2017, section 4.3: p = 1/2; 4 E / (E - 1)**2 at f = 0."""
    return _support(0.5, _share(metric, "threshold", "precision"), frequencies)


def _rappor(metric: Metric) -> tuple[float, float]:
    """p* and q*: how often a report shows 1 where the one-hot vector holds 1 and 0 (Erlingsson et al. 2014, section 3).

    For fresh devices: a permanent response that is the same in two reports does not average out between them.
    """
    flip = _share(metric, "prr_threshold", "prr_precision")
    if not metric.device.parameters["irr_precision"]:
        return 1 - flip, flip
    q, p = _share(metric, "irr_q", "irr_precision"), _share(metric, "irr_p", "irr_precision")
    return (1 - flip) * q + flip * p, flip * q + (1 - flip) * p


def _hadamard_response(metric: Metric, frequencies: Floats, _reports: int) -> Floats:
    """The mean of (in the value's block) x (+1 on its half, -1 off it) / a, where a is the share of owned outputs.

    Its square is 1/a**2 wherever the report lies in the block: with probability a F + (1 - a) / B, with F the
    frequency of all the block's values together and B the number of blocks. Its mean is 1 for a holder and 0 for anyone
    else, and with the holders fixed the squares of those means add up to f. Own derivation for the estimator of
    Acharya, Sun, Zhang 2019, section 4; ((E + 1) / (E - 1))**2 at f = 0 with one block.
    """
    p = metric.device.parameters
    a = _share(metric, "threshold", "precision")
    block = np.arange(p["domain"]) // ((1 << p["size_bits"]) - 1)
    in_block = np.bincount(block, weights=frequencies)[block]
    return np.asarray((a * in_block + (1 - a) / (1 << p["blocks_bits"])) / a**2 - frequencies)


def _projective_geometry_response(metric: Metric, frequencies: Floats, _reports: int) -> Floats:
    """Feldman, Nelson, Nguyen, Talwar 2022, section 3: close to the optimum 4 E / (E - 1)**2 at f = 0."""
    p = metric.device.parameters
    share = Fraction(p["threshold"], 1 << p["precision"])
    rates = projective_geometry_response.support_rates(share, p["order"], p["dimension"])
    return _support(float(rates[0]), float(rates[1]), frequencies)


def _subset_selection(metric: Metric, frequencies: Floats, _reports: int) -> Floats:
    """Ye, Barg 2018: the optimum, 4 E / (E - 1)**2 at f = 0 but for terms of order 1 / d."""
    p = metric.device.parameters
    rates = subset_selection.support_rates(Fraction(p["threshold"], 1 << p["precision"]), p["size"], p["domain"])
    return _support(float(rates[0]), float(rates[1]), frequencies)


def _local_hashing(metric: Metric, frequencies: Floats, reports: int) -> Floats:
    """(E-1+g)**2 / ((g-1)(E-1)**2) at f = 0 with endless hash functions; with k of them the collision floor on top.

    Over families a non-holder's report supports a value with probability 1/g, and has the variance
    (1/g)(1 - 1/g)(1 - a**2/k) given the family. Source: Wang et al. 2017, section 4.4; with a fixed family, ours.
    """
    g = 1 << metric.device.parameters["width_bits"]
    a = _share(metric, "threshold", "precision")
    p = a + (1 - a) / g
    noise = (1 - frequencies) * (1 / a**2 - 1) / (g - 1) + frequencies * (g / (g - 1) / a) ** 2 * p * (1 - p)
    return np.asarray(noise + _floor(metric, frequencies, reports))


def _prefix_extending_method(metric: Metric, values: Sequence[str], frequencies: Floats, reports: int) -> Floats:
    """(1/s)(noise of local hashing) + (1/s - 1) f (1 - f) + n S g/((g-1) D k): a share s of the reports count a value.

    Of linear hash functions each puts any two of D items together with probability 1/g exactly, so that only values
    with one item collide, in 1/D of the k families of hash functions that the counting parts have together. Which
    reports these are is drawn, hence the second term. Source: own, from Wang et al. 2017, section 4.4.
    """
    p = metric.device.parameters
    g, slots = 1 << p["width_bits"], 1 << p["slots_bits"]
    sizes = np.bincount([part_of(slot, p) for slot in range(slots)]) / slots
    first = [first_counted(len(value.encode()), p) for value in values]
    share = np.array([sizes[number:].sum() for number in first])
    keep = _share(metric, "threshold", "precision")
    noise = _support(keep + (1 - keep) / g, 1 / g, frequencies)
    others = np.sum(frequencies**2) - frequencies**2
    # The parts' own families, weighted by their reports.
    one_in = np.array([(sizes[number:] ** 2).sum() for number in first]) / share**2
    floor = reports * others * g / (g - 1) * one_in / (1 << (p["width_bits"] * p["dimension"] + p["families_bits"]))
    return np.asarray(noise / share + (1 / share - 1) * frequencies * (1 - frequencies) + floor)


def _count_mean_sketch(metric: Metric, frequencies: Floats, reports: int) -> Floats:
    """(m/(m-1))**2 sqrt(E) / (sqrt(E)-1)**2 and the collision floor.

    Source: the variance of a flipped bit, debiased (Apple 2017, section "Count Mean Sketch"); the floor, ours.
    """
    m = 1 << metric.device.parameters["width_bits"]
    flip = _share(metric, "threshold", "precision")
    return np.asarray(
        (m / (m - 1)) ** 2 * flip * (1 - flip) / (1 - 2 * flip) ** 2 + _floor(metric, frequencies, reports)
    )


def _hadamard_count_mean_sketch(metric: Metric, frequencies: Floats, reports: int) -> Floats:
    """(m/(m-1))**2 (c**2 - f - (1-f)/m), with c = (E+1)/(E-1), and the collision floor.

    Source: the second moment c**2 of a debiased entry less the mean's share (Apple 2017, algorithm 4); the floor, ours.
    """
    m = 1 << metric.device.parameters["width_bits"]
    c = 1 / (1 - 2 * _share(metric, "threshold", "precision"))
    spread = c**2 - frequencies - (1 - frequencies) / m
    return np.asarray((m / (m - 1)) ** 2 * spread + _floor(metric, frequencies, reports))


def _shown(metric: Metric) -> tuple[float, float]:
    """P(a report shows 1) for a bit that is 1 and for one that is 0, after the permanent flip and the perturbation."""
    flip, change = _share(metric, "threshold", "precision"), _share(metric, "perturbation", "perturbation_bits")
    p = (1 - flip) * (1 - change) + flip * change
    return p, 1 - p


def _d_bit_flip(metric: Metric, frequencies: Floats, _reports: int) -> Floats:
    """(k/d) pq/(p-q)**2 + f (k/d - 1); at f = 0 and d > 1, (k/d) sqrt(E)/(sqrt(E)-1)**2 without perturbation.

    Source: Ding, Kulkarni, Yekhanin 2017, theorem 6 bounds it; the exact form is ours: a report that speaks of d of k
    buckets at random adds (k/d) (bit - q)/(p - q) to each.
    """
    parameters = metric.device.parameters
    p, q = _shown(metric)
    thinning = parameters["buckets"] / parameters["bits"]
    return np.asarray(thinning * p * q / (p - q) ** 2 + frequencies * (thinning - 1))


def _hierarchical_histogram(metric: Metric, frequencies: Floats, _reports: int) -> Floats:
    """``tree_theory``: no closed form, but every output gone through."""
    return bucket_scaled_mse(metric, frequencies)


def _one_bit_mean(metric: Metric, values: Sequence[str], frequencies: Floats) -> Floats:
    """The devices' mean of s(1-s)/(p-q)**2, where s = q + y (p-q) is the chance of a 1 at the share y of the range.

    A report is one bit, so its variance is s(1-s) whatever made it: both roundings, the flips. Source: own, from the
    estimator of Ding, Kulkarni, Yekhanin 2017, section 2.
    """
    parameters = metric.device.parameters
    p, q = _shown(metric)
    low = parameters["low"] - parameters["below_zero"]
    y = (np.array([int(value) for value in values], np.float64) - low) / parameters["span"]
    s = q + y * (p - q)
    return np.array([frequencies @ (s * (1 - s)) / (p - q) ** 2])


def _floor(metric: Metric, frequencies: Floats, reports: int) -> Floats:
    """(1-f)(1-1/k)/(m-1) + n S/((m-1)k), where S is the sum of the other values' squared frequencies.

    Two devices with one other value collide with a third together wherever they drew the same of the k hash functions,
    which is why the second term grows with n.
    """
    p = metric.device.parameters
    m, k = 1 << p["width_bits"], 1 << p["hashes_bits"]
    others = np.sum(frequencies**2) - frequencies**2
    return np.asarray((1 - frequencies) * (1 - 1 / k) / (m - 1) + reports * others / ((m - 1) * k))


_FORMULAS: dict[str, Callable[[Metric, Floats, int], Floats]] = {
    "randomized-response": _randomized_response,
    "unary-encoding": _unary_encoding,
    "hadamard-response": _hadamard_response,
    "projective-geometry-response": _projective_geometry_response,
    "local-hashing": _local_hashing,
    "subset-selection": _subset_selection,
    "count-mean-sketch": _count_mean_sketch,
    "hadamard-count-mean-sketch": _hadamard_count_mean_sketch,
    "d-bit-flip": _d_bit_flip,
    "hierarchical-histogram": _hierarchical_histogram,
    "sequence-fragment-puzzle": _local_hashing,
}
