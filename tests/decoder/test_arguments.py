"""Slips of a Python caller: typed errors that say what to pass, and no figure from something else."""

# Wrong types are the point of these tests.
# mypy: disable-error-code="arg-type,list-item"
from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hubbub_decoder as hubbub
from hubbub_decoder import ArgumentError, CandidateError, DecodeError, EstimateError, RecordError
from hubbub_registry import Metric
from hubbub_registry.lists import ListError, tidy

from tests.decoder.reports import random_records, seal
from tests.joints import joint, part
from tests.registries import metric_of, registry_of


@pytest.fixture
def metric(tmp_path: Path) -> Metric:
    metric = metric_of(tmp_path, "count-mean-sketch")
    seal(tmp_path, metric, random_records(metric, 10, 1))
    return metric


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda m, d, s: hubbub.decode(m, "data"), ArgumentError, "Dataset(FOLDER"),
        (lambda m, d, s: hubbub.decode("m", d), ArgumentError, "load_registry"),
        (lambda m, d, s: hubbub.decode_mean(m, "data"), ArgumentError, "Dataset(FOLDER"),
        (lambda m, d, s: hubbub.Dataset("data", "cms"), ArgumentError, "load_registry"),
        (lambda m, d, s: hubbub.Dataset(3, m), ArgumentError, "path"),
        (lambda m, d, s: hubbub.Dataset(d.folder.parents[2], m, 7), ArgumentError, "list of period"),
        (lambda m, d, s: hubbub.Dataset(d.folder.parents[2], m, "7"), ArgumentError, "list of period"),
        (lambda m, d, s: hubbub.Dataset(d.folder.parents[2], m, ["7"]), ArgumentError, "datetime.date"),
        (lambda m, d, s: hubbub.Dataset(d.folder.parents[2], m, np.array(20000)), ArgumentError, "list of period"),
        (lambda m, d, s: hubbub.Dataset(d.folder.parents[2], m, np.array([2e4])), ArgumentError, "datetime.date"),
        (lambda m, d, s: hubbub.Dataset(d.folder.parents[2], m, np.array([True])), ArgumentError, "datetime.date"),
        (lambda m, d, s: hubbub.Dataset(d.folder.parents[2], m, np.array([[20000]])), ArgumentError, "datetime.date"),
        (lambda m, d, s: hubbub.partial(m, [b"x"]), RecordError, "np.frombuffer"),
        (lambda m, d, s: hubbub.partial("m", s), ArgumentError, "load_registry"),
        (lambda m, d, s: hubbub.merge(s, b"x"), ArgumentError, "State.from_bytes"),
        (lambda m, d, s: hubbub.estimate(m, b"x", ["a"]), ArgumentError, "State.from_bytes"),
        (lambda m, d, s: hubbub.estimate_mean(m, b"x"), ArgumentError, "State.from_bytes"),
        (lambda m, d, s: hubbub.estimate(m, s, "abc"), CandidateError, "'abc'"),
        (lambda m, d, s: hubbub.estimate(m, s, b"abc"), CandidateError, "list of texts"),
        (lambda m, d, s: hubbub.estimate(m, s, 3), CandidateError, "list of texts"),
        (lambda m, d, s: hubbub.decode(m, d, "abc"), CandidateError, "'abc'"),
        (lambda m, d, s: hubbub.decode(m, d, ["a", "\ud83d"]), CandidateError, "value number 2"),
    ],
)
def test_slips(tmp_path: Path, metric: Metric, call: Callable[..., Any], error: type[DecodeError], says: str) -> None:
    """Each slip is an error of its own type, whose message says what to pass."""
    data = hubbub.Dataset(tmp_path, metric)
    state = hubbub.partial(metric, random_records(metric, 5, 1))
    with pytest.raises(error) as caught:
        call(metric, data, state)
    assert says in str(caught.value)


def test_periods_are_any_collection(tmp_path: Path, metric: Metric) -> None:
    """A list, a set, a range or an array of numpy's integers is a list of periods."""
    for asked in ([20000], {20000}, range(20000, 20001), np.array([20000]), np.array([20000], np.uint16)):
        assert hubbub.Dataset(tmp_path, metric, asked).periods == (20000,)


def test_data_of_another_metric(tmp_path: Path) -> None:
    """Decoding with one metric the data of another is refused, with both fingerprints."""
    registry = registry_of(tmp_path, one={"mechanism": "randomized-response"}, two={"mechanism": "randomized-response"})
    one, two = registry.metric("one"), registry.metric("two")
    seal(tmp_path, one, random_records(one, 5, 1))
    with pytest.raises(ArgumentError) as caught:
        hubbub.decode(two, hubbub.Dataset(tmp_path, one))
    assert one.fingerprint.hex() in str(caught.value)
    assert two.fingerprint.hex() in str(caught.value)


def test_half_a_character_is_no_value() -> None:
    """A lone surrogate in a list is a ListError with its place, and an escape in place of the character."""
    with pytest.raises(ListError, match=r"value number 2, 'b\\ud83d', .*surrogate"):
        tidy(["a", "b\ud83d"])


def test_a_closed_domain_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Choosing among the values of a closed domain takes one set of them, not one for each candidate."""
    values = [f"value {i}" for i in range(200)]
    metric = metric_of(tmp_path, "randomized-response", values=values)
    made = 0

    class Counted(set[str]):
        def __init__(self, *arguments: Any) -> None:
            nonlocal made
            made += 1
            super().__init__(*arguments)

    monkeypatch.setattr(sys.modules["hubbub_decoder.decode"], "set", Counted, raising=False)
    state = hubbub.State.of(metric, 200, counts=np.ones(200, np.int64))
    assert len(hubbub.estimate(metric, state, values)) == 200
    assert made == 1


@pytest.mark.parametrize("level", ["x", None, b"0.9", [0.9], True, 0.9j, np.array([0.9])])
def test_a_level_is_a_number(tmp_path: Path, level: Any) -> None:
    """For every result a level, or an alpha, of another type is an ArgumentError, and one outside (0, 1) another."""
    registry = registry_of(
        tmp_path,
        counts={"mechanism": "randomized-response"},
        mean={"mechanism": "one-bit-mean"},
        numbers={"mechanism": "hierarchical-histogram"},
    )
    counts, mean, numbers = (registry.metric(name) for name in ("counts", "mean", "numbers"))
    both = joint(tmp_path, part("randomized-response"), part("unary-encoding"))
    metrics = {"counts": counts, "mean": mean, "numbers": numbers, "both": both}
    states = {name: hubbub.partial(each, random_records(each, 300, 1)) for name, each in metrics.items()}
    estimates = hubbub.estimate(counts, states["counts"])
    pairs = hubbub.estimate_joint(both, states["both"])
    change = hubbub.compare(estimates, estimates)
    quantiles = hubbub.quantiles(numbers, states["numbers"], [0.5])
    asked: list[Callable[[Any], Any]] = [
        *(
            ask
            for result in (estimates, hubbub.estimate_mean(mean, states["mean"]), quantiles)
            for ask in (result.at_level, result.confidence_interval)
        ),
        pairs.at_level,
        estimates.significant,
        pairs.significant,
        change.significant,
        lambda number: hubbub.compare(estimates, estimates, level=number),
    ]
    for ask in asked:
        if level is not None or "confidence_interval" not in str(ask):  # for which None is the result's own
            with pytest.raises(ArgumentError, match="is not a number"):
                ask(level)
        for outside in (0, 1, -0.5, 1.5, float("nan"), np.float64(1)):
            with pytest.raises(EstimateError, match="strictly between 0 and 1"):
                ask(outside)
        ask(np.float32(0.9))


def test_ranges_and_quantiles_take_arrays(tmp_path: Path) -> None:
    """Rows of an array are pairs as tuples are; an array of another shape or type is an ArgumentError."""
    metric = metric_of(tmp_path, "hierarchical-histogram")
    state = hubbub.partial(metric, random_records(metric, 300, 1))
    p = metric.device.parameters
    low = p["low"] - p["below_zero"]
    pairs = [(low, low + p["span"] + 1)]
    assert np.array_equal(
        hubbub.ranges(metric, state, np.array(pairs)).count, hubbub.ranges(metric, state, pairs).count
    )
    for wrong in (
        np.array(5),
        np.array([5, 6]),
        np.array([[1, 2, 3]]),
        np.array([[0.0, 1.0]]),
        np.zeros((1, 2, 2), int),
    ):
        with pytest.raises(ArgumentError, match="ranges: "):
            hubbub.ranges(metric, state, wrong)
    assert len(hubbub.quantiles(metric, state, np.array([0.25, 0.5]))) == 2
    for wrong in (np.array(0.5), np.array([[0.5]]), np.array(["a"])):
        with pytest.raises(ArgumentError, match="quantiles: "):
            hubbub.quantiles(metric, state, wrong)
