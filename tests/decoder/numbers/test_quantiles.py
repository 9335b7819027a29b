"""Quantiles: the right value where all is known, intervals that hold it, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_decoder import ArgumentError, EstimateError, Quantiles, State, StateError, merge, partial, quantiles
from hubbub_decoder.numbers.quantiles import quantiles_of
from hubbub_simulations.mechanisms import encode

from tests.decoder.numbers.trees import distribution_of, expected_state, tree_metric
from tests.registries import metric_of

PROBABILITIES = [0.001, 0.05, 0.3, 0.5, 0.77, 0.999]
SHARES = st.lists(st.integers(0, 5), min_size=8, max_size=8).filter(any)


@given(SHARES, st.lists(st.floats(0.001, 0.999), min_size=1, max_size=5))
def test_known_shares_give_the_quantile_itself(held: list[int], probabilities: list[float]) -> None:
    """Without noise a quantile is the first value that a share p does not exceed, and so are its interval's ends."""
    share = np.array(held) / sum(held)
    below = np.cumsum(share)
    if np.min(np.abs(np.subtract.outer(below, probabilities))) < 1e-4:
        return  # so close that even errors of a millionth leave two values
    found = quantiles_of(distribution_of(list(share), 10**12, children=(2, 2, 2)), probabilities)
    truth = [int(np.argmax(below >= p)) for p in probabilities]
    assert found.quantile.tolist() == found.low.tolist() == found.high.tolist() == truth
    assert found.std_error.tolist() == [0.0] * len(probabilities)


@given(SHARES, st.floats(0.001, 3))
def test_intervals_are_in_order(held: list[int], noise: float) -> None:
    """Low ends, quantiles and high ends rise with p; the quantile is in its interval, which grows with the level."""
    share = np.array(held) / sum(held)
    found = quantiles_of(distribution_of(list(share), 500, noise, (4, 2)), PROBABILITIES)
    wide = found.at_level(0.999)
    for each in (found.low, found.high, found.quantile):
        assert (np.diff(each) >= 0).all()
    assert (found.low <= found.quantile).all()
    assert (found.quantile <= found.high).all()
    assert (wide.low <= found.low).all()
    assert (found.high <= wide.high).all()
    assert found.low.min() >= 0
    assert found.high.max() <= 7


def test_an_interval_is_of_all_buckets_that_pass_the_test_where_all_is_one_level() -> None:
    """With one level: from the first to the last bucket whose two shares below are not surely on one side of p."""
    found = quantiles_of(distribution_of([0.1, 0.2, 0.2, 0.2, 0.2, 0.1], 1000, 0.5), [0.5])
    below, reach = found.distribution.below, 1.959964 * found.distribution.below_error
    passing = np.flatnonzero((below - reach <= 0.5)[:-1] & (below + reach >= 0.5)[1:])
    assert (found.low[0], found.high[0]) == (passing[0], passing[-1])
    assert 0 < found.low[0] <= found.high[0] < 5


def test_where_nothing_lies_the_interval_spans_it() -> None:
    """Half of the values at either end: the median may be anywhere between, and the interval says so."""
    ends = distribution_of([0.5, 0, 0, 0, 0, 0, 0, 0.5], 4000, 1.0, (2, 2, 2))
    found = quantiles_of(ends, [0.25, 0.5, 0.75])
    assert found.low.tolist() == [0, 0, 7]
    assert found.high.tolist() == [0, 7, 7]


def test_a_quantile_within_a_bucket(tmp_path: Path) -> None:
    """Values are taken to be spread over their bucket's integers; the interval is the whole bucket at least."""
    metric = tree_metric(tmp_path, 2, 1, 4, low=-10, high=29)  # buckets of ten: -10..-1, 0..9, ...
    found = quantiles(metric, expected_state(metric, [0, 1, 0, 0], 10**9), [0.05, 0.45, 0.95])
    assert found.quantile.tolist() == [0, 4, 9]
    assert found.low.tolist() == [0, 0, 0]
    assert found.high.tolist() == [9, 9, 9]


@pytest.mark.parametrize("n", [1, 2, 30])
@pytest.mark.parametrize("levels", [1, 4])
def test_few_reports_have_wide_intervals(tmp_path: Path, n: int, levels: int) -> None:
    """One report, or a few that are all equal: figures are within the range, in order, and far from sure."""
    metric = tree_metric(tmp_path, 4, levels, 1)
    widths = []
    for seed in range(10):
        records = encode(metric, [b"7"], np.zeros(n, np.intp), np.random.default_rng(seed))
        found = quantiles(metric, partial(metric, records), PROBABILITIES)
        assert (found.low <= found.quantile).all()
        assert (found.quantile <= found.high).all()
        widths.append(found.high[3] - found.low[3])
    assert np.mean(widths) > 5


@pytest.mark.parametrize("p", [0, 1, -0.1, 1.5, float("nan"), float("inf")])
def test_a_share_outside_is_refused(tmp_path: Path, p: float) -> None:
    """0 and 1 are no quantiles, nor is what is no probability; the message names it and the metric."""
    metric = tree_metric(tmp_path, 2)
    with pytest.raises(
        EstimateError, match=r"metric m: quantile .* is not strictly between 0 and 1; the median is 0\.5"
    ):
        quantiles(metric, expected_state(metric, [1, 1, 1, 1], 100), [0.5, p])


@pytest.mark.parametrize("probabilities", ["0.5", 0.5, None, [True], ["0.5"], [None]])
def test_what_is_no_list_of_numbers_is_refused(tmp_path: Path, probabilities: Any) -> None:
    """A text, a single number or a list of something else is an ArgumentError that says what to pass."""
    metric = tree_metric(tmp_path, 2)
    with pytest.raises(ArgumentError, match=r"pass \[0\.5, 0\.9\]"):
        quantiles(metric, expected_state(metric, [1, 1, 1, 1], 100), probabilities)


def test_nothing_to_ask_or_to_ask_of(tmp_path: Path) -> None:
    """No probabilities, no reports, another metric, another's state, another type: each is refused by what it is."""
    metric = tree_metric(tmp_path, 2)
    state = expected_state(metric, [1, 1, 1, 1], 100)
    with pytest.raises(EstimateError, match="no quantile is asked for"):
        quantiles(metric, state, [])
    with pytest.raises(EstimateError, match="there are no reports in this state"):
        quantiles(metric, partial(metric, np.zeros((0, metric.device.record_bytes), np.uint8)))
    other = metric_of(tmp_path, "d-bit-flip")
    with pytest.raises(EstimateError, match="gives neither quantiles nor ranges; hierarchical-histogram does"):
        quantiles(other, partial(other, np.zeros((1, other.device.record_bytes), np.uint8)))
    with pytest.raises(StateError):
        quantiles(tree_metric(tmp_path, 3), state)
    with pytest.raises(ArgumentError, match="quantiles: metric is"):
        quantiles("m", state)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="is not a State"):
        quantiles(metric, b"")  # type: ignore[arg-type]


def test_a_result_prints_and_turns_into_tables(tmp_path: Path) -> None:
    """The header names n and epsilon, and pandas and Arrow have the same columns and figures."""
    metric = tree_metric(tmp_path, 3)
    found = quantiles(metric, expected_state(metric, [1] * 8, 1000), (0.25, 0.5))
    assert isinstance(found, Quantiles)
    assert len(found) == 2
    columns = ["probability", "quantile", "std_error", "low", "high"]
    assert list(found.columns()) == list(found.to_pandas().columns) == found.to_arrow().column_names == columns
    assert found.to_pandas()["quantile"].tolist() == found.quantile.tolist()
    assert found.to_arrow()["low"].to_pylist() == found.low.tolist()
    assert "m: n = " in str(found)
    assert "probability" in repr(found)
    assert found.epsilon == pytest.approx(2, abs=0.01)
    with pytest.raises(EstimateError, match="level = 1"):
        found.at_level(1)
    with pytest.raises(EstimateError, match="level = 0"):
        found.confidence_interval(0)


def test_states_merge_to_the_quantiles_of_all(tmp_path: Path) -> None:
    """Quantiles of merged parts, through bytes, are those of all records at once."""
    metric = tree_metric(tmp_path, 6, 4)
    rng = np.random.default_rng(3)
    records = encode(metric, [b"%d" % value for value in range(64)], rng.integers(0, 64, 3000), rng)
    parts = [partial(metric, each) for each in np.array_split(records, 5)]
    total = parts[0]
    for each in parts[1:]:
        total = merge(total, State.from_bytes(each.to_bytes()))
    assert quantiles(metric, total).columns() == quantiles(metric, partial(metric, records)).columns()
