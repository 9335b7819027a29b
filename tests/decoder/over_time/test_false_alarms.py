"""Tests for change name one where there is none as often as they say, or less often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from hubbub_decoder import Change, Estimates, compare, estimate, partial
from hubbub_decoder.over_time.any_change import any_change
from hubbub_decoder.over_time.no_change import Law, from_laws
from hubbub_decoder.over_time.weighted_binomials import Trials, WeightedBinomials
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode

FloatArray = npt.NDArray[np.float64]
ALPHAS = (0.05, 0.01, 0.001)


def support_law(n: int, holders: float, p: float, q: float, *, sampled: bool) -> FloatArray:
    """The distribution of how many of n reports support a value."""
    if sampled:
        return np.asarray(stats.binom.pmf(np.arange(n + 1), n, q + holders / n * (p - q)))
    own = round(holders)
    return np.convolve(stats.binom.pmf(np.arange(own + 1), own, p), stats.binom.pmf(np.arange(n - own + 1), n - own, q))


def false_alarms(
    n: tuple[int, int], share: float, p: float, q: float, *, sampled: bool, steps: bool = True
) -> list[float]:
    """The exact chance that a test at each of ALPHAS sees a change, over alpha; all outcomes are gone through."""
    laws = [support_law(each, each * share, p, q, sampled=sampled) for each in n]
    likely = [np.flatnonzero(law > 1e-13) for law in laws]
    supports = [each.ravel().astype(float) for each in np.meshgrid(*likely, indexing="ij")]
    chance = np.outer(laws[0][likely[0]], laws[1][likely[1]]).ravel()
    found = [(support / each - q) / (p - q) for support, each in zip(supports, n, strict=True)]
    common = np.clip((n[0] * found[0] + n[1] * found[1]) / sum(n), 0, 1)
    groups = []
    for each, sign in zip(n, (-1.0, 1.0), strict=True):
        weight = sign / each / (p - q)
        if sampled:
            groups.append(Trials(np.full_like(common, each), q + common * (p - q), weight))
        else:
            groups.append(Trials(each * common, np.full_like(common, p), weight))
            groups.append(Trials(each * (1 - common), np.full_like(common, q), weight))
    step = max(abs(group.weight) for group in groups) if steps else 0.0
    p_value = WeightedBinomials(groups, step).two_sided(found[1] - found[0])
    return [float(chance[p_value <= alpha].sum()) / alpha for alpha in ALPHAS]


RATES = [(0.5, 0.378), (0.5, 0.119), (0.5, 0.0067), (0.97, 0.005)]


@pytest.mark.parametrize("sampled", [False, True])
@pytest.mark.parametrize("n", [(200, 200), (200, 350), (100, 1000)])
def test_false_alarms_are_exactly_bounded(n: tuple[int, int], sampled: bool) -> None:
    """At every share, from rates of a small to a large epsilon, a false alarm is at most 5 % more likely than alpha."""
    for p, q in RATES:
        for share in (0, 0.01, 0.1, 0.5, 1):
            assert max(false_alarms(n, share, p, q, sampled=sampled)) <= 1.05


def test_false_alarms_are_not_too_rare() -> None:
    """With some hundred reports a test at 0.05 sees a change in 4 to 5.25 % of all cases: it wastes little."""
    for share in (0, 0.1, 0.5):
        assert 0.8 <= false_alarms((300, 300), share, 0.5, 0.378, sampled=False)[0] <= 1.05


def test_without_regard_to_steps_there_are_too_many() -> None:
    """The same tail without its half step exceeds the bound that the tests above hold to."""
    worst = [max(false_alarms((200, 200), share, 0.97, 0.005, sampled=False, steps=False)) for share in (0, 0.5, 1)]
    assert max(worst) > 1.2


VALUES = [f"v{i}" for i in range(32)]
CASES: dict[str, dict[str, Any]] = {
    "randomized-response": {"epsilon": 3, "values": VALUES},
    "unary-encoding": {"epsilon": 6, "values": VALUES},
    "hadamard-response": {"epsilon": 1, "values": VALUES},
    "d-bit-flip": {"epsilon": 3, "low": 0, "high": 31, "buckets": 32, "bits": 4},
    "hierarchical-histogram": {"epsilon": 4, "low": 0, "high": 31, "buckets": 32},
    "hadamard-count-mean-sketch": {"epsilon": 2, "hashes": 256, "width": 64},
    "count-mean-sketch": {"epsilon": 2, "hashes": 256, "width": 64},
    "rappor": {"epsilon": 3, "bits": 32, "hashes": 2, "cohorts": 8, "f": 0.25, "p": 0.35, "q": 0.65},
}
TIMES = 12
REPORTS = (2000, 3000)


def weeks(mechanism: str, seed: int) -> tuple[list[Estimates], FloatArray]:
    """Two periods of one population, 24 values of falling shares and 8 that nobody holds; and the true differences,
    which are those of rounding to whole devices: 1 in 3000 at most, a twentieth of a standard error."""
    metric = define(mechanism, **CASES[mechanism])
    names = [str(i) for i in range(32)] if metric.numeric else VALUES
    shares = np.r_[1 / np.arange(1, 25), np.zeros(8)]
    rng = np.random.default_rng(seed)
    found, true = [], []
    for n in REPORTS:
        holders = np.repeat(np.arange(32), (shares / shares.sum() * n).astype(int))
        holders = np.r_[holders, np.zeros(n - len(holders), np.intp)]
        reports = encode(metric, [name.encode() for name in names], holders, rng)
        found.append(estimate(metric, partial(metric, reports), None if metric.closed or metric.numeric else VALUES))
        true.append(np.bincount(holders, minlength=32) / n)
    place = {name: i for i, name in enumerate(metric.candidates if metric.numeric else VALUES)}
    return found, (true[1] - true[0])[[place[value] for value in found[0].value]]


@cache
def changes(mechanism: str) -> tuple[list[Change], list[FloatArray]]:
    changed, true = [], []
    for seed in range(TIMES):
        (before, after), difference = weeks(mechanism, seed)
        place = {value: i for i, value in enumerate(before.value)}
        change = compare(before, after)
        changed.append(change)
        true.append(difference[[place[value] for value in change.value]])
    return changed, true


def most(alpha: float) -> float:
    """How many of all tests may see a change: more happen with probability 1e-6 where each does with ``alpha``."""
    return float(stats.binom.isf(1e-6, TIMES * 32, alpha))


@pytest.mark.parametrize("mechanism", CASES)
def test_simulated_false_alarms(mechanism: str) -> None:
    """For every kind of mechanism no more values than alpha allows seem to change, nor anything at all too often.

    A sound decoder fails with probability 1e-6 for each alpha, and for the global test; seeds are fixed.
    """
    changed, _ = changes(mechanism)
    p_value = np.concatenate([change.p_value for change in changed])
    for alpha in (0.05, 0.01, 0.001):
        assert (p_value <= alpha).sum() <= most(alpha)
        assert sum(change.any_p_value <= alpha for change in changed) <= stats.binom.isf(1e-6, TIMES, alpha)
        for correction in ("bonferroni", "holm"):
            named = sum(change.significant(alpha, correction).any() for change in changed)
            assert named <= stats.binom.isf(1e-6, TIMES, alpha)


@pytest.mark.parametrize("mechanism", CASES)
def test_intervals_of_a_difference_cover(mechanism: str) -> None:
    """95 % intervals hold the true difference in 95 % of the cases, less 5 standard errors (failing once in 3e6)."""
    changed, true = changes(mechanism)
    inside = np.concatenate(
        [(change.low <= each) & (each <= change.high) for change, each in zip(changed, true, strict=True)]
    )
    assert inside.mean() >= 0.95 - 5 * np.sqrt(0.95 * 0.05 / len(inside))


FEW: list[tuple[str, float, int]] = [
    ("hierarchical-histogram", 8, 30), ("hierarchical-histogram", 4, 30), ("hierarchical-histogram", 12, 1000),
    ("d-bit-flip", 8, 30), ("d-bit-flip", 3, 30),
]  # fmt: skip


@cache
def few(mechanism: str, epsilon: float, n: int) -> list[tuple[Estimates, Estimates]]:
    """Two periods in which all of n devices hold the same value, again and again."""
    metric = define(mechanism, **{**CASES[mechanism], "epsilon": epsilon})
    rng, values = np.random.default_rng(6), [b"%d" % i for i in range(32)]
    states = [partial(metric, encode(metric, values, np.full(n, 16), rng)) for _ in range(2 * RUNS)]
    found = [estimate(metric, state) for state in states]
    return list(zip(found[::2], found[1::2], strict=True))


RUNS = 60


@pytest.mark.parametrize(("mechanism", "epsilon", "n"), FEW)
def test_a_report_or_two_that_are_off_are_no_change(mechanism: str, epsilon: float, n: int) -> None:
    """Where hardly any report is noisy, one is not taken for a change: Holm's procedure at 0.05 names one in no more
    runs than that allows (a sound test fails with probability 1e-6), and 95 % intervals hold 0 as often as they say."""
    changed = [compare(*two) for two in few(mechanism, epsilon, n)]
    assert sum(change.significant().any() for change in changed) <= stats.binom.isf(1e-6, RUNS, 0.05)
    assert np.mean([(change.low <= 0) & (change.high >= 0) for change in changed]) >= 0.95


def test_a_report_of_no_size_is_a_change() -> None:
    """The same bound notices counts whose steps are left out."""
    two = few("hierarchical-histogram", 8, 30)
    changed = [compare(replace(before, step=0.0), replace(after, step=0.0)) for before, after in two]
    assert sum(change.significant().any() for change in changed) > stats.binom.isf(1e-6, RUNS, 0.05)


def step_alarms(expected: float, skewed: float, step: float) -> list[float]:
    """The exact chance over alpha that two periods seem to differ, each a count of ``expected`` Poisson steps of 1 up
    and down, of such skewness, where ``step`` is what the test takes them to be."""
    difference = np.arange(-20.0 - int(3 * expected), 21 + int(3 * expected))
    chance = stats.skellam.pmf(difference, expected, expected)
    third = np.full_like(difference, expected * skewed)
    law = Law(np.full_like(difference, expected), third, third, step)
    p_value = from_laws(difference, law, law)
    return [float(chance[p_value <= alpha].sum()) / alpha for alpha in ALPHAS]


@pytest.mark.parametrize("skewed", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("expected", [1e-4, 0.01, 0.1, 1, 10, 1000])
def test_alarms_by_few_steps_are_exactly_bounded(expected: float, skewed: float) -> None:
    """From one step in ten thousand periods to a thousand in each, a false alarm is at most 5 % more likely than
    alpha."""
    assert max(step_alarms(expected, skewed, 1.0)) <= 1.05


def test_moments_alone_sound_false_alarms() -> None:
    """Where one step in a hundred is expected they do so 19 times as often as an alpha of 0.001 says."""
    assert max(step_alarms(0.01, 1.0, 0.0)) > 10


def without_noise(estimates: Estimates) -> Estimates:
    return replace(estimates, null_variance=estimates.null_variance / 100, slope=estimates.slope / 100, rates=None)


def of_more_reports(estimates: Estimates) -> Estimates:
    count, variance = 20 * estimates.count, 20 * estimates.null_variance
    return replace(estimates, n=20 * estimates.n, count=count, null_variance=variance)


@pytest.mark.parametrize("forget", [without_noise, of_more_reports])
def test_a_test_that_forgets_the_noise_of_one_period_fails(forget: Callable[[Estimates], Estimates]) -> None:
    """The bound on simulated false alarms notices a test that leaves out the error of one of the two periods."""
    found = [weeks("hadamard-response", seed)[0] for seed in range(TIMES)]
    p_value = np.concatenate([compare(forget(before), after).p_value for before, after in found])
    assert (p_value <= 0.05).sum() > most(0.05)


def test_any_change_holds_whatever_the_dependence() -> None:
    """Where all values' p-values are one and the same uniform number, the global one is below alpha no more often."""
    u = np.linspace(0.0005, 0.9995, 1000)
    found = np.array([any_change(np.full(50, each)) for each in u])
    for alpha in (0.5, 0.1, 0.01):
        assert (found <= alpha).mean() <= alpha
    independent = np.random.default_rng(1).uniform(size=(2000, 50))
    found = np.array([any_change(each) for each in independent])
    assert (found <= 0.05).sum() <= stats.binom.isf(1e-6, 2000, 0.05)


def test_any_change_sees_one_large_and_many_small() -> None:
    """One p-value of 1e-6 among 100 is seen, and so are 100 of 0.001; 100 of 0.5 are nothing."""
    assert any_change(np.r_[1e-6, np.full(99, 0.5)]) < 1e-3
    assert any_change(np.full(100, 0.001)) < 0.01
    assert any_change(np.full(100, 0.5)) == 1
    assert any_change(np.array([])) == 1
    assert any_change(np.array([0.03])) == 0.03
