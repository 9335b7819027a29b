"""Means and variances of the estimators, exactly: over every output of every mechanism, in rational numbers.

All estimators but RAPPOR's regression are sums over reports, so the estimate from a single record is that record's
share in any estimate, and its mean and variance over the exact output distribution settle unbiasedness and error.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from hubbub_decoder import Estimates, State, estimate, partial
from hubbub_decoder.mechanisms import NAMES, count_mean_sketch, hadamard_count_mean_sketch, local_hashing
from hubbub_registry import Metric

from tests.decoder.reports import SMALL, as_records, outputs, place, range_bucket
from tests.registries import metric_of

VALUES = ["a", "b", "c", "d", "e"]
# Of these one report is no share of an estimate: test_mean.py, numbers/test_distribution.py,
# discovery/test_prefix_estimates.py.
COUNTED = [name for name in NAMES if name not in ("one-bit-mean", "hierarchical-histogram", "prefix-extending-method")]
SKETCHES = ["local-hashing", "count-mean-sketch", "hadamard-count-mean-sketch"]


def small(folder: Path, mechanism: str, **keys: object) -> Metric:
    return metric_of(folder, mechanism, **{**SMALL[mechanism], **keys})


def values_of(metric: Metric) -> list[str]:
    return list(metric.candidates) if metric.numeric else VALUES


def one_record(metric: Metric, record: bytes) -> dict[str, float]:
    estimates = estimate(metric, partial(metric, as_records([record])), values_of(metric))
    return dict(zip(estimates.value, estimates.count, strict=True))


def moments(metric: Metric, holder: str) -> tuple[dict[str, float], dict[str, float]]:
    """Mean and variance of one report's share in each value's estimate, where the device holds ``holder``."""
    total = Fraction(0)
    mean, square = dict.fromkeys(values_of(metric), 0.0), dict.fromkeys(values_of(metric), 0.0)
    for record, chance in outputs(metric, holder):
        total += chance
        for value, share in one_record(metric, record).items():
            mean[value] += float(chance) * share
            square[value] += float(chance) * share**2
    assert total == 1
    return mean, {value: square[value] - mean[value] ** 2 for value in mean}


@pytest.mark.parametrize(
    "keys",
    [
        {"bits": 1, "perturbation": None}, {"bits": 5}, {"buckets": 3, "bits": 3, "high": 10},
        {"buckets": 4, "bits": 3, "low": -7, "high": 30, "perturbation": 0.2, "epsilon": 0.5},
    ],
)  # fmt: skip
def test_d_bit_flip_is_exact_at_every_shape(tmp_path: Path, keys: dict[str, object]) -> None:
    """One bit or all of them, buckets of unequal width: a report's mean is its bucket, and its variance as stated."""
    metric = small(tmp_path, "d-bit-flip", **keys)
    low, high = int(metric.candidates[0].split("..")[0]), int(metric.candidates[-1].split("..")[-1])
    stated = estimate(metric, partial(metric, as_records([next(outputs(metric, str(low)))[0]])))
    for holder in {low, (low + high) // 2, high}:
        mean, variance = moments(metric, str(holder))
        for value, null, slope in zip(stated.value, stated.null_variance, stated.slope, strict=True):
            held = value == metric.candidates[range_bucket(metric, str(holder))]
            assert mean[value] == pytest.approx(float(held), abs=1e-9)
            assert variance[value] == pytest.approx(null + slope * held, rel=1e-9)


def collisions(metric: Metric, a: str, b: str) -> Fraction:
    hashes = 1 << metric.device.parameters["hashes_bits"]
    return Fraction(sum(place(metric, a, j) == place(metric, b, j) for j in range(hashes)), hashes)


@pytest.mark.parametrize("mechanism", COUNTED)
@pytest.mark.parametrize("epsilon", ["0.7", "3"])
def test_mean_is_the_truth(tmp_path: Path, mechanism: str, epsilon: str) -> None:
    """A report expects to add 1 to its holder's value and 0 to the others (for a sketch: its true collisions)."""
    keys = {} if mechanism == "rappor" else {"epsilon": float(epsilon)}
    metric = small(tmp_path, mechanism, **keys)
    for holder in values_of(metric):
        mean, _ = moments(metric, holder)
        for value in values_of(metric):
            truth = Fraction(value == holder)
            if mechanism in (*SKETCHES, "sequence-fragment-puzzle"):
                width = 1 << metric.device.parameters["width_bits"]
                truth = Fraction(width, width - 1) * (collisions(metric, holder, value) - Fraction(1, width))
            assert mean[value] == pytest.approx(float(truth), abs=1e-9)


@pytest.mark.parametrize(
    "mechanism", ["randomized-response", "unary-encoding", "subset-selection", "rappor", "d-bit-flip"]
)
def test_variance_of_support_is_exact(tmp_path: Path, mechanism: str) -> None:
    """The stated variance is that of one report, for a holder and for a non-holder, to the last digit."""
    metric = small(tmp_path, mechanism)
    stated = estimate(metric, partial(metric, as_records([next(outputs(metric, values_of(metric)[0]))[0]])))
    for holder in values_of(metric):
        _, variance = moments(metric, holder)
        for value, null, slope in zip(stated.value, stated.null_variance, stated.slope, strict=True):
            assert variance[value] == pytest.approx(null + slope * (value == holder), rel=1e-9)


@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_variance_of_hadamard_response_is_exact(tmp_path: Path, blocks: int) -> None:
    """With the counts that a fixed population expects, the stated variance is the sum of its reports' variances."""
    metric = small(tmp_path, "hadamard-response", blocks=blocks)
    holders = {"a": 5, "b": 3, "c": 0, "d": 1, "e": 1}
    parameters = metric.device.parameters
    unit = 1 << (parameters["precision"] + parameters["blocks_bits"] + parameters["size_bits"])
    counts = np.zeros((1 << parameters["blocks_bits"], 1 << parameters["size_bits"]), np.int64)
    exact = dict.fromkeys(VALUES, 0.0)
    for holder, times in holders.items():
        for index, (_, chance) in enumerate(outputs(metric, holder)):
            expected = chance * times * unit
            assert expected.denominator == 1
            counts[divmod(index, counts.shape[1])] += int(expected)
        _, variance = moments(metric, holder)
        for value in VALUES:
            exact[value] += times * unit * variance[value]
    stated = estimate(metric, State.of(metric, 10 * unit, counts=counts))
    for value, count, error in zip(stated.value, stated.count, stated.std_error, strict=True):
        assert count == pytest.approx(holders[value] * unit, abs=1e-6 * unit)
        assert error**2 == pytest.approx(exact[value], rel=1e-9)


@pytest.mark.parametrize("mechanism", SKETCHES)
def test_variance_of_a_sketch_report_is_exact(tmp_path: Path, mechanism: str) -> None:
    """One report's variance is the mechanism's noise and, over hash functions, exactly that of its collisions."""
    metric = small(tmp_path, mechanism)
    width = 1 << metric.device.parameters["width_bits"]
    scale = width / (width - 1)
    for holder in VALUES:
        _, variance = moments(metric, holder)
        for value in VALUES:
            shared = float(collisions(metric, holder, value))
            flip = metric.device.parameters["threshold"] / (1 << metric.device.parameters["precision"])
            spread = flip * (1 - flip) / (1 - 2 * flip) ** 2 + shared * (1 - shared)
            if mechanism == "hadamard-count-mean-sketch":
                spread = 1 / (1 - 2 * flip) ** 2 - shared**2
            elif mechanism == "local-hashing":
                keep = flip  # the same parameter, of another meaning
                rate = (1 - keep) / width + keep * shared
                spread = rate * (1 - rate) / keep**2
            assert variance[value] == pytest.approx(scale**2 * spread, rel=1e-9)


@pytest.mark.parametrize("mechanism", SKETCHES)
def test_chance_of_a_shared_bucket_is_estimated_without_bias(tmp_path: Path, mechanism: str) -> None:
    """Over all pairs of outputs of two devices, the estimate of "same bucket" expects 1 where it is true, else 0."""
    metric = small(tmp_path, mechanism, hashes=1)
    flip = metric.device.parameters["threshold"] / (1 << metric.device.parameters["precision"])
    seen = set()
    for second in VALUES:
        mean = 0.0
        for first_record, first_chance in outputs(metric, "a"):
            for record, chance in outputs(metric, second):
                state = partial(metric, as_records([first_record, record]))
                if mechanism == "count-mean-sketch":
                    shared = count_mean_sketch._same_bucket(state, flip)
                elif mechanism == "local-hashing":
                    shared = local_hashing._same_bucket(state, flip, (1 - flip) / 4)
                else:
                    shared = hadamard_count_mean_sketch._same_bucket(state, 1 / (1 - 2 * flip))
                mean += float(first_chance * chance) * shared
        same = int(place(metric, "a", 0) == place(metric, second, 0))
        seen.add(same)
        assert mean == pytest.approx(same, abs=1e-9)
    assert seen == {0, 1}  # else half of the claim went untested


@pytest.mark.parametrize("mechanism", SKETCHES)
def test_collision_floor_is_in_the_standard_error(tmp_path: Path, mechanism: str) -> None:
    """With n devices on one other value the variance holds n**2/((m - 1) k), however large n is."""
    metric = small(tmp_path, mechanism)
    parameters = metric.device.parameters
    width, hashes = 1 << parameters["width_bits"], 1 << parameters["hashes_bits"]
    if mechanism == "count-mean-sketch":
        flip = Fraction(parameters["threshold"], 1 << parameters["precision"])
        n = 1 << (parameters["precision"] + 20)
        sums = np.full((hashes, width), int(n // hashes * flip), np.int64)
        for j in range(hashes):
            sums[j, place(metric, "a", j)] = int(n // hashes * (1 - flip))
        state = State.of(metric, n, sums=sums, reports=np.full(hashes, n // hashes))
    elif mechanism == "local-hashing":
        n = 1 << (parameters["precision"] + 20)
        kept = Fraction(parameters["threshold"], 1 << parameters["precision"])
        counts = np.full((hashes, width), int(n // hashes * (1 - kept) / width), np.int64)
        for j in range(hashes):
            counts[j, place(metric, "a", j)] += int(n // hashes * kept)
        state = State.of(metric, n, counts=counts)
    else:
        n = 1 << (parameters["precision"] + 20)
        keep = (1 << parameters["precision"]) - 2 * parameters["threshold"]
        cell = np.array([
            [1 - 2 * ((row & place(metric, "a", j)).bit_count() % 2) for j in range(hashes)] for row in range(width)
        ])  # fmt: skip
        state = State.of(metric, n, signed=cell * keep * (n >> parameters["precision"]) // (width * hashes))
    stated: Estimates = estimate(metric, state, ["b"])
    floor = n * n / ((width - 1) * hashes)
    assert stated.null_variance[0] == pytest.approx(floor, rel=1e-3)
    # The value itself has no others to collide with: only what averages out is left.
    own = estimate(metric, state, ["a"])
    assert own.null_variance[0] < floor / 1000
