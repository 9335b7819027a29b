"""Who may claim amplification, and what it is worth over a horizon."""

from __future__ import annotations

from dataclasses import astuple
from fractions import Fraction
from pathlib import Path

import pytest

from hubbub_registry.composition.amplified import one_report, over_horizon, refusal
from hubbub_registry.composition.answer import answer
from hubbub_registry.composition.losses import pld
from hubbub_registry.composition.parts import any_history
from hubbub_registry.composition.question import Question

from tests.registries import MECHANISMS, metric_of, registry_of

MILLIONTH = Fraction(1, 10**6)
YEAR = 365 * 86400


@pytest.mark.parametrize("name", MECHANISMS)
def test_refusals(tmp_path: Path, name: str) -> None:
    """Metrics with permanent noise get nothing, and all others do."""
    metric = metric_of(tmp_path, name)
    assert (refusal(metric) is None) == (metric.permanent_ratio is None)


def test_cohorts(tmp_path: Path) -> None:
    """A device keeps its cohort, so one-time RAPPOR gets nothing unless there is only one."""
    keys = {"reports": "one-time", "epsilon": 4.4, "p": None, "q": None}
    assert "cohort" in (refusal(metric_of(tmp_path, "rappor", cohorts=8, **keys)) or "")
    assert refusal(metric_of(tmp_path, "rappor", cohorts=1, **keys)) is None


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in ("rappor", "one-bit-mean", "d-bit-flip")])
def test_own_parameters_are_tighter(tmp_path: Path, name: str) -> None:
    """Each analysis improves on the one before: own parameters, epsilon alone, clones, the closed form, local."""
    metric = metric_of(tmp_path, name)
    figures = astuple(one_report(metric, 10**5, MILLIONTH))
    assert list(figures) == sorted(figures)
    assert figures[-1] <= metric.exact_epsilon * (1 + Fraction(1, 10**12))


def test_over_horizon(tmp_path: Path) -> None:
    """Batches compose to less than local reports do, more batches to more; permanent noise stays at its local cost."""
    fresh = metric_of(tmp_path, "unary-encoding", epsilon=1)
    memoised = metric_of(tmp_path, "rappor", lifetime_epsilon=5)
    year, month = Question(YEAR, MILLIONTH), Question(30 * 86400, MILLIONTH)
    local = pld(any_history([fresh], year), MILLIONTH)
    assert 0 < over_horizon([fresh], month, 10**5) < over_horizon([fresh], year, 10**5) < local / 10
    assert over_horizon([memoised], year, 10**5) == pld(any_history([memoised], year), MILLIONTH)
    both = over_horizon([fresh, memoised], year, 10**5)
    assert 5 < both < 5.01 + over_horizon([fresh], year, 10**5)


def test_groups_cost_more(tmp_path: Path) -> None:
    """Several reports of a device in one batch, or several devices of a household, cost more than one."""
    one = metric_of(tmp_path, "unary-encoding", epsilon=1)
    several = metric_of(tmp_path, "unary-encoding", epsilon=1, reports_per_period=4)
    month = Question(30 * 86400, MILLIONTH)
    alone = over_horizon([one], month, 10**4)
    assert alone < over_horizon([several], month, 10**4)
    assert alone < over_horizon([one], Question(30 * 86400, MILLIONTH, household=4), 10**4)


def test_tiny_batch(tmp_path: Path) -> None:
    """Where the batch hides nothing the figure is the local one."""
    metric = metric_of(tmp_path, "unary-encoding", epsilon=1, reports_per_period=3)
    month = Question(30 * 86400, MILLIONTH)
    assert over_horizon([metric], month, 2) == pld(any_history([metric], month), MILLIONTH)


def test_no_shuffler_no_claim(tmp_path: Path) -> None:
    """Without a stated shuffler nothing amplified is even computed."""
    registry = registry_of(tmp_path, m={"mechanism": "unary-encoding"})
    shuffled = answer(registry, Question(YEAR, MILLIONTH, batch=10**5)).shuffled
    assert shuffled is not None
    assert (shuffled.shuffler, shuffled.horizon) == ("", None)
    assert not shuffled.one_report
    assert not shuffled.one_device
    assert answer(registry, Question(YEAR, MILLIONTH)).shuffled is None
