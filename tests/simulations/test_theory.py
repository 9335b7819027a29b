"""The formulas from the plan's integers are DESIGN's, written in epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hubbub_registry import Metric
from hubbub_simulations.accuracy import Study, run_study
from hubbub_simulations.bits import field, pack, uniform_below
from hubbub_simulations.definitions import define
from hubbub_simulations.theory import scaled_mse

VALUES = [f"v{i}" for i in range(20)]
FREQUENCIES = np.array([0.5, 0.3, 0.2] + [0.0] * 17)
N = 10_000


def _formula(metric: Metric) -> np.ndarray:
    return scaled_mse(metric, VALUES, FREQUENCIES, N)


@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
def test_at_frequency_zero_the_closed_domains_have_their_textbook_variance(epsilon: float) -> None:
    """(d-2+E)/(E-1)^2 for k-RR, 4E/(E-1)^2 for unary encoding, ((E+1)/(E-1))^2 for one-bit Hadamard response."""
    textbooks: tuple[tuple[str, dict[str, Any], Callable[[float], float]], ...] = (
        ("randomized-response", {}, lambda e: (len(VALUES) - 2 + e) / (e - 1) ** 2),
        ("unary-encoding", {}, lambda e: 4 * e / (e - 1) ** 2),
        ("hadamard-response", {"blocks": 1}, lambda e: ((e + 1) / (e - 1)) ** 2),
    )
    for mechanism, keys, textbook in textbooks:
        metric = define(mechanism, epsilon=epsilon, values=VALUES, **keys)
        assert _formula(metric)[-1] == pytest.approx(textbook(float(metric.ratio)), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 1, 3])
def test_d_bit_flip_has_its_textbook_variance(epsilon: float) -> None:
    """At frequency 0 without perturbation n Var is k/d times sqrt(E)/(sqrt(E)-1)^2, and E/(E-1)^2 where d is 1."""
    for bits, root in ((4, 0.5), (1, 1)):
        metric = define("d-bit-flip", epsilon=epsilon, low=0, high=19, buckets=20, bits=bits)
        e = float(metric.ratio) ** root
        assert _formula(metric)[-1] == pytest.approx(20 / bits * e / (e - 1) ** 2, rel=1e-9)
        assert _formula(metric)[0] - _formula(metric)[-1] == pytest.approx(0.5 * (20 / bits - 1))


def test_the_mean_has_the_variance_of_its_bits() -> None:
    """n Var is E/(E-1)^2 where all lie at an end, or half at either, and ((E+1)/(E-1))^2/4 where all lie midway."""
    metric = define("one-bit-mean", epsilon=1, low=5, high=45)
    e = float(metric.ratio)
    for frequencies in ([1, 0, 0], [0, 0, 1], [0.5, 0, 0.5]):
        found = scaled_mse(metric, ["5", "25", "45"], np.array(frequencies), N)
        assert found == pytest.approx([e / (e - 1) ** 2], rel=1e-9)
    middle = scaled_mse(metric, ["5", "25", "45"], np.array([0, 1.0, 0]), N)
    assert middle == pytest.approx([((e + 1) / (e - 1)) ** 2 / 4], rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
def test_the_sketches_have_the_variance_of_the_design(epsilon: float) -> None:
    """Noise, sampled collisions and the floor of a fixed hash set, as DESIGN section 6 writes them, at every f."""
    k, m = 64, 128
    f = FREQUENCIES
    others = np.sum(f**2) - f**2
    floor = (1 - f) * (1 - 1 / k) / (m - 1) + N * others / ((m - 1) * k)
    cms = define("count-mean-sketch", epsilon=epsilon, hashes=k, width=m)
    root = math.sqrt(float(cms.ratio))
    assert _formula(cms) == pytest.approx((m / (m - 1)) ** 2 * root / (root - 1) ** 2 + floor, rel=1e-9)
    hcms = define("hadamard-count-mean-sketch", epsilon=epsilon, hashes=k, width=m)
    e = float(hcms.ratio)
    c = (e + 1) / (e - 1)
    assert _formula(hcms) == pytest.approx((m / (m - 1)) ** 2 * (c**2 - f - (1 - f) / m) + floor, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
def test_local_hashing_has_its_textbook_variance_and_the_floor(epsilon: float) -> None:
    """At f = 0 n Var is (E-1+g)^2/((g-1)(E-1)^2) and the floor; over the optimum by 8 % at most, by 3 % from 1 on."""
    k = 1 << 12
    metric = define("local-hashing", epsilon=epsilon, hashes=k)
    g, e = 1 << metric.device.parameters["width_bits"], float(metric.ratio)
    textbook = (e - 1 + g) ** 2 / ((g - 1) * (e - 1) ** 2)
    squares = float(np.sum(FREQUENCIES**2))
    floor = -1 / k / (g - 1) + N * squares / ((g - 1) * k)
    assert _formula(metric)[-1] == pytest.approx(textbook + floor, rel=1e-9)
    assert textbook <= (1.08 if epsilon < 1 else 1.031) * 4 * e / (e - 1) ** 2


@pytest.mark.parametrize("split", [0.25, 0.5])
def test_the_puzzle_counts_as_exactly_as_its_share_of_epsilon_allows(split: float) -> None:
    """Whole strings are counted as local hashing of that share of epsilon counts them."""
    puzzle = define("sequence-fragment-puzzle", epsilon=4, hashes=1 << 12, split=split)
    hashing = define("local-hashing", epsilon=4 * split, hashes=1 << 12)
    assert _formula(puzzle) == pytest.approx(_formula(hashing), rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2, 4])
def test_subset_selection_is_the_optimum(epsilon: float) -> None:
    """At frequency 0 over 1024 values n Var is 4E/(E-1)^2 at most, and less by 3 % at most."""
    values = [f"v{i}" for i in range(1024)]
    metric = define("subset-selection", epsilon=epsilon, values=values)
    e = float(metric.ratio)
    found = scaled_mse(metric, values, np.eye(1024)[0], N)[-1]
    assert 0.97 < found / (4 * e / (e - 1) ** 2) <= 1


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 1.5, 2, 3, 4, 5])
def test_projective_geometry_is_within_5_percent_of_the_optimum(epsilon: float) -> None:
    """At frequency 0, over 1024 values and in two bytes, n Var is within 5 % of 4E/(E-1)^2."""
    values = [f"v{i}" for i in range(1024)]
    metric = define("projective-geometry-response", epsilon=epsilon, values=values)
    e = math.exp(epsilon)
    assert metric.device.record_bytes == 2
    found = scaled_mse(metric, values, np.eye(1024)[0], N)[-1]
    assert 0.95 < found / (4 * e / (e - 1) ** 2) < 1.05


def test_hadamard_response_counts_the_whole_block() -> None:
    """n Var = (a F + (1-a)/B)/a^2 - f with F the frequency of all values of the value's own block."""
    metric = define("hadamard-response", epsilon=3, values=VALUES, blocks=4)
    p = metric.device.parameters
    a = p["threshold"] / (1 << p["precision"])
    size = (1 << p["size_bits"]) - 1
    expected = [
        (a * FREQUENCIES[i // size * size : (i // size + 1) * size].sum() + (1 - a) / 4) / a**2 - FREQUENCIES[i]
        for i in range(20)
    ]
    assert _formula(metric) == pytest.approx(expected)
    assert len(set(np.round(_formula(metric)[3:], 9))) == 2  # values nobody holds: in the full block, and elsewhere


def test_the_regressions_formula_holds_for_single_values_where_noise_is_small() -> None:
    """With hardly any noise, the errors of held and of unheld values are each what the formula says.

    There the weights of the regression decide the error, by a factor of ten over the noise. 400 runs give each ratio a
    standard error of 0.071 or less, so that 0.4 is more than five: a false alarm has probability below 1e-6.
    That two values share their bits in all four cohorts, where no regression tells them apart, is as rare.
    """
    keys = {"epsilon": 16, "bits": 512, "hashes": 1, "cohorts": 4, "f": 0.001, "reports": "one-time"}
    study = Study("corner", "rappor", np.array([1000, 600, 400] + [0] * 5), keys)
    outcome = run_study(study, 400, seed=7)
    measured = study.reports * np.mean(outcome.errors**2, axis=0)
    formula = np.mean(outcome.formula, axis=0)
    for part in (slice(0, 1), slice(1, 3), slice(3, 8)):
        assert np.mean(measured[part]) / np.mean(formula[part]) == pytest.approx(1, abs=0.4)
    assert formula[0] > 5 * formula[-1]


def test_products_beyond_64_bits_are_exact() -> None:
    """``uniform_below`` without 128-bit integers is the client's, at the ends of its range and at random."""
    rng = np.random.default_rng(3)
    ends = [0, 1, (1 << 32) - 1, 1 << 32, (1 << 64) - 1]
    low = np.array([*ends, *rng.integers(0, 1 << 64, 500, np.uint64)], np.uint64)
    for domain in (1, 2, 3, 65535, (1 << 20) + 7, (1 << 31) - 1):
        for high_bits in (0, 1, 20, 32):
            high = rng.integers(0, 1 << high_bits, len(low), np.uint64)
            high[0], high[-1] = 0, (1 << high_bits) - 1
            expected = [((int(h) << 64 | int(w)) * domain) >> (64 + high_bits) for h, w in zip(high, low, strict=True)]
            assert uniform_below(low, high, high_bits, domain).tolist() == expected


def test_fields_come_out_as_they_went_in() -> None:
    """Packing and reading fields at every offset and width, up to 64 bits, loses and moves nothing."""
    rng = np.random.default_rng(4)
    for offset in range(9):
        for bits in range(1, 65):
            head = rng.integers(0, 1 << offset, 3, np.uint64)
            body = rng.integers(0, (1 << bits) - 1, 3, np.uint64, endpoint=True)
            record = pack([("head", offset, 0), ("body", bits, 0)], [head, body])
            assert record.shape == (3, (offset + bits + 7) // 8)
            assert field(record, offset, bits).tolist() == body.tolist()
