"""How far a belief can move."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from hubbub_registry.composition.prior import posterior
from hubbub_registry.exact import ln_upper


@given(st.fractions(Fraction(1, 10**6), Fraction(999_999, 10**6)), st.fractions(1, 10**6))
def test_bounds(prior: Fraction, ratio: Fraction) -> None:
    """From p/(p + (1-p)E) to pE/(pE + 1-p): outwards from the exact bounds by less than one part in 1e12."""
    low, high = posterior(prior, ln_upper(ratio))
    least, most = prior / (prior + (1 - prior) * ratio), prior * ratio / (prior * ratio + 1 - prior)
    assert least * (1 - Fraction(1, 10**12)) <= Fraction(low) <= least
    assert most <= Fraction(high) <= most * (1 + Fraction(1, 10**12))
    assert 0 <= low <= prior <= high <= 1


@given(st.fractions(Fraction(1, 100), Fraction(99, 100)), st.integers(2, 50), st.integers(2, 50))
def test_bayes(prior: Fraction, one: int, other: int) -> None:
    """The bound is Bayes' rule for the output with the worst ratio, and no output of a smaller ratio passes it."""
    ratio = Fraction(max(one, other), min(one, other))
    low, high = posterior(prior, ln_upper(Fraction(50)))
    seen = prior * ratio / (prior * ratio + 1 - prior)
    assert low <= seen <= high
    assert low <= prior / (prior + (1 - prior) * ratio) <= high


def test_without_limit() -> None:
    """An epsilon past every float leaves nothing excluded."""
    assert posterior(Fraction(1, 2), Fraction(10**6)) == (0.0, 1.0)
    low, high = posterior(Fraction(1, 2), Fraction(699))
    assert 0 <= low < 1e-300
    assert high == 1
