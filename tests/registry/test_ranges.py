"""Metrics over a range of integers: their keys, what is refused, and what calibration gives."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_decoder.mechanisms.hierarchical_histogram import distribution
from hubbub_registry import RegistryError
from hubbub_registry.exact import ln_upper
from hubbub_registry.mechanisms.d_bit_flip import labels

from tests.decoder.numbers.trees import expected_state, tree_metric
from tests.registries import metric_of

MECHANISMS = ["one-bit-mean", "d-bit-flip"]


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize(
    ("keys", "where", "says"),
    [
        ({"low": 5, "high": 5}, "high", "not above low"),
        ({"low": 99, "high": 0}, "high", "not above low"),
        ({"low": 0, "high": 1 << 40}, "high", "past 2147483648"),
        ({"low": -(1 << 54)}, "low", "not an integer from"),
        ({"low": "0"}, "low", "not an integer from"),
        ({"high": None}, "high", "missing"),
        ({"perturbation": 0.5}, "perturbation", "nothing is left"),
        ({"perturbation": 0}, "perturbation", "strictly between 0 and 1"),
        ({"perturbation": 0.49999999999}, "perturbation", "32 bits"),
        ({"perturbation": 0.2, "epsilon": 3}, "perturbation", "no permanent noise would be left"),
        ({"values": ["1", "2"]}, "values", "integers from low to high"),
        ({"candidates": ["1", "2"]}, "candidates", "integers from low to high"),
        ({"epsilon": 17}, "epsilon", "protects nobody"),
    ],
)
def test_bad_keys(tmp_path: Path, mechanism: str, keys: dict[str, Any], where: str, says: str) -> None:
    """Each mistake is one problem, at its key, with what to do."""
    with pytest.raises(RegistryError) as caught:
        metric_of(tmp_path, mechanism, **keys)
    (problem,) = caught.value.problems
    assert problem.where == f"metrics.m.{where}"
    assert says in problem.what
    assert problem.remedy


@pytest.mark.parametrize(
    ("mechanism", "keys", "where"),
    [
        ("one-bit-mean", {"points": 1}, "points"),
        ("one-bit-mean", {"low": 0, "high": 9, "points": 11}, "points"),
        ("d-bit-flip", {"buckets": 101, "low": 0, "high": 99}, "buckets"),
        ("d-bit-flip", {"buckets": 5, "bits": 6}, "bits"),
        ("d-bit-flip", {"bits": None}, "bits"),
        ("d-bit-flip", {"points": 5}, "points"),
        ("hierarchical-histogram", {"buckets": 100}, "buckets"),
        ("hierarchical-histogram", {"buckets": 128}, "buckets"),
        ("hierarchical-histogram", {"buckets": 1 << 17}, "buckets"),
        ("hierarchical-histogram", {"levels": 8}, "levels"),
        ("hierarchical-histogram", {"levels": 3}, "levels"),
        ("hierarchical-histogram", {"bits": 2}, "bits"),
        ("hierarchical-histogram", {"perturbation": 0.1}, "perturbation"),
        ("hierarchical-histogram", {"low": 99, "high": 0}, "high"),
    ],
)
def test_bad_shapes(tmp_path: Path, mechanism: str, keys: dict[str, Any], where: str) -> None:
    """More points or buckets than integers, or bits than buckets, and keys of the other mechanism, are refused."""
    with pytest.raises(RegistryError) as caught:
        metric_of(tmp_path, mechanism, **keys)
    assert [problem.where for problem in caught.value.problems] == [f"metrics.m.{where}"]


def test_the_published_example(tmp_path: Path) -> None:
    """Epsilon .5695 a report with perturbation 0.2 leaves a permanent epsilon of 1, as published."""
    metric = metric_of(tmp_path, "one-bit-mean", epsilon=0.5695, perturbation=0.2)
    assert 0.5694 <= float(metric.exact_epsilon) <= 0.5695
    assert metric.permanent_ratio is not None
    assert math.log(metric.permanent_ratio) == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("perturbation", [0.001, 0.01, 0.1, 0.3, 0.45])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_perturbation_is_what_was_written(tmp_path: Path, mechanism: str, perturbation: float) -> None:
    """The plan's perturbation is the written one, rounded up by at most 0.1 %; epsilon keeps 99.9 % all the same."""
    declared = Fraction(1, 20)
    metric = metric_of(tmp_path, mechanism, epsilon=float(declared), perturbation=perturbation)
    p = metric.device.parameters
    realised = Fraction(p["perturbation"], 1 << p["perturbation_bits"])
    assert Fraction(str(perturbation)) <= realised <= Fraction(str(perturbation)) * Fraction(1000, 999)
    assert declared * Fraction(999, 1000) <= metric.exact_epsilon <= declared


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_reports_of_one_value_rise_to_the_permanent_figure(tmp_path: Path, mechanism: str) -> None:
    """The plan's charges rise from one report's to the permanent epsilon; without perturbation they are the same."""
    metric = metric_of(tmp_path, mechanism)
    assert metric.permanent_ratio is not None
    charges = metric.entry["charges"]
    assert charges == sorted(charges)
    assert charges[0] == metric.device.epsilon_nano
    assert charges[-1] == math.ceil(ln_upper(metric.permanent_ratio) * 10**9)
    still = metric_of(tmp_path, mechanism, perturbation=None)
    assert still.permanent_ratio == still.ratio
    assert set(still.entry["charges"]) == {still.device.epsilon_nano}


@given(st.integers(-1000, 1000), st.integers(1, 3000), st.data())
def test_buckets_are_a_partition(low: int, span: int, data: st.DataObject) -> None:
    """Labels name each integer once, in order, in the very bucket that a device puts it in."""
    buckets = data.draw(st.integers(2, min(span + 1, 200)))
    found = labels({"low": low, "high": low + span, "buckets": buckets})
    assert len(found) == buckets
    expected = low
    for i, label in enumerate(found):
        first, _, last = label.partition("..")
        assert int(first) == expected
        for value in {int(first), int(last or first)}:
            assert (value - low) * buckets // (span + 1) == i
        expected = int(last or first) + 1
    assert expected == low + span + 1


@pytest.mark.parametrize(
    ("epsilon", "bits", "levels"), [(1, 8, 8), (1, 16, 16), (2, 10, 8), (4, 2, 1), (4, 16, 16), (8, 8, 1), (1, 1, 1)]
)
def test_a_tree_has_the_levels_that_are_best(tmp_path: Path, epsilon: float, bits: int, levels: int) -> None:
    """By default as many levels as keep the error of a random bucket's quantile least; ``levels`` sets another."""
    keys = {"epsilon": epsilon, "low": 0, "high": (1 << bits) - 1, "buckets": 1 << bits}
    metric = metric_of(tmp_path, "hierarchical-histogram", **keys, levels=None)
    assert 1 << metric.device.parameters["levels_bits"] == levels
    assert metric_of(tmp_path, "hierarchical-histogram", **keys, levels=1).device.parameters["levels_bits"] == 0
    assert metric.device.record_bytes <= 3
    assert metric.permanent_ratio is None


def test_the_best_number_of_levels_has_the_least_error_of_all(tmp_path: Path) -> None:
    """By the errors that the fit states where values are spread evenly, no other number of levels beats it by 3 %."""
    for epsilon, bits in ((1, 6), (2, 6), (4, 6)):
        errors = {}
        for levels in (1, 2, 4, None):
            metric = tree_metric(tmp_path, bits, levels, epsilon)
            found = distribution(metric, expected_state(metric, [1] * (1 << bits), 10**6))
            errors[levels] = float(np.mean(found.below_error**2)) * found.n
        assert errors[None] <= 1.03 * min(errors.values())
