"""The result object: intervals, tests, corrections, the consistent projection, and how it prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hubbub_decoder import CandidateError, EstimateError, Estimates, State, estimate, partial
from hubbub_decoder.consistent import onto_simplex, within_simplex
from hubbub_decoder.statistics.significance import adjusted
from hubbub_registry import Metric

from tests.decoder.reports import random_records
from tests.registries import metric_of

counts = st.lists(st.floats(-1000, 1000), min_size=1, max_size=12).map(np.array)


@pytest.fixture
def metric(tmp_path: Path) -> Metric:
    return metric_of(tmp_path, "randomized-response")


def of(metric: Metric, **keys: Any) -> Estimates:
    return estimate(metric, State.of(metric, 1000, counts=np.array([100, 420, 160, 160, 160])), **keys)


def test_rows_are_sorted_and_nothing_is_clipped(metric: Metric) -> None:
    """The most frequent comes first, equals keep the registry's order, and an estimate below zero is shown as it is."""
    estimates = of(metric)
    assert estimates.value == ("b", "c", "d", "e", "a")
    assert (np.diff(estimates.count) <= 0).all()
    assert estimates.count[-1] < 0
    assert estimates.low[-1] < 0
    assert estimates.count.sum() == pytest.approx(1000)
    assert estimates.frequency == pytest.approx(estimates.count / 1000)


def test_header_figures(metric: Metric) -> None:
    """n, mechanism and the exact epsilon come from the definition, and epsilon is never rounded down."""
    estimates = of(metric)
    assert (estimates.n, estimates.mechanism, estimates.ratio) == (1000, "randomized-response", metric.ratio)
    assert metric.exact_epsilon <= estimates.epsilon <= float(metric.epsilon)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_intervals_of_many_reports_are_wilsons(tmp_path: Path, level: float) -> None:
    """Where many reports are expected, an estimate is z standard errors (under the end's own count) from each end."""
    metric = metric_of(tmp_path, "randomized-response")
    counts = np.array([100, 420, 160, 160, 160]) * 10**6
    estimates = estimate(metric, State.of(metric, 10**9, counts=counts))
    inside = (estimates.count > 0) & (estimates.count < estimates.n)
    z = stats.norm.isf((1 - level) / 2)
    for end in estimates.confidence_interval(level):
        spread = np.sqrt(estimates.null_variance + estimates.slope * end)
        assert np.abs(estimates.count - end)[inside] == pytest.approx(z * spread[inside], rel=1e-3)
    assert (estimates.at_level(level).low == estimates.confidence_interval(level).low).all()


def test_simultaneous_intervals_are_bonferronis(metric: Metric) -> None:
    """Simultaneous intervals of five values at 95 % are single ones at 99 %."""
    wide, single = of(metric).confidence_interval(simultaneous=True), of(metric).confidence_interval(0.99)
    assert wide.low == pytest.approx(single.low)
    assert wide.high == pytest.approx(single.high)


def test_p_value_is_one_sided(metric: Metric) -> None:
    """The p-value is the exact binomial chance of as many reports where nobody holds the value."""
    estimates = of(metric)
    truth = metric.device.parameters["threshold"] / (1 << metric.device.parameters["precision"])
    expected = stats.binom.sf(np.array([420, 160, 160, 160, 100]) - 1, 1000, (1 - truth) / 5)
    assert estimates.p_value == pytest.approx(expected)
    assert estimates.p_value[-1] > 0.5


def test_standard_error_is_the_line_at_the_estimate(metric: Metric) -> None:
    """The standard error takes the estimate, held within [0, n], for the truth."""
    estimates = of(metric)
    inside = np.clip(estimates.count, 0, estimates.n)
    assert estimates.std_error**2 == pytest.approx(estimates.null_variance + estimates.slope * inside)


@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=10).map(np.array), alpha=st.floats(0.001, 0.5))
def test_holm_is_the_step_down_procedure(p: np.ndarray, alpha: float) -> None:
    """Holm names values in rising p-value until one is above alpha over the number left, and none after it."""
    order = np.argsort(p, kind="stable")
    named = set()
    for step, index in enumerate(order):
        if p[index] * (len(p) - step) > alpha:
            break
        named.add(int(index))
    assert set(np.flatnonzero(adjusted(p, "holm") <= alpha).tolist()) == named


@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=10).map(np.array), alpha=st.floats(0.001, 0.5))
def test_corrections_are_ordered(p: np.ndarray, alpha: float) -> None:
    """Whatever Bonferroni names Holm names, and whatever Holm names no correction names, too."""
    bonferroni, holm, plain = (adjusted(p, kind) <= alpha for kind in ("bonferroni", "holm", "none"))
    assert not (bonferroni & ~holm).any()
    assert not (holm & ~plain).any()


def test_benjamini_hochberg_on_a_known_case() -> None:
    """On the p-values of Benjamini and Hochberg's own paper theirs names four at 0.05, and Bonferroni three."""
    p = np.array([
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590,
        1.0000,
    ])  # fmt: skip
    assert (adjusted(p, "bh") <= 0.05).sum() == 4
    assert (adjusted(p, "bonferroni") <= 0.05).sum() == 3


def test_nonsense_questions_are_refused(metric: Metric) -> None:
    """A level or alpha outside (0, 1) and an unknown correction are EstimateErrors."""
    estimates = of(metric)
    for ask in (
        lambda: estimates.confidence_interval(95),
        lambda: estimates.at_level(1.0),
        lambda: estimates.significant(0.0),
        lambda: estimates.significant(0.05, "fdr"),  # type: ignore[arg-type]
    ):
        with pytest.raises(EstimateError):
            ask()


@given(count=counts, total=st.floats(0.01, 2000))
def test_projection_onto_the_simplex(count: np.ndarray, total: float) -> None:
    """The projection is in the simplex, and takes one number off every count that stays, which is optimal."""
    projected = onto_simplex(count, total)
    assert projected.sum() == pytest.approx(total, rel=1e-6, abs=1e-6)
    assert (projected >= 0).all()
    kept = projected > 0
    taken = (count - projected)[kept]
    assert taken == pytest.approx(taken[0], abs=1e-6)
    assert (count[~kept] <= taken[0] + 1e-6).all()


@given(count=counts, total=st.floats(0.01, 2000))
def test_projection_within_the_simplex(count: np.ndarray, total: float) -> None:
    """Counts that already fit are only clipped at zero; others end on the simplex."""
    projected = within_simplex(count, total)
    clipped = np.maximum(count, 0)
    expected = clipped if clipped.sum() <= total else onto_simplex(count, total)
    assert projected == pytest.approx(expected)


def test_consistent_is_beside_and_not_instead(metric: Metric) -> None:
    """consistent() is non-negative and adds up to n, hands out a copy, and leaves count as it is."""
    estimates = of(metric)
    projected = estimates.consistent()
    assert (projected >= 0).all()
    assert projected.sum() == pytest.approx(estimates.n)
    projected[:] = 0
    assert estimates.consistent().sum() == pytest.approx(estimates.n)
    assert estimates.count[-1] < 0


def test_to_pandas(metric: Metric) -> None:
    """The DataFrame has the command's columns, in its order, one row a value."""
    frame = of(metric).to_pandas(consistent=True)
    assert list(frame.columns) == [
        "value", "count", "frequency", "std_error", "low", "high", "p_value", "significant", "consistent",
    ]  # fmt: skip
    assert frame["value"].tolist() == ["b", "c", "d", "e", "a"]
    assert frame["significant"].dtype == bool


def test_printing_shows_a_table(metric: Metric) -> None:
    """str and repr show the header and every value's row."""
    text = repr(of(metric))
    assert "n = 1,000 reports, randomized-response, epsilon = " in text
    assert all(f" {value} " in text for value in metric.values)
    assert str(of(metric)) == text


def test_candidates_of_a_closed_domain(metric: Metric) -> None:
    """A subset of the values gets the figures it has among all of them; an outsider or a repetition is refused."""
    few = of(metric, candidates=["a", "b"])
    assert few.value == ("b", "a")
    assert few.count == pytest.approx(of(metric).count[[0, 4]])
    assert few.consistent() == pytest.approx(of(metric).consistent()[[0, 4]])
    for candidates in (["a", "z"], ["a", "a"], []):
        with pytest.raises(CandidateError):
            of(metric, candidates=candidates)


def test_no_reports_are_no_estimate(metric: Metric) -> None:
    """A state of no reports is an EstimateError, not a table of zeros."""
    with pytest.raises(EstimateError, match="no reports"):
        estimate(metric, State.of(metric, 0, counts=np.zeros(5, np.int64)))


@pytest.mark.parametrize("mechanism", ["count-mean-sketch", "rappor"])
def test_an_open_domain_needs_candidates(tmp_path: Path, mechanism: str) -> None:
    """Without candidates the error says where to name them."""
    metric = metric_of(tmp_path, mechanism)
    with pytest.raises(CandidateError, match="--candidates"):
        estimate(metric, partial(metric, random_records(metric, 0, 1)))
