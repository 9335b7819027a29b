"""Quantiles, ranges and pairs over time: what each period by itself gives, and what may be called a change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub_decoder import (
    ArgumentError,
    CandidateError,
    Dataset,
    EstimateError,
    Estimates,
    State,
    compare,
    compare_states,
    decode_joint,
    decode_quantiles,
    decode_ranges,
    estimate,
    quantiles,
    ranges,
    trend,
)
from hubbub_decoder.over_time import trend_of
from hubbub_decoder.over_time.picture import draw
from hubbub_registry import Registry
from hubbub_simulations.definitions import define

from tests.decoder.over_time.questions import PAIRS, PERIODS, TREE, of_numbers, of_pairs, sealed
from tests.decoder.reports import encode, seal
from tests.registries import metric_of

ASKED = [0.25, 0.5, 0.9]
PARTS = [(0, 8), (8, 32), (4, 20)]
AGE = define("hierarchical-histogram", epsilon=5, **{key: TREE[key] for key in ("low", "high", "buckets", "levels")})
PAIR = define("joint", epsilon=5, **{key: PAIRS[key] for key in ("first", "second")})


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return sealed(tmp_path)


def test_quantiles_of_each_period(tmp_path: Path, registry: Registry) -> None:
    """Quantiles, errors and bands of a period are those of decode_quantiles, as integers, under the probability."""
    metric = registry.metric("age")
    found = trend(metric, Dataset(tmp_path, metric), quantiles=ASKED)
    low, high = found.bands()
    for i, period in enumerate(PERIODS):
        alone = decode_quantiles(metric, Dataset(tmp_path, metric, [period]), ASKED)
        assert found.estimate()[i].tolist() == alone.quantile.tolist()
        assert found.std_error()[i].tolist() == alone.std_error.tolist()
        assert (low[i].tolist(), high[i].tolist()) == (alone.low.tolist(), alone.high.tolist())
    columns = found.columns(top=2)
    assert list(columns) == ["probability", "period", "begins", "n", "quantile", "std_error", "low", "high"]
    assert columns["probability"] == [0.25, 0.25, 0.5, 0.5]
    assert np.asarray(columns["quantile"]).dtype == np.int64
    together = found.at_level(1 - 0.05 / 6).bands()
    assert [side.tolist() for side in found.bands(simultaneous=True)] == [side.tolist() for side in together]
    narrow = found.at_level(0.2)
    assert ((narrow.bands()[0] <= narrow.estimate()) & (narrow.estimate() <= narrow.bands()[1])).all()
    assert "0.5" in str(found)


def test_ranges_of_each_period(tmp_path: Path, registry: Registry) -> None:
    """Shares and bands of a period's ranges are those of decode_ranges, in the order asked for."""
    metric = registry.metric("age")
    found = trend(metric, Dataset(tmp_path, metric), ranges=PARTS)
    alone = decode_ranges(metric, Dataset(tmp_path, metric, [PERIODS[1]]), PARTS)
    assert found.value == ("0..7", "8..31", "4..19")
    assert found.estimate()[1].tolist() == alone.frequency.tolist()
    assert found.bands()[0][1].tolist() == (alone.low / alone.n).tolist()
    assert next(iter(found.columns())) == "range"


def test_pairs_of_each_period(tmp_path: Path, registry: Registry) -> None:
    """Shares and bands of a period's pairs are those of decode_joint, the most frequent pair of all periods first."""
    metric = registry.metric("pair")
    found = trend(metric, Dataset(tmp_path, metric))
    alone = decode_joint(metric, Dataset(tmp_path, metric, [PERIODS[0]]))
    assert found.value[0] == ("a", "x")
    of = [(alone.first.index(a), alone.second.index(b)) for a, b in found.value]
    assert found.estimate()[0].tolist() == [alone.share[at] for at in of]
    assert found.bands()[1][0].tolist() == [alone.high[at] / alone.n for at in of]
    columns = found.columns(top=1)
    assert list(columns) == ["first", "second", "period", "begins", "n", "frequency", "std_error", "low", "high"]
    assert (columns["first"], columns["second"]) == (["a", "a"], ["x", "x"])
    assert found.to_arrow().num_rows == len(found.to_pandas()) == 12
    assert found.between(*PERIODS).value[0] == ("a", "x")


def test_a_period_of_too_few_reports_is_left_out(tmp_path: Path) -> None:
    """Where a period has too few reports for what is asked, a note says so, and the others are shown."""
    metric = metric_of(tmp_path, "randomized-response", epsilon=4)
    for period, n in ((7, 300), (8, 30)):
        seal(tmp_path, metric, encode(metric, ["a"] * n, period), period=period)

    def ask(state: State) -> Estimates:
        if state.n < 100:
            raise EstimateError("too few")
        return estimate(metric, state)

    found = trend_of(metric, Dataset(tmp_path, metric), ask)
    assert (found.periods, found.pooled.n) == ((7,), 330)
    assert found.notes == ("left out: period 8 (1970-01-09): too few",)
    with pytest.raises(EstimateError, match="too few"):
        trend_of(metric, Dataset(tmp_path, metric, [8]), ask)


@pytest.mark.parametrize("asked", [{"quantiles": ASKED}, {"ranges": PARTS}])
def test_a_picture(tmp_path: Path, registry: Registry, asked: dict[str, Any]) -> None:
    """Quantiles and ranges are drawn, as values are."""
    metric = registry.metric("age")
    draw(trend(metric, Dataset(tmp_path, metric), **asked), tmp_path / "trend.png", top=3)
    assert (tmp_path / "trend.png").read_bytes()[:4] == b"\x89PNG"


def test_a_change_is_found_and_only_that() -> None:
    """A median that moved, the ranges and the pair that did: significant; what did not move: not. Seeds are fixed."""
    rng = np.random.default_rng(1)
    before, after = (of_numbers(AGE, np.r_[np.arange(1500) % 4 + at, np.full(500, 31)], rng) for at in (8, 18))
    change = compare_states(AGE, before, after, quantiles=[0.5, 0.95])
    assert (change.what, change.heads, change.value) == ("quantile", ("probability",), (0.5, 0.95))
    assert change.significant().tolist() == [True, False]
    assert change.low[0] <= 10 <= change.high[0]
    assert change.low[1] <= 0 <= change.high[1]
    change = compare_states(AGE, before, after, ranges=[(8, 12), (0, 32), (28, 32)])
    assert change.value[0] == "8..11"
    assert change.low[0] <= -0.75 <= change.high[0]
    assert dict(zip(change.value, change.p_value, strict=True))["0..31"] == 1
    assert change.significant().tolist() == [True, False, False]
    held = np.arange(2000) % 6
    before, after = (of_pairs(PAIR, each, rng) for each in (held, np.where(held == 3, 4, held)))
    change = compare_states(PAIR, before, after)
    assert list(change.columns())[:3] == ["first", "second", "before"]
    assert set(change.value[:2]) == {("b", "y"), ("c", "x")}
    assert change.significant(1e-6).tolist() == [True, True, False, False, False, False]


def test_a_quantile_that_is_the_same_is_not_named_for_shares_that_differ() -> None:
    """A median that is one value in both periods, held by 60 and then by 90 in 100, did not change; its share did."""
    rng = np.random.default_rng(2)
    before, after = (
        of_numbers(AGE, np.r_[np.full(20 * part, 16), np.arange(2000 - 20 * part) % 32], rng) for part in (60, 90)
    )
    change = compare_states(AGE, before, after, quantiles=[0.5])
    assert (change.difference[0], change.p_value[0]) == (0, 1)
    assert compare_states(AGE, before, after, ranges=[(0, 16)]).p_value[0] < 1e-6


def test_what_does_not_compare_is_refused(tmp_path: Path) -> None:
    """Two kinds of results, other probabilities or buckets, and questions that the metric does not answer."""
    rng = np.random.default_rng(4)
    state = of_numbers(AGE, np.arange(300) % 32, rng)
    asked = quantiles(AGE, state, ASKED)
    with pytest.raises(ArgumentError, match="Quantiles and Ranges do not compare"):
        compare(asked, ranges(AGE, state, PARTS))
    with pytest.raises(EstimateError, match="not of the same probabilitys"):
        compare(asked, quantiles(AGE, state, [0.5]))
    coarse = define("hierarchical-histogram", epsilon=3, low=0, high=31, buckets=16, levels=2)
    other = quantiles(coarse, of_numbers(coarse, np.arange(300) % 32, rng), ASKED)
    with pytest.raises(EstimateError, match="different buckets"):
        compare(asked, other)
    assert compare(ranges(AGE, state, PARTS), ranges(coarse, of_numbers(coarse, np.arange(300) % 32, rng), PARTS)).n
    for wrong in ({"quantiles": ASKED, "ranges": PARTS}, {"candidates": ["3"], "ranges": PARTS}):
        with pytest.raises(EstimateError, match="one at a time"):
            compare_states(AGE, state, state, **wrong)  # type: ignore[arg-type]
    with pytest.raises(CandidateError, match="reports one value, not two"):
        compare_states(AGE, state, state, second=["x"])
    pairs = of_pairs(PAIR, np.arange(300) % 6, rng)
    with pytest.raises(EstimateError, match="neither quantiles nor ranges"):
        compare_states(PAIR, pairs, pairs, quantiles=ASKED)
