"""Composition through privacy loss distributions, against exact sums."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from itertools import pairwise

import pytest
from dp_accounting.pld.common import DifferentialPrivacyParameters
from dp_accounting.pld.privacy_loss_distribution import from_privacy_parameters
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub_registry.composition.closed import advanced, basic
from hubbub_registry.composition.errors import AccountingError
from hubbub_registry.composition.losses import MOST_RUNS, pld
from hubbub_registry.composition.part import Part, largest_variation, pure
from hubbub_registry.composition.renyi import rdp, zcdp
from hubbub_registry.exact import exp_lower, ln_upper

from tests.registry.composition.exact import Pair, hockey_stick, repeated, side_by_side, three_points

MILLIONTH = Fraction(1, 10**6)


def part_of(ratio: Fraction, variation: Fraction, count: int) -> Part:
    return Part(ln_upper(ratio), variation, count)


def assert_tight(parts: list[Part], exact: Pair, delta: Fraction, slack: float) -> None:
    """The exact delta at the answer is at most ``delta``, and a little below the answer it is above."""
    epsilon = pld(parts, delta)
    assert hockey_stick(exact, exp_lower(Fraction(epsilon))) <= delta
    if epsilon > slack:
        assert hockey_stick(exact, exp_lower(Fraction(epsilon - slack))) > delta


def test_references() -> None:
    """64 reports of 0.5 cost 24.0957, and 365 of 0.1 cost 10.3139, at delta 1e-6 (fault 12)."""
    assert pld([pure(Fraction(1, 2), 64)], MILLIONTH) == pytest.approx(24.0957, abs=1e-4)
    assert pld([pure(Fraction(1, 10), 365)], MILLIONTH) == pytest.approx(10.3139, abs=1e-4)


def test_repeats_count() -> None:
    """30 reports of epsilon 1 do not cost what one does, which an accountant once said (fault 12)."""
    assert pld([pure(Fraction(1))], MILLIONTH) < 1
    assert pld([pure(Fraction(1), 30)], MILLIONTH) > 20


@pytest.mark.parametrize("delta", [Fraction(1, 100), MILLIONTH, Fraction(1, 10**12)])
@pytest.mark.parametrize("count", [1, 2, 7, 40])
@pytest.mark.parametrize("ratio", [Fraction(11, 10), Fraction(3), Fraction(50)])
def test_randomized_response(ratio: Fraction, count: int, delta: Fraction) -> None:
    """Repeated randomized response costs what the exact binomial sums say, to 1e-6 and never less."""
    variation = largest_variation(ratio)
    assert_tight([part_of(ratio, variation, count)], repeated(three_points(ratio, variation), count), delta, 1e-6)


@pytest.mark.parametrize("share", [Fraction(1, 10), Fraction(9, 10)])
@pytest.mark.parametrize("count", [1, 5, 20])
def test_own_variation(count: int, share: Fraction) -> None:
    """A smaller total variation costs less, by exactly as much as the exact sums say."""
    ratio = Fraction(4)
    variation = largest_variation(ratio) * share
    exact = repeated(three_points(ratio, variation), count)
    assert_tight([part_of(ratio, variation, count)], exact, MILLIONTH, 1e-6)


@pytest.mark.parametrize("counts", [(1, 1), (3, 8), (12, 2)])
def test_several_metrics(counts: tuple[int, int]) -> None:
    """Metrics of different epsilon, variation and count cost together what the exact sums say, to 1e-4."""
    kinds = [(Fraction(2), largest_variation(Fraction(2))), (Fraction(7), Fraction(1, 3))]
    parts = [part_of(*kind, count) for kind, count in zip(kinds, counts, strict=True)]
    one, other = (repeated(three_points(*kind), count) for kind, count in zip(kinds, counts, strict=True))
    assert_tight(parts, side_by_side(one, other), MILLIONTH, 1e-4)


@given(
    st.lists(
        st.tuples(st.fractions(Fraction(1, 100), 6), st.fractions(Fraction(1, 100), 1), st.integers(1, 300)),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([Fraction(1, 100), MILLIONTH, Fraction(1, 10**12)]),
)
@settings(max_examples=25, deadline=None)
def test_order(kinds: list[tuple[Fraction, Fraction, int]], delta: Fraction) -> None:
    """The tighter an account the smaller its figure: PLD, Renyi, zero-concentration; and none is over the plain sum."""
    parts = [Part(epsilon, pure(epsilon).variation * share, count) for epsilon, share, count in kinds]
    figures = [pld(parts, delta), rdp(parts, delta), zcdp(parts, delta), float(basic(parts)) * (1 + 1e-12)]
    grid = 1e-4 * (1 + figures[-1])  # what rounding up to a shared grid may cost
    assert all(tight <= loose + grid for tight, loose in pairwise(figures))
    assert figures[0] <= advanced(parts, delta) + grid
    assert advanced(parts, delta) <= figures[-1]


def test_large_epsilon() -> None:
    """A part of an epsilon past what a float can exponentiate adds its epsilon, and overflows nothing."""
    small = [pure(Fraction(1, 10), 365)]
    for figure in (pld, rdp):
        together = figure([pure(Fraction(5000)), *small], MILLIONTH)
        assert together == pytest.approx(5000 + figure(small, MILLIONTH), abs=0.01)


@pytest.mark.parametrize("epsilon", [Fraction(7, 2), Fraction(4)])
@pytest.mark.parametrize("count", [190, 200, 210, 1000])
def test_large_sum(epsilon: Fraction, count: int) -> None:
    """Sums past what a float can exponentiate stay between the mean loss and the plain sum."""
    found = pld([pure(epsilon, count)], MILLIONTH)
    drift = count * float(epsilon) * math.tanh(epsilon / 2)
    assert drift <= found <= count * float(epsilon) * (1 + 1e-12)


@pytest.mark.parametrize("delta", [Fraction(1, 100), MILLIONTH])
def test_dp_accounting_agrees(delta: Fraction) -> None:
    """Where dp-accounting is sound, its composition of the same metrics gives the same figure to its grid."""
    parts = [pure(Fraction(4), 52), pure(Fraction(1), 13), pure(Fraction(1, 10), 365)]
    composed = reduce(
        lambda one, other: one.compose(other),
        [
            from_privacy_parameters(DifferentialPrivacyParameters(float(p.epsilon), 0)).self_compose(p.count)
            for p in parts
        ],
    )
    theirs = composed.get_epsilon_for_delta(float(delta))
    assert theirs - 1e-4 * sum(part.count for part in parts) <= pld(parts, delta) <= theirs + 1e-3


def test_large_sum_at_a_small_delta() -> None:
    """Sums past 700 at delta 1e-12 stay below what Renyi divergences give."""
    kinds = [
        (Fraction(6), Fraction(1, 5), 91),
        (Fraction(9, 2), Fraction(2, 5), 123),
        (Fraction(4), Fraction(1, 6), 158),
    ]
    parts = [Part(*kind) for kind in kinds]
    delta = Fraction(1, 10**12)
    assert rdp(parts, delta) - 40 < pld(parts, delta) < rdp(parts, delta)


def test_nothing() -> None:
    """No report costs nothing."""
    assert pld([], MILLIONTH) == advanced([], MILLIONTH) == rdp([], MILLIONTH) == zcdp([], MILLIONTH) == 0
    assert pld([pure(Fraction(1), 0)], MILLIONTH) == 0


def test_too_many() -> None:
    """Over a million runs are refused with what to do."""
    with pytest.raises(AccountingError, match="ask for a shorter --horizon"):
        pld([pure(Fraction(1, 1000), MOST_RUNS + 1)], MILLIONTH)
    assert pld([pure(Fraction(1, 1000), MOST_RUNS)], MILLIONTH) == pytest.approx(4.88654, abs=1e-4)


def test_a_lost_repeat_is_caught() -> None:
    """The exact sums tell a composition that drops one run of twenty from one that does not."""
    ratio = Fraction(3)
    exact = repeated(three_points(ratio, largest_variation(ratio)), 20)
    short = pld([part_of(ratio, largest_variation(ratio), 19)], MILLIONTH)
    assert hockey_stick(exact, exp_lower(Fraction(short))) > MILLIONTH
