"""The library's noise has the exact law; its scale is the exact rational; a broken sampler is caught.

Samples cannot be seeded. Each test of a sample raises a false alarm with a probability of 1e-9, by the chi-square law
of its statistic, which cells of 50 and more keep it close to: below 1e-7 over all of them.
"""

from __future__ import annotations

import math
import secrets
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from scipy.stats import chi2

from hubbub_firmware.curator.errors import NoiseError
from hubbub_firmware.curator.noise import add_noise_of
from hubbub_registry.curator import Curated
from hubbub_registry.curator.law import half_width

from tests.firmware.curator import reference
from tests.firmware.curator.gateway import curated
from tests.firmware.curator.laws import g_statistic, law

FALSE_ALARM = 1e-9
SAMPLES = 4000
LAPLACE, GAUSSIAN = "discrete-laplace", "discrete-gaussian"
Answer = Callable[[list[tuple[int, float]]], int]
SCALES = [Fraction(1, 2), Fraction(3), Fraction(4923843153, 1 << 30)]


def with_scale(noise: str, scale: Fraction) -> Curated:
    """A curated metric with this noise."""
    return curated(noise=noise, scale=scale)


def fits(samples: list[int], noise: str, scale: Fraction) -> bool:
    """Whether samples pass for noise of this law."""
    statistic, freedom = g_statistic(samples, law(noise, scale))
    return bool(chi2.sf(statistic, freedom) > FALSE_ALARM)


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN])
def test_law(noise: str, scale: Fraction) -> None:
    """What the library adds to a value follows the exact law, for values near and far."""
    add_noise = add_noise_of(with_scale(noise, scale))
    for value in (0, -(1 << 53)):
        assert fits([add_noise(value) - value for _ in range(SAMPLES // 2)], noise, scale)


def test_broken_samplers_are_caught() -> None:
    """Too many zeros, a scale a third off, a Laplace for a Gaussian, and noise rounded to even: all are found."""
    scale = Fraction(3)

    def eager_zero() -> int:
        """Algorithm 2 that gives 0 where it should begin again."""
        return reference.laplace_attempt(scale, secrets.randbelow, reference.bernoulli_exp) or 0

    broken: list[tuple[str, Callable[[], int]]] = [
        (LAPLACE, eager_zero),
        (LAPLACE, lambda: reference.laplace(scale * Fraction(4, 3))),
        (GAUSSIAN, lambda: reference.laplace(scale)),
        (GAUSSIAN, lambda: 2 * (reference.gaussian(scale) // 2)),
    ]
    for noise, draw in broken:
        assert not fits([draw() for _ in range(SAMPLES)], noise, scale)


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN])
def test_coverage(noise: str) -> None:
    """95 % intervals hold the truth as often as the law says: within 6.2 standard errors, a false alarm of 1e-9."""
    scale = Fraction(5)
    add_noise, wide = add_noise_of(with_scale(noise, scale)), half_width(noise, scale)
    exact = math.fsum(p for x, p in law(noise, scale).items() if abs(x) <= wide)
    assert 0.95 <= exact < 0.97
    held = sum(abs(add_noise(1000) - 1000) <= wide for _ in range(SAMPLES))
    assert abs(held / SAMPLES - exact) <= 6.2 * math.sqrt(exact * (1 - exact) / SAMPLES)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("kind", ["count", "sum", "histogram"])
def test_the_library_agrees_on_the_loss(kind: str, adjacency: str) -> None:
    """At the same sensitivity and scale, the library's own privacy map gives our exact loss, rounded up."""
    from opendp.domains import atom_domain
    from opendp.measurements import make_gaussian, make_laplace
    from opendp.metrics import absolute_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    keys: dict[str, Any] = {
        "statistic": kind,
        "adjacency": adjacency,
        "low": -3,
        "high": 5,
        "buckets": 3,
        "declared": Fraction(1, 3),
    }
    one = curated(noise=LAPLACE, **keys)
    laplace: Any = make_laplace(atom_domain(T="i64"), absolute_distance(T="i64"), float(one.scale))
    assert one.loss <= Fraction(laplace.map(d_in=one.l1)) <= one.loss * (1 + Fraction(1, 10**14))
    one = curated(noise=GAUSSIAN, **keys)
    gaussian: Any = make_gaussian(atom_domain(T="i64"), absolute_distance(T="f64"), float(one.scale))
    shown = Fraction(gaussian.map(math.sqrt(one.l2_squared)))
    assert abs(shown - one.loss) <= one.loss * Fraction(1, 10**14)


def test_the_largest_scale_does_not_wrap() -> None:
    """At the largest scale and the largest sum no release leaves the 62 bits, so nothing is cut off, or wraps."""
    for noise in (LAPLACE, GAUSSIAN):
        add_noise = add_noise_of(with_scale(noise, Fraction(1 << 44)))
        for value in (1 << 53, -(1 << 53)):
            assert all(abs(add_noise(value)) < 1 << 62 for _ in range(50))


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN])
def test_refusals(noise: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No release without the exact noise: no scale that is rounded, none of 0, no sum too large, no missing library."""
    for scale in (Fraction(1, 3), Fraction(0)):
        with pytest.raises(NoiseError, match="its scale is no float"):
            add_noise_of(with_scale(noise, scale))
    with pytest.raises(NoiseError, match="beyond 62 bits"):
        add_noise_of(with_scale(noise, Fraction(1)))(1 << 63)
    monkeypatch.setitem(sys.modules, "opendp.measurements", None)
    with pytest.raises(NoiseError, match=r"pip install 'hubbub\[curator\]'"):
        add_noise_of(with_scale(noise, Fraction(1)))


def test_a_failing_library_tells_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where drawing fails, the error holds neither the value nor the library's text."""
    import opendp.measurements
    from opendp.mod import OpenDPException

    def failing(*_arguments: object) -> Callable[[int], int]:
        def draw(value: int) -> int:
            raise OpenDPException("FailedFunction", f"at {value}")

        return draw

    monkeypatch.setattr(opendp.measurements, "make_laplace", failing)
    with pytest.raises(NoiseError) as caught:
        add_noise_of(curated())(987654321)
    assert "987654321" not in str(caught.value)
    assert caught.value.__suppress_context__


class AskedError(Exception):
    """A sampler asks its source for something that its script does not hold: each answer, and how likely it is."""

    def __init__(self, answers: list[tuple[int, float]]) -> None:
        self.answers = answers


def outcomes(
    draw: Callable[[reference.Uniform, reference.Coin], int | None], least: float
) -> tuple[dict[int | None, float], float]:
    """The probability of each result of ``draw``, over every way its source can answer.

    Ways that are less likely than ``least`` are not followed; what they add up to comes second.
    """
    found: dict[int | None, float] = {}
    left = 0.0
    waiting: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    while waiting:
        script, probability = waiting.pop()
        if probability < least:
            left += probability
            continue
        answers = iter(script)

        def answer(asked: list[tuple[int, float]], answers: Iterator[int] = answers) -> int:
            for each in answers:
                return each
            raise AskedError(asked)

        def uniform(below: int, answer: Answer = answer) -> int:
            return answer([(each, 1 / below) for each in range(below)])

        def coin(gamma: Fraction, answer: Answer = answer) -> bool:
            shown = math.exp(-gamma)
            return bool(answer([(1, shown), (0, 1 - shown)]))

        try:
            result = draw(uniform, coin)
        except AskedError as asked:
            waiting += [((*script, each), probability * share) for each, share in asked.answers if share > 0]
        else:
            found[result] = found.get(result, 0.0) + probability
    return found, left


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 2), Fraction(2, 3), Fraction(1), Fraction(5, 3)], ids=str)
def test_reference_bernoulli(gamma: Fraction) -> None:
    """By enumeration of every draw, the reference's coin is exp(-gamma), to within what is left over."""
    found, left = outcomes(lambda uniform, _coin: reference.bernoulli_exp(gamma, uniform), least=1e-7)
    assert left < 1e-4
    assert found.get(True, 0) - 1e-12 <= math.exp(-gamma) <= found.get(True, 0) + left + 1e-12


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(5, 3), Fraction(4)], ids=str)
def test_reference_laplace(scale: Fraction) -> None:
    """By enumeration of a round over exact coins, a round that gives a result gives it by the exact law."""
    found, left = outcomes(lambda uniform, coin: reference.laplace_attempt(scale, uniform, coin), least=1e-15)
    assert left < 1e-13
    given = 1 - found.pop(None)
    for x, exact in law(LAPLACE, scale).items():
        assert found.get(x, 0) / given == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(5, 3), Fraction(4)], ids=str)
def test_reference_gaussian(scale: Fraction) -> None:
    """What the reference keeps of the Laplace law is in proportion to the exact Gaussian law, at every result."""
    kept = {
        y: probability * math.exp(-reference.gaussian_cost(scale, y))
        for y, probability in law(LAPLACE, Fraction(int(scale) + 1)).items()
    }
    whole = math.fsum(kept.values())
    for x, exact in law(GAUSSIAN, scale).items():
        assert kept[x] / whole == pytest.approx(exact, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("noise", [LAPLACE, GAUSSIAN])
def test_reference_samples(noise: str) -> None:
    """The reference passes the test that the library passes."""
    scale = Fraction(7, 2)
    draw = reference.laplace if noise == LAPLACE else reference.gaussian
    assert fits([draw(scale) for _ in range(SAMPLES)], noise, scale)
