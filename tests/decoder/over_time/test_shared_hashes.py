"""Two periods of one sketch: collisions of values that stayed cancel, and the error says so and no more."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from hubbub_decoder import Change, EstimateError, State, compare, compare_states, estimate, partial
from hubbub_decoder.over_time.shared_hashes import _SQUARED_CHANGE
from hubbub_registry import Metric
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode

FloatArray = npt.NDArray[np.float64]
WIDTH = {"hadamard-count-mean-sketch": 32, "count-mean-sketch": 32, "local-hashing": None}
SKETCHES = list(WIDTH)
REPORTS = (20_000, 30_000)
TIMES, VALUES = 8, 48


def shares(moved: float) -> FloatArray:
    """Falling shares of 32 values, of which ``moved`` of the first's holders go to the second; 16 that nobody holds."""
    falling: FloatArray = np.r_[1 / np.arange(1, 33), np.zeros(16)]
    falling /= falling.sum()
    falling[1] += moved * falling[0]
    falling[0] *= 1 - moved
    return falling


def sketch(mechanism: str) -> Metric:
    width = {} if WIDTH[mechanism] is None else {"width": WIDTH[mechanism]}
    return define(mechanism, epsilon=4, hashes=64, **width)


def two_periods(mechanism: str, seed: int, moved: float) -> tuple[Metric, tuple[State, State], list[str], FloatArray]:
    """States, the values, and the true differences. Each seed has values of its own: another draw of the hash set."""
    metric = sketch(mechanism)
    values = [f"{seed}-{i}" for i in range(VALUES)]
    rng = np.random.default_rng(seed)
    states, true = [], []
    for n, part in zip(REPORTS, (0.0, moved), strict=True):
        holders = np.floor(shares(part) * n).astype(int)
        holders[2] += n - holders.sum()
        index = np.repeat(np.arange(VALUES), holders)
        states.append(partial(metric, encode(metric, [value.encode() for value in values], index, rng)))
        true.append(holders / n)
    return metric, (states[0], states[1]), values, true[1] - true[0]


@cache
def changes(mechanism: str, moved: float) -> tuple[list[Change], list[FloatArray]]:
    found, true = [], []
    for seed in range(TIMES):
        metric, states, values, difference = two_periods(mechanism, seed, moved)
        change = compare_states(metric, *states, values)
        found.append(change)
        true.append(difference[[values.index(value) for value in change.value]])
    return found, true


@pytest.mark.parametrize("mechanism", SKETCHES)
@pytest.mark.parametrize("moved", [0.0, 0.3])
def test_false_alarms_and_coverage(mechanism: str, moved: float) -> None:
    """Whether all values stay or two move, values that stay seem to change no more often than alpha allows (a sound
    test fails once in 1e6), and 95 % intervals hold the truth in 95 % of cases less five standard errors."""
    found, true = changes(mechanism, moved)
    difference = np.concatenate(true)
    p_value = np.concatenate([change.p_value for change in found])[np.abs(difference) < 1e-3]
    for alpha in (0.05, 0.01, 0.001):
        assert (p_value <= alpha).sum() <= stats.binom.isf(1e-6, len(p_value), alpha)
    low, high = (np.concatenate([getattr(change, end) for change in found]) for end in ("low", "high"))
    inside = (low <= difference) & (difference <= high)
    assert inside.mean() >= 0.95 - 5 * np.sqrt(0.95 * 0.05 / len(inside))


@pytest.mark.parametrize("mechanism", SKETCHES)
def test_without_any_collisions_there_are_too_many(mechanism: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that takes all collisions to cancel, when a third of the largest value moved, exceeds that bound."""
    monkeypatch.setitem(_SQUARED_CHANGE, mechanism, lambda *_: 0.0)
    wrong = total = 0
    for seed in range(TIMES):
        metric, states, values, difference = two_periods(mechanism, seed, 0.9)
        change = compare_states(metric, *states, values)
        stay = np.abs(difference[[values.index(value) for value in change.value]]) < 1e-3
        wrong += int((change.p_value[stay] <= 0.05).sum())
        total += int(stay.sum())
    assert wrong > stats.binom.isf(1e-6, total, 0.05)


@pytest.mark.parametrize("mechanism", SKETCHES)
def test_the_error_is_much_smaller(mechanism: str) -> None:
    """Where nothing changed the standard error of a difference is at most 0.8 times what the two estimates give."""
    metric, states, values, _ = two_periods(mechanism, 1, 0.0)
    plain = compare(*(estimate(metric, state, values) for state in states))
    assert compare_states(metric, *states, values).std_error.mean() < 0.8 * plain.std_error.mean()


@pytest.mark.parametrize("mechanism", SKETCHES)
@pytest.mark.parametrize("moved", [0.0, 0.3])
def test_how_much_changed_is_bounded(mechanism: str, moved: float) -> None:
    """The estimate of all values' squared changes is never below the truth, and at most 0.05 above it."""
    for seed in range(TIMES):
        metric, states, _, difference = two_periods(mechanism, seed, moved)
        found = _SQUARED_CHANGE[mechanism](metric, *states)
        truth = float(difference @ difference)
        assert truth <= found <= truth + 0.05


def test_other_mechanisms_are_compared_as_estimates() -> None:
    """Where there are no hash functions the change of two states is that of their estimates, and of means as well."""
    metric = define("randomized-response", epsilon=3, values=["a", "b", "c"])
    rng = np.random.default_rng(1)
    one, other = (partial(metric, encode(metric, [b"a", b"b", b"c"], rng.integers(0, 3, 500), rng)) for _ in range(2))
    plain = compare(estimate(metric, one), estimate(metric, other))
    found = compare_states(metric, one, other)
    assert np.array_equal(found.p_value, plain.p_value)
    assert np.array_equal(found.low, plain.low)
    metric = define("one-bit-mean", epsilon=1, low=0, high=9)
    one, other = (partial(metric, encode(metric, [b"1", b"2", b"3"], rng.integers(0, 3, 500), rng)) for _ in range(2))
    assert compare_states(metric, one, other).what == "mean"


@pytest.mark.parametrize("mechanism", SKETCHES)
def test_few_reports(mechanism: str) -> None:
    """One report against one, or none at all, gives wide figures or an error, and no warning."""
    metric = sketch(mechanism)
    rng = np.random.default_rng(1)
    one, two, none = (partial(metric, encode(metric, [b"a"], np.zeros(n, np.intp), rng)) for n in (1, 2, 0))
    assert compare_states(metric, one, two, ["a"]).p_value[0] > 0.01
    assert compare_states(metric, two, two, ["a"]).p_value[0] > 0.01
    with pytest.raises(EstimateError, match="no reports"):
        compare_states(metric, one, none, ["a"])
