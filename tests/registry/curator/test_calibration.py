"""The scale of the noise never costs more than what is declared, and hardly less; conversions are never too low."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from hubbub_registry.curator.accounting import Loss, mixed, releases_paid, total
from hubbub_registry.curator.concentrated import epsilon_of
from hubbub_registry.curator.law import half_width, std_error
from hubbub_registry.curator.scale import BITS, gaussian_rho, gaussian_scale, laplace_epsilon, laplace_scale

from tests.firmware.curator.gateway import curated
from tests.registry.curator.tables import COUNT, curated_of, gaussian

LOSSES: SearchStrategy[Fraction] = st.fractions(Fraction(1, 10**9), 16, max_denominator=10**12)
SENSITIVITIES = st.integers(1, 1 << 50)


@given(SENSITIVITIES, LOSSES)
def test_laplace(l1: int, epsilon: Fraction) -> None:
    """The realised epsilon is an exact rational in (declared (1 - 2^-31), declared], and the scale is a float."""
    scale = laplace_scale(l1, epsilon)
    assert epsilon * (1 - Fraction(1, 1 << (BITS - 1))) < laplace_epsilon(l1, scale) <= epsilon
    assert Fraction(float(scale)) == scale


@given(SENSITIVITIES, LOSSES)
def test_gaussian(l2: int, rho: Fraction) -> None:
    """The realised rho is an exact rational in (declared (1 - 2^-28), declared], and the scale is a float."""
    scale = gaussian_scale(l2**2, rho)
    assert rho * (1 - Fraction(1, 1 << (BITS - 4))) < gaussian_rho(l2**2, scale) <= rho
    assert Fraction(float(scale)) == scale


@given(LOSSES, st.integers(3, 300))
def test_concentrated(rho: Fraction, digits: int) -> None:
    """Epsilon at delta is rho + 2 sqrt(rho ln(1/delta)), never below it and by less than one part in 1e20."""
    shown = epsilon_of(rho, Fraction(1, 10**digits))
    with localcontext(prec=80):
        exact = Decimal(rho.numerator) / Decimal(rho.denominator)
        exact += 2 * (exact * digits * Decimal(10).ln()).sqrt()
        printed = Decimal(shown.numerator) / Decimal(shown.denominator)
        assert exact - Decimal("1e-70") <= printed <= exact * (1 + Decimal("1e-20"))


def test_concentrated_nothing() -> None:
    """What releases nothing costs nothing."""
    assert epsilon_of(Fraction(0), Fraction(1, 10**6)) == 0


def test_sum_of_both_kinds() -> None:
    """Pure epsilon and rho at a delta add up as basic composition says; without rho there is no delta."""
    delta = Fraction(1, 10**6)
    assert Loss(Fraction(1), Fraction(1, 2), delta).epsilon == 1 + epsilon_of(Fraction(1, 2), delta)
    assert Loss(Fraction(1), Fraction(0), None).epsilon == 1
    assert total([], "lifetime") == Loss(Fraction(0), Fraction(0), None)


STATISTICS = (("count", 0, 0), ("sum", -3, 5), ("sum", 2, 7), ("histogram", 0, 9))


@pytest.mark.parametrize("gaussian_noise", [False, True])
@pytest.mark.parametrize(("statistic", "low", "high"), STATISTICS)
def test_a_sum_over_different_neighbours_is_for_the_larger_set(
    gaussian_noise: bool, statistic: str, low: int, high: int
) -> None:
    """Beside a metric of replace, one of add-remove counts with what its scale costs under replace, exactly."""
    noise = "discrete-gaussian" if gaussian_noise else "discrete-laplace"
    keys = {"statistic": statistic, "low": low, "high": high, "buckets": 2 if statistic == "histogram" else 0}
    one = curated(name="a", noise=noise, **keys)
    other = curated(name="b", noise=noise, adjacency="replace", **keys)
    largest, all_of_it = max(abs(low), abs(high)), max(high, 0) - min(low, 0)
    factor = {"count": Fraction(1), "histogram": Fraction(2), "sum": Fraction(all_of_it, largest or 1)}[statistic]
    if gaussian_noise and statistic == "sum":
        factor *= factor
    whole = total([one, other], "per_period")
    assert whole.rho + whole.pure == factor * one.loss + other.loss
    assert mixed([one, other])
    for alike in ([one, one], [other, other]):
        same = total(alike, "per_period")
        assert same.rho + same.pure == 2 * alike[0].loss
        assert not mixed(alike)
    life = total([one, other], "lifetime")
    paid = releases_paid(one), releases_paid(other)
    assert life.rho + life.pure == paid[0] * factor * one.loss + paid[1] * other.loss


def probability(noise: str, scale: Fraction, x: int) -> float:
    """P(noise = x), up to a constant."""
    s = float(scale)
    return math.exp(-abs(x) / s) if noise == "discrete-laplace" else math.exp(-(x * x) / (2 * s * s))


SCALES = [Fraction(1, 8), Fraction(1, 2), Fraction(1), Fraction(7, 3), Fraction(20), Fraction(333, 4)]


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("noise", ["discrete-laplace", "discrete-gaussian"])
def test_interval_and_error(noise: str, scale: Fraction) -> None:
    """By summing the law: 95 % lie within the half width, fewer within one step less, and the error is its root."""
    reach = range(-int(60 * scale) - 60, int(60 * scale) + 61)
    weights = {x: probability(noise, scale, x) for x in reach}
    whole = math.fsum(weights.values())
    wide = half_width(noise, scale)

    def within(h: int) -> float:
        return math.fsum(weights[x] for x in range(-h, h + 1)) / whole

    assert within(wide) >= 0.95 - 1e-12
    assert wide == 0 or within(wide - 1) < 0.95
    variance = math.fsum(x * x * weight for x, weight in weights.items()) / whole
    assert std_error(noise, scale) == pytest.approx(math.sqrt(variance), rel=1e-12)


@pytest.mark.parametrize("noise", ["discrete-laplace", "discrete-gaussian"])
@pytest.mark.parametrize("scale", [Fraction(999), Fraction(1001), Fraction(1 << 40)], ids=str)
def test_interval_of_large_scales(noise: str, scale: Fraction) -> None:
    """At large scales interval and error are those of the continuous laws, to within a step or two."""
    s = float(scale)
    wide, error = (s * math.log(20), s * math.sqrt(2)) if noise == "discrete-laplace" else (1.959963984540054 * s, s)
    assert wide - 1 <= half_width(noise, scale) <= wide + 2 + wide * 1e-12
    assert std_error(noise, scale) == pytest.approx(error, rel=1e-6)


def test_sum_takes_the_least_delta(tmp_path: Path) -> None:
    """Over metrics with several deltas the sum is at the least of them, which is the larger epsilon."""
    one = curated_of(tmp_path, gaussian(COUNT), delta="1e-6")
    other = curated_of(tmp_path, gaussian(COUNT), delta="1e-9")
    rho = one.loss + other.loss
    assert total([one, other], "per_period") == Loss(Fraction(0), rho, Fraction(1, 10**9))
