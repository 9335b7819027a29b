"""Period by period: the figures are those of decoding each period, and of all together."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pytest

from hubbub_decoder import (
    ArgumentError,
    Dataset,
    EstimateError,
    Estimates,
    StateCache,
    Trend,
    decode,
    decode_mean,
    estimate,
    partial,
    trend,
)  # fmt: skip
from hubbub_decoder.over_time import most_reports, widened
from hubbub_registry import Metric

from tests.decoder.reports import encode, random_records, seal
from tests.registries import metric_of

SIZES = {7: 300, 8: 500, 9: 400}


def sealed(folder: Path, metric: Metric) -> Dataset:
    for period, n in SIZES.items():
        values = ["7", "57"] if metric.numeric else ["a", "b"]
        seal(folder, metric, encode(metric, [values[0]] * n + [values[1]] * 100, period), period=period)
    return Dataset(folder, metric)


@pytest.fixture
def metric(tmp_path: Path) -> Metric:
    return metric_of(tmp_path, "randomized-response", epsilon=4)


@pytest.fixture
def found(tmp_path: Path, metric: Metric) -> Trend:
    return trend(metric, sealed(tmp_path, metric))


def test_each_period_is_what_decoding_it_gives(tmp_path: Path, metric: Metric, found: Trend) -> None:
    """Frequencies, standard errors and bands of each period are those of decode with that period alone."""
    low, high = found.bands()
    for i, period in enumerate(SIZES):
        alone = decode(metric, Dataset(tmp_path, metric, [period]))
        place = [alone.value.index(value) for value in found.value]
        assert np.array_equal(found.estimate()[i], alone.frequency[place])
        assert np.array_equal(found.std_error()[i], alone.std_error[place] / alone.n)
        assert np.array_equal(low[i], alone.low[place] / alone.n)
        assert np.array_equal(high[i], alone.high[place] / alone.n)


def test_pooled_is_what_decoding_all_gives(tmp_path: Path, metric: Metric, found: Trend) -> None:
    """All periods together are decode of all, to the last bit, where noise is new in each report."""
    whole = decode(metric, Dataset(tmp_path, metric))
    assert isinstance(found.pooled, Estimates)
    assert found.pooled.n == whole.n == sum(SIZES.values()) + 300
    assert np.array_equal(found.pooled.count, whole.count)
    assert np.array_equal(found.pooled.std_error, whole.std_error)
    assert found.pooled.value == whole.value == found.value


def test_simultaneous_bands(found: Trend) -> None:
    """Bands that cover together are each at the level that Bonferroni gives over 3 periods and 5 values."""
    low, high = found.bands(simultaneous=True)
    each = found.at_level(1 - 0.05 / 15).bands()
    assert low == pytest.approx(each[0], rel=1e-9)
    assert high == pytest.approx(each[1], rel=1e-9)


def test_columns(found: Trend) -> None:
    """A row for each value and period, values in the order of the whole, periods in order of time."""
    columns = found.columns(top=2)
    assert list(columns) == ["value", "period", "begins", "n", "frequency", "std_error", "low", "high"]
    assert columns["value"] == ["a"] * 3 + ["b"] * 3
    assert columns["begins"] == ["1970-01-08", "1970-01-09", "1970-01-10"] * 2
    assert columns["n"] == [400, 600, 500] * 2
    assert list(columns["frequency"][:3]) == found.estimate()[:, 0].tolist()
    frame = found.to_pandas()
    assert list(frame.columns) == list(columns)
    assert len(frame) == 15


def test_a_mean(tmp_path: Path) -> None:
    """Means have one row a period, each what decode_mean gives; over all, a note bounds the error of repeated noise."""
    metric = metric_of(tmp_path, "one-bit-mean", epsilon=2)
    found = trend(metric, sealed(tmp_path, metric))
    alone = decode_mean(metric, Dataset(tmp_path, metric, [8]))
    assert found.value == ("mean",)
    assert found.estimate()[1, 0] == alone.mean
    assert found.bands()[0][1, 0] == alone.low
    assert found.bands(simultaneous=True)[0][1, 0] < alone.low
    assert list(found.columns()) == ["period", "begins", "n", "mean", "std_error", "low", "high"]
    assert "by a factor of 1.73 at most" in found.pooled.notes[-1]
    change = found.between(7, 8)
    assert change.what == "mean"
    assert next(iter(change.columns())) == "before"


def test_between(found: Trend) -> None:
    """Two periods of a trend compare by number; one that it does not have is an error that names those it has."""
    change = found.between(7, 9)
    assert change.names == ("1970-01-08", "1970-01-10")
    assert change.periods == ((7,), (9,))
    assert change.n == (400, 500)
    with pytest.raises(EstimateError, match=r"period 10 is not .* 7 \(1970-01-08\), 8"):
        found.between(7, 10)


def test_the_cache_changes_nothing(tmp_path: Path, metric: Metric, found: Trend) -> None:
    """Through a cache, filled or not, the figures are the same."""
    for _ in range(2):
        again = trend(metric, Dataset(tmp_path, metric), cache=StateCache(tmp_path / "states"))
        assert np.array_equal(again.estimate(), found.estimate())
        assert again.notes == found.notes
    assert len(list((tmp_path / "states").rglob("*.state"))) == 3


def test_an_empty_period_is_named(tmp_path: Path, metric: Metric) -> None:
    """A period without a report is left out, and a note says so; with no report at all there is an error."""
    seal(tmp_path, metric, random_records(metric, 0, 1), period=10)
    with pytest.raises(EstimateError, match="no reports"):
        trend(metric, Dataset(tmp_path, metric))
    found = trend(metric, sealed(tmp_path, metric))
    assert found.periods == (7, 8, 9)
    assert any("10 (1970-01-11)" in note for note in found.notes)


def test_suspicious_parts_are_named_with_their_period(tmp_path: Path) -> None:
    """What the screen flags in one period is in the trend's notes and suspects."""
    metric = metric_of(tmp_path, "hadamard-count-mean-sketch")
    seal(tmp_path, metric, random_records(metric, 300, 1), period=7)
    seal(tmp_path, metric, np.tile(random_records(metric, 1, 1), (500, 1)), period=8)
    found = trend(metric, Dataset(tmp_path, metric), ["a"])
    assert [suspect.period for suspect in found.suspects] == [8]
    (note,) = found.notes
    assert note.startswith("period 8 (1970-01-09): 00001.parquet of period 8")


def test_noise_that_repeats_is_held_by_the_pooled_error(tmp_path: Path) -> None:
    """Where every device sends the same permanent noise in all of four periods, pooled errors are exactly right:
    those of one period. A plain decode of all states half of them."""
    metric = metric_of(tmp_path, "d-bit-flip", epsilon=2, perturbation=None)
    records = encode(metric, ["7"] * 300 + ["57"] * 100, 1)
    for period in range(4):
        seal(tmp_path, metric, np.roll(records, period, axis=0), period=period)  # each part in an order of its own
    one = estimate(metric, partial(metric, records))
    found = trend(metric, Dataset(tmp_path, metric))
    plain = decode(metric, Dataset(tmp_path, metric))
    assert isinstance(found.pooled, Estimates)
    assert found.pooled.frequency == pytest.approx(one.frequency)
    assert found.pooled.std_error / found.pooled.n == pytest.approx(one.std_error / one.n)
    assert plain.std_error / plain.n == pytest.approx(one.std_error / one.n / 2)
    assert "at most" in plain.notes[0]
    assert "4 reports that share permanent noise" in found.pooled.notes[-1]
    assert found.notes == ()


def test_widened_holds_any_repetition(tmp_path: Path) -> None:
    """The registry's own limit bounds how often a device comes; fewer than one report is no bound."""
    metric = metric_of(tmp_path, "randomized-response", reports_per_period=3)
    assert most_reports(metric, [1, 2]) == 6
    found = estimate(metric, partial(metric, random_records(metric, 50, 1)))
    assert widened(found, 1) is found
    assert widened(found, 9).std_error == pytest.approx(3 * found.std_error)
    assert (widened(found, 9).high >= found.high).all()
    with pytest.raises(EstimateError, match="1 or more"):
        widened(found, 0)


def test_it_prints(found: Trend) -> None:
    """Printed, a trend has its header and a line for each value and period."""
    text = str(found)
    assert text.startswith("m: n = 1,500 reports")
    assert "3 periods" in text
    assert sum("1970-01-09" in line for line in text.splitlines()) == 5
    assert repr(found) == text
    assert len(found) == 3


def test_data_of_another_metric(tmp_path: Path, metric: Metric) -> None:
    """A data set of another definition, or something else in its place, is an ArgumentError."""
    data = sealed(tmp_path, metric)
    with pytest.raises(ArgumentError, match="not of m"):
        trend(metric_of(tmp_path, "randomized-response", epsilon=2), data)
    with pytest.raises(ArgumentError, match="Dataset"):
        trend(metric, datetime.date(2026, 1, 1))  # type: ignore[arg-type]
