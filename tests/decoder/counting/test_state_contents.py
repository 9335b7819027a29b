"""A state is estimated from as it is, so it must hold what reports of its definition add up to."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest

from hubbub_decoder import (
    DecodeError,
    State,
    StateError,
    estimate,
    estimate_joint,
    estimate_mean,
    merge,
    partial,
    quantiles,
)
from hubbub_decoder.discovery import discover
from hubbub_decoder.mechanisms import NAMES
from hubbub_registry import Metric

from tests.decoder.reports import random_records
from tests.joints import joint, part
from tests.registries import metric_of

ALL = [*NAMES, "joint"]
N = 300


@pytest.fixture(params=ALL)
def metric(tmp_path: Path, request: pytest.FixtureRequest) -> Metric:
    if request.param == "joint":
        return joint(tmp_path, part("randomized-response"), part("unary-encoding"))
    return metric_of(tmp_path, request.param)


def honest(metric: Metric, n: int = N) -> State:
    return partial(metric, random_records(metric, n, 1))


def questions(metric: Metric) -> list[Callable[[Metric, State], Any]]:
    """What can be asked of a state of the mechanism."""
    special: dict[str, list[Callable[[Metric, State], Any]]] = {
        "joint": [estimate_joint],
        "one-bit-mean": [estimate_mean],
        "hierarchical-histogram": [lambda m, s: quantiles(m, s, [0.5]), estimate],
        "prefix-extending-method": [discover],
        "sequence-fragment-puzzle": [discover],
    }
    named = list(metric.candidates[:2]) or ["a", "b"]
    return special.get(metric.mechanism, [lambda m, s: estimate(m, s, named)])


def damaged(state: State) -> Iterator[tuple[str, State]]:
    """The state with one thing wrong, and what that is."""
    yield "fewer reports", replace(state, n=0)
    yield "negative n", replace(state, n=-5)
    yield "no arrays", replace(state, arrays={})
    yield "one more", replace(state, arrays={**state.arrays, "other": np.zeros(3, np.int64)})
    for name, array in state.arrays.items():
        rest = {key: other for key, other in state.arrays.items() if key != name}
        yield f"no {name}", replace(state, arrays=rest)
        yield f"{name} by another name", replace(state, arrays={**rest, "other": array})
        for what, wrong in {
            "flat": array.reshape(-1) if array.ndim > 1 else array.reshape(1, -1),
            "empty": array[:0],
            "short": array[:-1],
            "long": np.concatenate([array, array[:1] * 0]),
            "wide": np.concatenate([array, array * 0], axis=-1),
            "negative": None if name in ("words", "signed") else array.astype(np.int64) - N - 1,
            "too large": None if name == "words" else array.astype(np.int64) + N + 1,
            "huge": None if name == "words" else np.full_like(array, 2**62, dtype=np.int64),
            "wrapped": None if name == "words" else np.full_like(array, -(2**63), dtype=np.int64),
        }.items():
            if wrong is not None:
                yield f"{name} {what}", replace(state, arrays={**state.arrays, name: wrong})


def test_honest_states_are_taken(metric: Metric) -> None:
    """States of no, one and many reports, merged and through bytes, hold what they must."""
    for state in (honest(metric, 0), honest(metric, 1), honest(metric), merge(honest(metric), honest(metric, 7))):
        state.check(metric)
        State.from_bytes(state.to_bytes()).check(metric)


def test_states_that_no_reports_make_are_refused(metric: Metric) -> None:
    """An array missing, added, of another shape, type or sum, or another n: a StateError from all that estimates."""
    for what, wrong in damaged(honest(metric)):
        for ask in questions(metric):
            with pytest.raises(StateError) as caught:
                ask(metric, wrong)
            said = str(caught.value)
            assert said.startswith(f"metric {metric.name}: this is no state of "), what
            assert said.endswith("; aggregate again"), what


@pytest.mark.parametrize("n", [N - 1, N + 1, 100 * N])
def test_each_report_is_counted_once(metric: Metric, n: int) -> None:
    """Where a report is counted in one place of an array, its sum must be n; one more or less is seen."""
    wrong = replace(honest(metric), n=n)
    if any(name in wrong.arrays for name in ("counts", "reports")):
        with pytest.raises(StateError, match=f"does not add up to {n},"):
            wrong.check(metric)


@pytest.mark.parametrize(
    ("mechanism", "name", "says"),
    [("count-mean-sketch", "sums", "more than reports"), ("d-bit-flip", "ones", "more than covering")],
)
def test_no_more_ones_than_reports(tmp_path: Path, mechanism: str, name: str, says: str) -> None:
    """A bit is set in at most as many reports as speak of it, though all reports together are more."""
    metric = metric_of(tmp_path, mechanism)
    state = honest(metric)
    arrays = {**state.arrays, name: state.arrays[name].astype(np.int64)}
    arrays[name].reshape(-1)[0] = N
    with pytest.raises(StateError, match=says):
        replace(state, arrays=arrays).check(metric)


@pytest.mark.parametrize("kind", [float, bool, str, object, complex, "M8[s]", None])
def test_arrays_of_something_else(metric: Metric, kind: Any) -> None:
    """A state is made of numpy's integers, and of nothing else."""
    state = honest(metric)
    for name, array in state.arrays.items():
        wrong: Any = array.tolist() if kind is None else array.astype(kind)
        with pytest.raises(StateError, match=f"{name} holds .*, not integers"):
            replace(state, arrays={**state.arrays, name: wrong})


def test_merging_what_does_not_merge(metric: Metric) -> None:
    """Whatever two states hold, merging them gives a state or is a DecodeError."""
    state = honest(metric)
    for _, wrong in damaged(state):
        for pair in ((state, wrong), (wrong, state), (wrong, wrong)):
            with contextlib.suppress(DecodeError):
                assert isinstance(merge(*pair), State)


def test_states_of_no_mechanism(metric: Metric) -> None:
    """A mechanism that there is not is a StateError, of two states as of one and of bytes."""
    wrong = replace(honest(metric), mechanism="no-such")
    for refuse in (
        lambda: merge(wrong, wrong),
        lambda: State.from_bytes(wrong.to_bytes()),
        lambda: wrong.check(metric),
    ):
        with pytest.raises(StateError, match="no-such"):
            refuse()


@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize(
    "other", [None, True, -5, 2.5, "7", b"x", [], {}, [[1]], {"a": 1}, 10**9, {"a": ["<i8", [-1], b""]}]
)
def test_bytes_of_another_kind(tmp_path: Path, place: int, other: object) -> None:
    """msgpack with anything else in one of its five places is a StateError, from the bytes or from what they hold."""
    metric = metric_of(tmp_path, "randomized-response")
    document = msgpack.unpackb(honest(metric).to_bytes())
    document[place] = other
    with pytest.raises(StateError):
        State.from_bytes(msgpack.packb(document)).check(metric)


WRONG_ARRAYS: list[list[Any]] = [
    ["<i8", [5], b""],
    ["<i8", [2**62], bytes(8)],
    ["<i8", "5", bytes(40)],
    ["O", [5], bytes(40)],
    ["<M8[s]", [5], bytes(40)],
    ["nonsense", [5], bytes(40)],
    [5, [5], bytes(40)],
    ["<i8", [5], "text"],
    ["<i8", [-5], bytes(40)],
    ["<i8", [1.5], bytes(40)],
]


@pytest.mark.parametrize("entry", WRONG_ARRAYS)
def test_arrays_of_another_kind(tmp_path: Path, entry: list[Any]) -> None:
    """An array whose type, shape and bytes do not agree is a StateError."""
    metric = metric_of(tmp_path, "randomized-response")
    document = [1, metric.mechanism, metric.fingerprint, 0, {"counts": entry}]
    with pytest.raises(StateError):
        State.from_bytes(msgpack.packb(document))


def test_words_that_no_device_sends(tmp_path: Path) -> None:
    """A joint state with a record out of its domain, with bits where none are, twice, or out of order is refused."""
    metric = joint(tmp_path, part("randomized-response"), part("unary-encoding"))
    state = honest(metric)
    words = state.arrays["words"]
    assert metric.device.record_bytes == 2
    for wrong in (
        words | np.uint64(0xFF),
        words | np.uint64(1 << 16),
        words[::-1],
        words * 0,
        words | np.uint64(1 << 63),
    ):
        broken = replace(state, arrays={**state.arrays, "words": wrong})
        with pytest.raises(StateError, match="this is no state of joint"):
            estimate_joint(metric, broken)
