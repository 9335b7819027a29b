"""Encode and decode, many times: the error is what theory says, the mean is the truth, and intervals cover.

False alarms. Seeds are fixed, so a run is repeatable; over seeds, a sound decoder fails one of these tests with
probability below 1e-6. n x MSE: the tolerance of 5 % is more than five Monte Carlo standard errors (which is asserted;
5.7e-7 for a normal mean of 600 runs). Mean error: 6 standard errors at 65 means is 1.3e-7. Coverage: 2 points are at
least eight standard errors of the mean over 600 runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from hubbub_decoder.estimates import Estimates
from hubbub_registry import Metric
from hubbub_simulations.accuracy import RATIO_TOLERANCE, Outcome, Study, decode, run_study, zipf
from hubbub_simulations.bits import Bytes
from hubbub_simulations.studies import studies

RUNS, MORE_RUNS, REPORTS, SEED, MEAN_ERROR_LIMIT = 600, 800, 3000, 20261130, 6.0
STUDIES = {study.name: study for study in studies(REPORTS)}


@pytest.mark.parametrize("name", STUDIES)
def test_the_error_is_what_theory_says(name: str) -> None:
    """n x MSE is its formula within 5 %, no mean error is far from zero, and nominal 95 % intervals cover 93-97 %."""
    # Fewer values: more runs for the same Monte Carlo error.
    runs = RUNS if len(STUDIES[name].holders) == 64 else MORE_RUNS
    outcome = run_study(STUDIES[name], runs, SEED)
    assert 5 * outcome.ratio_error < RATIO_TOLERANCE, "too few runs to decide"
    assert outcome.shortcomings(MEAN_ERROR_LIMIT) == [], outcome.to_dict()


def _debiased_with_half_epsilon(metric: Metric, records: Bytes, candidates: Sequence[str]) -> Estimates:
    """A server that takes e^(epsilon/2) for the odds of a flip whose odds are e^epsilon."""
    p = metric.device.parameters
    odds = ((1 << p["precision"]) - p["threshold"]) / p["threshold"]
    right = p["threshold"]
    p["threshold"] = round((1 << p["precision"]) / (1 + odds**0.5))
    try:
        return decode(metric, records, candidates)
    finally:
        p["threshold"] = right


def _without_the_floor(metric: Metric, records: Bytes, candidates: Sequence[str]) -> Estimates:
    """Errors that leave out what a fixed set of hash functions does."""
    estimates = decode(metric, records, candidates)
    p = metric.device.parameters
    width, hashes = 1 << p["width_bits"], 1 << p["hashes_bits"]
    squares = np.sum(estimates.frequency**2) - estimates.frequency**2
    floor = estimates.n**2 * squares / ((width - 1) * hashes)
    return replace(estimates, null_variance=estimates.null_variance - floor)


def _last_bit_is_not_randomised(metric: Metric, records: Bytes, candidates: Sequence[str]) -> Estimates:
    """A client that sends the last bit as it is; here nobody holds its value."""
    assert metric.values[-1] == candidates[-1]
    last = len(candidates) - 1
    records[:, last // 8] &= np.uint8(0xFF ^ (1 << (last % 8)))
    return decode(metric, records, candidates)


def test_debiasing_with_half_epsilon_is_caught() -> None:
    """A sketch that flips with epsilon and debiases with epsilon/2 misses its formula and its mean (fault 3)."""
    study = STUDIES["Hadamard count mean sketch"]
    outcome = run_study(study, 200, SEED, _debiased_with_half_epsilon)
    assert {"n x MSE", "mean error"} <= set(outcome.shortcomings(MEAN_ERROR_LIMIT))


def test_an_error_without_the_collision_floor_is_caught() -> None:
    """Intervals that leave the floor out cover too little, though the estimates are the same and right."""
    outcome = run_study(STUDIES["count mean sketch"], 200, SEED, _without_the_floor)
    assert outcome.shortcomings(MEAN_ERROR_LIMIT) == ["coverage"]


def test_one_bit_that_is_not_randomised_is_caught() -> None:
    """One wrong bit of 64 shows in the mean error of its value (fault 6)."""
    outcome = run_study(STUDIES["optimized unary encoding"], 200, SEED, _last_bit_is_not_randomised)
    assert "mean error" in outcome.shortcomings(MEAN_ERROR_LIMIT)


def test_a_study_is_the_same_for_the_same_seed() -> None:
    """A figure in the documentation can be had again."""
    study = STUDIES["count mean sketch"]
    once, again, other = (run_study(study, 3, seed) for seed in (1, 1, 2))
    assert np.array_equal(once.errors, again.errors)
    assert not np.array_equal(once.errors, other.errors)


def test_every_run_of_a_sketch_has_hash_functions_of_its_own() -> None:
    """The formula is a mean over families of hash functions, so a study must not keep to one."""
    salts: list[int] = []

    def spy(metric: Metric, records: Bytes, candidates: Sequence[str]) -> Estimates:
        salts.append(metric.device.parameters["salt"])
        return decode(metric, records, candidates)

    run_study(STUDIES["count mean sketch"], 5, SEED, spy)
    assert len(set(salts)) == 5


def test_a_population_adds_up() -> None:
    """Rounding loses nobody, and values that nobody holds stay so."""
    holders = zipf(48, 16, 20_001)
    assert holders.sum() == 20_001
    assert list(holders) == sorted(holders, reverse=True)
    assert not holders[48:].any()
    assert holders[47] > 0


@pytest.mark.parametrize("mechanism", ["unary-encoding", "rappor"])
def test_the_figures_are_of_the_right_things(mechanism: str) -> None:
    """On errors made by hand, of any mechanism: n x MSE, the ratio, the coverage, and the worst value's mean error."""
    study = Study("by hand", mechanism, np.array([50, 50]), {"epsilon": 1})
    errors = np.array([[0.1, -0.1], [0.3, 0.1], [0.1, -0.1], [0.3, 0.1]])
    covered = np.array([[True, True], [True, False], [True, True], [True, True]])
    outcome = Outcome(study, errors, covered, np.full((4, 2), 3.0))
    assert outcome.scaled_mse == pytest.approx(100 * (2 * (0.01 + 0.01) + 2 * (0.09 + 0.01)) / 8)
    assert outcome.ratio == pytest.approx(1.0)
    assert outcome.coverage == 0.875
    deviation = np.std([0.1, 0.3, 0.1, 0.3], ddof=1) / 2
    assert outcome.worst_z == pytest.approx(0.2 / deviation)
    assert outcome.shortcomings() == ["coverage"]
