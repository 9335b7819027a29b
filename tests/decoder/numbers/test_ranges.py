"""Ranges: counts that add up, ends of buckets, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub_decoder import ArgumentError, EstimateError, Ranges, estimate, partial, ranges
from hubbub_simulations.mechanisms import encode

from tests.decoder.numbers.trees import expected_state, tree_metric
from tests.registries import metric_of


def test_counts_are_the_truth_where_all_is_as_expected(tmp_path: Path) -> None:
    """Each range counts its own integers, its last excluded; parts add up to the whole, which is known."""
    metric = tree_metric(tmp_path, 4, 2)
    state = expected_state(metric, list(range(16)), 10**8)
    found = ranges(metric, state, [(0, 5), (5, 16), (0, 16), (15, 16)])
    assert found.frequency == pytest.approx(np.array([10, 110, 120, 15]) / 120, abs=1e-6)
    assert found.range == ("0..4", "5..15", "0..15", "15..15")
    assert found.count[0] + found.count[1] == pytest.approx(found.count[2])
    assert (found.count[2], found.std_error[2], found.low[2], found.high[2]) == (state.n, 0, state.n, state.n)
    assert found.consistent() == pytest.approx(found.count, rel=1e-4)


def test_a_range_of_one_bucket_is_that_bucket(tmp_path: Path) -> None:
    """Its count is that of the histogram, and its error, over every point, about that."""
    metric = tree_metric(tmp_path, 4, 4, 1)
    rng = np.random.default_rng(1)
    records = encode(metric, [b"%d" % value for value in range(16)], rng.integers(0, 16, 5000), rng)
    state = partial(metric, records)
    found, buckets = ranges(metric, state, [(i, i + 1) for i in range(16)]), estimate(metric, state)
    place = [buckets.value.index(str(i)) for i in range(16)]
    assert found.count == pytest.approx(buckets.count[place])
    assert found.std_error == pytest.approx(buckets.std_error[place], rel=0.05)


def test_an_end_within_a_bucket_is_moved_and_said(tmp_path: Path) -> None:
    """The nearer end of the bucket is taken, the answer names the integers it counts, and a note says both."""
    metric = tree_metric(tmp_path, 2, 1, low=-10, high=29)  # buckets of ten
    state = expected_state(metric, [1, 2, 3, 4], 10**8)
    found = ranges(metric, state, [(-10, 12), (-4, 29), (0, 10)])
    assert found.range == ("-10..9", "0..29", "0..9")
    assert found.frequency == pytest.approx([0.3, 0.9, 0.2], abs=1e-6)
    assert found.notes == (
        "range -10:12 cuts a bucket, within which nothing is known; what is counted is -10:10",
        "range -4:29 cuts a bucket, within which nothing is known; what is counted is 0:30",
    )


@pytest.mark.parametrize(
    ("pair", "says"),
    [
        ((5, 5), "range 5:5 is empty"),
        ((9, 3), "range 9:3 is empty.*swap"),
        ((-11, 5), r"leaves the metric's own, -10:30 \(whose last is 29\)"),
        ((0, 31), "leaves the metric's own"),
        ((2, 4), "is a small part of the bucket 0:10.*ask for whole buckets"),
    ],
)
def test_ranges_that_make_no_sense_are_refused(tmp_path: Path, pair: tuple[int, int], says: str) -> None:
    """Reversed, empty, outside the metric's range or within one bucket: an error that names metric and range."""
    metric = tree_metric(tmp_path, 2, 1, low=-10, high=29)
    with pytest.raises(EstimateError, match=f"metric m: .*{says}"):
        ranges(metric, expected_state(metric, [1, 1, 1, 1], 100), [(0, 10), pair])


@pytest.mark.parametrize("pairs", ["0:5", None, [5], [(1, 2, 3)], [("0", "5")], [(0.0, 5.0)], [(True, 5)], ["05"]])
def test_what_is_no_list_of_pairs_is_refused(tmp_path: Path, pairs: Any) -> None:
    """Texts, single numbers and pairs of something else are an ArgumentError that says what to pass."""
    metric = tree_metric(tmp_path, 4)
    with pytest.raises(ArgumentError, match=r"pass \[\(0, 100\), \(100, 500\)\]"):
        ranges(metric, expected_state(metric, [1] * 16, 100), pairs)


def test_nothing_to_ask_or_to_ask_of(tmp_path: Path) -> None:
    """No ranges, no reports, and a metric that gives none are refused by what they are."""
    metric = tree_metric(tmp_path, 4)
    with pytest.raises(EstimateError, match="no range is asked for"):
        ranges(metric, expected_state(metric, [1] * 16, 100), [])
    with pytest.raises(EstimateError, match="there are no reports in this state"):
        ranges(metric, partial(metric, np.zeros((0, metric.device.record_bytes), np.uint8)), [(0, 1)])
    other = metric_of(tmp_path, "one-bit-mean")
    with pytest.raises(EstimateError, match="gives neither quantiles nor ranges"):
        ranges(other, partial(other, np.zeros((1, 1), np.uint8)), [(0, 1)])


def test_one_report_says_little(tmp_path: Path) -> None:
    """Whatever the one report is, figures are finite and the interval reaches past the truth on both sides."""
    metric = tree_metric(tmp_path, 4, 4, 1)
    for seed in range(20):
        records = encode(metric, [b"7"], np.zeros(1, np.intp), np.random.default_rng(seed))
        found = ranges(metric, partial(metric, records), [(0, 8), (8, 16), (7, 8)]).at_level(0.999)
        assert np.isfinite(found.count).all()
        assert (found.low < [1, 0, 1]).all()
        assert (found.high > [1, 0, 1]).all()


def test_a_result_prints_and_turns_into_tables(tmp_path: Path) -> None:
    """pandas and Arrow have the same columns and figures, and ``consistent`` adds one."""
    metric = tree_metric(tmp_path, 4)
    found = ranges(metric, expected_state(metric, [1] * 16, 1000), [(0, 8), (8, 9)])
    assert isinstance(found, Ranges)
    assert len(found) == 2
    columns = ["range", "count", "frequency", "std_error", "low", "high"]
    assert list(found.columns()) == found.to_arrow().column_names == columns
    assert list(found.to_pandas(consistent=True).columns) == [*columns, "consistent"]
    assert found.to_arrow()["count"].to_pylist() == found.count.tolist()
    assert "0..7" in str(found)
    with pytest.raises(EstimateError, match="level = 1"):
        found.confidence_interval(1)
