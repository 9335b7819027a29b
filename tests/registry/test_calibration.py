"""Calibration: never over the declared epsilon, at least 99.9 % of it, and with the least noise there is."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub_registry.calibration import CalibrationError, largest_signal, reduce, smallest_noise
from hubbub_registry.exact import exp_lower, ln_upper
from hubbub_registry.mechanisms import Settings, exact_ratio, mechanism

from tests.registry.bounds import exp_bounds

PUZZLE = {"hashes": 1 << 16, "fragment_hashes": 1 << 10, "positions": 8, "fragment_bytes": 2, "piece_bits": 8}
# Every mechanism that is calibrated from epsilon alone, over its shapes.
SHAPES: list[tuple[str, dict[str, Any], int]] = [
    *(("randomized-response", {}, d) for d in (2, 3, 7, 64, 1000)),
    *(("unary-encoding", {}, d) for d in (2, 100)),
    *(("hadamard-response", {"blocks": blocks}, 100) for blocks in (None, 1, 8, 64)),
    ("hadamard-response", {"blocks": None}, 2),
    *(("projective-geometry-response", {}, d) for d in (2, 5, 1024)),
    *(("subset-selection", {}, d) for d in (2, 3, 5, 1024)),
    *(("local-hashing", {"hashes": 1 << 16, "width": width}, 0) for width in (None, 2, 256)),
    *(
        ("sequence-fragment-puzzle", {**PUZZLE, "split": split}, 0)
        for split in (Fraction(2, 5), Fraction(1, 10), Fraction(9, 10))
    ),
    ("prefix-extending-method", {"longest": 15, "items": 1 << 18, "families": None}, 0),
    ("prefix-extending-method", {"longest": 31, "items": 4, "families": 1}, 0),
    ("count-mean-sketch", {"hashes": 1, "width": 2}, 0),
    ("count-mean-sketch", {"hashes": 1 << 16, "width": 1024}, 0),
    ("hadamard-count-mean-sketch", {"hashes": 1024, "width": 1 << 15}, 0),
    *(
        ("hierarchical-histogram", {"low": 0, "high": (1 << bits) - 1, "buckets": 1 << bits, "levels": levels}, 0)
        for bits, levels in ((1, None), (4, 4), (10, 1), (16, None))
    ),
    ("one-bit-mean", {"low": 0, "high": 100, "points": 2, "perturbation": None}, 0),
    ("d-bit-flip", {"low": 0, "high": 100, "buckets": 10, "bits": 1, "perturbation": None}, 0),
    ("d-bit-flip", {"low": 0, "high": 100, "buckets": 10, "bits": 4, "perturbation": None}, 0),
]
GRID = ["0.001", "0.01", "0.1", "0.5", "1", "1.0986122886681098", "2", "3", "4", "8", "16"]


def calibrated_ratio(name: str, keys: dict[str, Any], domain: int, epsilon: Fraction) -> Fraction:
    """e^epsilon that calibration realises."""
    return exact_ratio(name, mechanism(name).calibrate(Settings(epsilon, keys, 7, domain)).parameters)


@pytest.mark.parametrize("epsilon", GRID)
@pytest.mark.parametrize(("name", "keys", "domain"), SHAPES)
def test_grid(name: str, keys: dict[str, Any], domain: int, epsilon: str) -> None:
    """Over a grid, the realised ratio is at most e^epsilon and at least e^(0.999 epsilon)."""
    declared = Fraction(epsilon)
    ratio = calibrated_ratio(name, keys, domain, declared)
    assert ratio <= exp_bounds(declared)[0]
    assert ratio >= exp_bounds(declared * Fraction(999, 1000))[0] * (1 - Fraction(1, 10**40))


@given(st.sampled_from(SHAPES), st.fractions(min_value=Fraction(1, 1000), max_value=16, max_denominator=10**4))
@settings(max_examples=150, deadline=None)
def test_any_epsilon(shape: tuple[str, dict[str, Any], int], epsilon: Fraction) -> None:
    """For any epsilon, the realised one is at most the declared one and at least 99.9 % of it."""
    ratio = calibrated_ratio(*shape, epsilon)
    assert ratio <= exp_lower(epsilon)
    assert ln_upper(ratio) >= epsilon * Fraction(999, 1000)


def flipped_bit(threshold: int, precision: int) -> Fraction:
    """The ratio of one flipped bit."""
    return Fraction((1 << precision) - threshold, threshold)


def kept_value(threshold: int, precision: int) -> Fraction:
    """The ratio of k-RR over four values with a perfect uniform draw."""
    return 1 + Fraction(4 * threshold, (1 << precision) - threshold)


@pytest.mark.parametrize("epsilon", ["0.2", "0.7", "1", "1.5", "2.3", "3"])
@pytest.mark.parametrize(("search", "ratio"), [(smallest_noise, flipped_bit), (largest_signal, kept_value)])
def test_brute_force(
    epsilon: str,
    search: Callable[[Fraction, Callable[[int, int], Fraction]], tuple[int, int]],
    ratio: Callable[[int, int], Fraction],
) -> None:
    """The search finds what trying every threshold finds: the first precision that is good enough, at its best."""
    declared = Fraction(epsilon)
    bound = exp_lower(declared)
    for precision in range(1, 20):
        allowed = [(r, t) for t in range(1, 1 << precision) if (r := ratio(t, precision)) <= bound]
        if allowed and ln_upper(max(allowed)[0]) >= declared * Fraction(999, 1000):
            assert search(declared, ratio) == reduce(max(allowed)[1], precision)
            return
    pytest.fail("no precision was good enough")


def test_hopeless_epsilon() -> None:
    """An epsilon too small for 32 bits is refused, and the message says what to choose."""
    with pytest.raises(CalibrationError, match=r"epsilon: no threshold of 32 bits.*choose one between 0\.001 and 16"):
        smallest_noise(Fraction(1, 10**11), flipped_bit)


@given(st.integers(1, 20), st.data())
def test_reduce(precision: int, data: st.DataObject) -> None:
    """Reducing keeps the probability and leaves nothing more to reduce."""
    threshold = data.draw(st.integers(1, (1 << precision) - 1))
    fewer, bits = reduce(threshold, precision)
    assert Fraction(fewer, 1 << bits) == Fraction(threshold, 1 << precision)
    assert bits == 1 or fewer % 2 == 1


def test_best_number_of_blocks() -> None:
    """Hadamard response by default has the blocks with the least variance over a uniform population."""
    epsilon = Fraction(4)
    parameters = mechanism("hadamard-response").calibrate(Settings(epsilon, {"blocks": None}, 7, 1000)).parameters
    # (E - 1) / 2 is 26.8 at epsilon 4, and 32 is the nearest power of two on the scale of the variance.
    assert parameters["blocks_bits"] == 5
    assert parameters["blocks_bits"] + parameters["size_bits"] >= 10
