"""From a registry and a horizon to the parts of a composition."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hubbub_registry.composition.closed import basic
from hubbub_registry.composition.losses import pld
from hubbub_registry.composition.part import Part, pure
from hubbub_registry.composition.parts import any_history, unchanging
from hubbub_registry.composition.question import Question
from hubbub_registry.composition.variation import variation
from hubbub_registry.longitudinal import one_value_epsilon

from tests.registries import MECHANISMS, metric_of

MILLIONTH = Fraction(1, 10**6)
DAY = 86400


def question(days: int, household: int = 1) -> Question:
    return Question(days * DAY, MILLIONTH, household=household)


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name not in ("rappor", "one-bit-mean", "d-bit-flip")])
def test_fresh_noise(tmp_path: Path, name: str) -> None:
    """A metric that draws its noise anew is as many runs as it has reports, in every period that is begun."""
    metric = metric_of(tmp_path, name, period="7d", reports_per_period=3)
    expected = Part(metric.exact_epsilon, variation(metric), 3 * 2)
    assert any_history([metric], question(8)) == [expected] == unchanging([metric], question(8))


@pytest.mark.parametrize("name", ["rappor", "one-bit-mean", "d-bit-flip"])
def test_permanent_noise(tmp_path: Path, name: str) -> None:
    """Reports that share permanent noise are one run: of their sum, or of eps(t) where the value never changes."""
    metric = metric_of(tmp_path, name)
    [anything] = any_history([metric], question(20))
    [same] = unchanging([metric], question(20))
    assert (anything.count, anything.epsilon) == (1, 20 * metric.exact_epsilon)
    assert (same.count, same.epsilon) == (1, one_value_epsilon(metric, 20))
    assert same.epsilon < anything.epsilon


def test_independent_composition_would_flatter(tmp_path: Path) -> None:
    """Many values reported ten times each cost more than as many independent reports, and no more than is claimed."""
    metric = metric_of(tmp_path, "rappor", epsilon=0.05, f=0.9, p=0.45, q=0.55, bits=64, hashes=1)
    number = 2000
    ten_of_each = [pure(one_value_epsilon(metric, 10), number // 10)]
    as_if_independent = [Part(metric.exact_epsilon, variation(metric), number)]
    claimed = pld(any_history([metric], question(number)), MILLIONTH)
    assert pld(as_if_independent, MILLIONTH) < pld(ten_of_each, MILLIONTH) <= claimed


def test_lifetime_caps(tmp_path: Path) -> None:
    """No horizon asks for more reports than the ledger pays for, nor for more epsilon than the lifetime."""
    metric = metric_of(tmp_path, "unary-encoding", epsilon=1, lifetime_epsilon=5)
    assert any_history([metric], question(1000))[0].count == 5
    memoised = metric_of(tmp_path, "rappor", lifetime_epsilon=5)
    assert basic(any_history([memoised], question(1000))) == 5


def test_household(tmp_path: Path) -> None:
    """A household of k is k times the reports, or k runs of what shares its noise, and k times the plain sum."""
    for name in ("rappor", "unary-encoding"):
        metric = metric_of(tmp_path, name)
        one, three = any_history([metric], question(10)), any_history([metric], question(10, 3))
        assert three[0].count == 3 * one[0].count
        assert basic(three) == 3 * basic(one)


def test_nothing_to_send(tmp_path: Path) -> None:
    """An unbounded lifetime composes over the horizon all the same."""
    keys: dict[str, Any] = {"lifetime_epsilon": "unbounded", "unbounded_justification": "because a test needs it"}
    metric = metric_of(tmp_path, "unary-encoding", **keys)
    assert any_history([metric], question(100))[0].count == 100
