"""Partial states: they add up, whatever the grouping, and never share memory."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_decoder import RecordError, State, StateError, estimate, merge, partial
from hubbub_decoder.mechanisms import NAMES
from hubbub_registry import Metric, Registry

from tests.decoder.reports import as_records, random_records
from tests.registries import metric_of, registry_of


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    metrics = {name.replace("-", "_"): {"mechanism": name} for name in NAMES}
    odd = {"mechanism": "rappor", "cohorts": 3, "bits": 32, "epsilon": 1.1}
    return registry_of(tmp_path_factory.mktemp("states"), **metrics, odd=odd)


def same(a: State, b: State) -> bool:
    return (
        (a.mechanism, a.fingerprint, a.n, a.arrays.keys()) == (b.mechanism, b.fingerprint, b.n, b.arrays.keys())
    ) and all(np.array_equal(a.arrays[name], b.arrays[name]) for name in a.arrays)


names = st.sampled_from([name.replace("-", "_") for name in NAMES] + ["odd"])


@given(name=names, sizes=st.tuples(*[st.integers(0, 40)] * 3), seed=st.integers(0, 2**32))
def test_merging_is_one_pass(registry: Registry, name: str, sizes: tuple[int, int, int], seed: int) -> None:
    """Merging is associative and commutative and equals one pass over all the records."""
    metric = registry.metric(name)
    parts = [random_records(metric, size, seed + i) for i, size in enumerate(sizes)]
    a, b, c = (partial(metric, part) for part in parts)
    whole = partial(metric, np.concatenate(parts))
    assert same(merge(merge(a, b), c), whole)
    assert same(merge(a, merge(b, c)), whole)
    assert same(merge(c, merge(b, a)), whole)


@pytest.mark.parametrize("name", [name.replace("-", "_") for name in NAMES])
def test_merge_returns_new_arrays(registry: Registry, name: str) -> None:
    """What is merged into one state changes neither argument, and shares no memory with them."""
    metric = registry.metric(name)
    a, empty = partial(metric, random_records(metric, 20, 1)), partial(metric, random_records(metric, 0, 2))
    before = {key: array.copy() for key, array in a.arrays.items()}
    merged = merge(a, empty)
    for key, array in merged.arrays.items():
        assert not np.shares_memory(array, a.arrays[key])
        assert not np.shares_memory(array, empty.arrays[key])
        array += 1
        assert np.array_equal(a.arrays[key], before[key])


def test_counts_widen_before_they_overflow(tmp_path: Path) -> None:
    """300 + 300 reports that all set one bit are 600, though one state's counts fit in a byte or two."""
    metric = metric_of(tmp_path, "count-mean-sketch", hashes=1, width=2)
    state = partial(metric, np.full((200, 1), 0b01, np.uint8))
    assert state.arrays["sums"].dtype == np.uint8
    for times in (400, 800, 1600):
        state = merge(state, state)
        assert state.arrays["sums"].tolist() == [[times, 0]]


def test_signed_counts_widen_before_they_overflow(tmp_path: Path) -> None:
    """Signed cells beyond 2**31 in magnitude are still exact."""
    metric = metric_of(tmp_path, "hadamard-count-mean-sketch", hashes=1, width=2)
    for sign in (1, -1):
        state = State.of(metric, 2**31 - 1, signed=np.array([[sign * (2**31 - 1)], [0]], np.int32))
        assert merge(state, state).arrays["signed"].tolist() == [[sign * (2**32 - 2)], [0]]


def test_states_of_two_definitions_do_not_merge(tmp_path: Path) -> None:
    """Merging, or estimating with, another definition's state is refused, and both fingerprints are named."""
    registry = registry_of(
        tmp_path,
        one={"mechanism": "randomized-response"},
        two={"mechanism": "randomized-response", "epsilon": 2},
    )
    one, two = registry.metric("one"), registry.metric("two")
    a, b = (partial(metric, random_records(metric, 5, 1)) for metric in (one, two))
    for refuse in (lambda: merge(a, b), lambda: estimate(two, a)):
        with pytest.raises(StateError) as caught:
            refuse()
        assert one.fingerprint.hex() in str(caught.value)
        assert two.fingerprint.hex() in str(caught.value)


@pytest.mark.parametrize("name", [name.replace("-", "_") for name in NAMES])
def test_a_state_survives_its_bytes(registry: Registry, name: str) -> None:
    """to_bytes and from_bytes are inverse, and every truncation is a StateError."""
    metric = registry.metric(name)
    state = partial(metric, random_records(metric, 30, 3))
    data = state.to_bytes()
    assert same(State.from_bytes(data), state)
    for length in itertools.chain(range(min(len(data), 200)), range(200, len(data), 997)):
        with pytest.raises(StateError):
            State.from_bytes(data[:length])


def test_other_bytes_are_no_state() -> None:
    """msgpack of another shape, schema or type is a StateError."""
    import msgpack

    floats = {"counts": ["<f8", [1], bytes(8)]}
    for document in (1, [], [1, 2], [2, "m", b"f", 1, {}], [1, "m", b"f", 1, floats], [1, "m", b"f", 1, [1]]):
        with pytest.raises(StateError):
            State.from_bytes(msgpack.packb(document))


def wrong(metric: Metric) -> list[np.ndarray]:
    width = metric.device.record_bytes
    return [np.zeros((3, width + 1), np.uint8), np.zeros(width, np.uint8), np.zeros((3, width), np.int64)]


@pytest.mark.parametrize("name", [name.replace("-", "_") for name in NAMES])
def test_records_of_another_shape_are_refused(registry: Registry, name: str) -> None:
    """An array of another width, dimension or type is a RecordError."""
    metric = registry.metric(name)
    for records in wrong(metric):
        with pytest.raises(RecordError):
            partial(metric, records)


@pytest.mark.parametrize(
    "name", ["randomized_response", "unary_encoding", "subset_selection", "hadamard_response", "odd"]
)
def test_records_outside_the_domain_are_refused(registry: Registry, name: str) -> None:
    """A field beyond its domain, or padding that is not zero, is a RecordError and never a count."""
    metric = registry.metric(name)
    good = random_records(metric, 3, 1)
    bad = np.full((1, metric.device.record_bytes), 0xFF, np.uint8)
    with pytest.raises(RecordError):
        partial(metric, np.concatenate([good, bad]))


@pytest.mark.parametrize(
    "name",
    [
        "local_hashing",
        "count_mean_sketch",
        "hadamard_count_mean_sketch",
        "sequence_fragment_puzzle",
        "prefix_extending_method",
    ],
)
def test_padding_of_a_sketch_is_checked(registry: Registry, name: str) -> None:
    """A bit above a sketch's last field is a RecordError."""
    metric = registry.metric(name)
    assert sum(field[1] for field in metric.device.fields) % 8
    with pytest.raises(RecordError):
        partial(metric, as_records([bytes(metric.device.record_bytes - 1) + b"\x80"]))
