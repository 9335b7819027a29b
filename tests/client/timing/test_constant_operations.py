"""An encoder's work tells nothing: the same random bytes read, and the same operations, for every value and noise.

Operations are counted, never timed: the interpreter is asked for every instruction that it executes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hubbub_client.hmac_sha256 import hmac_sha256
from hubbub_client.mechanisms.names import NAMES
from hubbub_client.plan import Metric, mechanism
from hubbub_client.xxh32 import xxh32

from tests.client.timing import leaky
from tests.client.timing.operations import Operation, Source, operations
from tests.registries import metric_of

RANGE = {"epsilon": 1, "low": 0, "high": 99}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("randomized-response", {}),
    ("unary-encoding", {}),
    ("hadamard-response", {}),
    ("projective-geometry-response", {}),
    ("projective-geometry-response", {"epsilon": 3, "values": [f"v{i}" for i in range(200)]}),
    ("local-hashing", {}),
    ("sequence-fragment-puzzle", {}),
    ("prefix-extending-method", {}),
    ("prefix-extending-method", {"epsilon": 4, "longest": 15}),
    ("subset-selection", {}),
    ("subset-selection", {"epsilon": 0.5, "values": [f"v{i}" for i in range(40)]}),
    ("count-mean-sketch", {}),
    ("hadamard-count-mean-sketch", {}),
    ("rappor", {}),
    ("rappor", {"reports": "one-time", "p": None, "q": None, "epsilon": 4.5}),
    (
        "rappor",
        {"encoding": "one-hot", "values": list("abcde"), "bits": None, "hashes": None, "cohorts": None, "epsilon": 2},
    ),
    ("hierarchical-histogram", {"levels": 1}),
    ("hierarchical-histogram", {"levels": 1, "epsilon": 3, "low": 0, "high": 4095, "buckets": 1024}),
    ("one-bit-mean", {**RANGE, "points": 5, "perturbation": 0.2}),
    ("one-bit-mean", {**RANGE, "perturbation": None}),
    ("d-bit-flip", {**RANGE, "buckets": 20, "bits": 8, "perturbation": 0.2}),
]
NOISES: list[Callable[[int], bytes]] = [
    bytes,
    lambda count: b"\xff" * count,
    lambda count: b"\xaa" * count,
    lambda count: (b"\x00\xff" * count)[:count],
    *[os.urandom] * 6,
]
SECRETS = [b"s" * 32, b"t" * 32, b"u" * 32]


def values_of(metric: Metric) -> list[bytes]:
    """Values of one length: what a length gives away is on another page."""
    if "span" in metric.parameters:
        return [b"10", b"55", b"99"]
    return metric.values or [b"aaaaaaa", b"bzzzzzz", b"\xff\x00\x80 - \xff", b"0000000"]


def scripted(left: list[int], count: int) -> bytes:
    """The bytes of ``left``, one by one, to whoever asks for one; zeros to whoever asks for more."""
    return bytes([left.pop(0)]) if count == 1 else bytes(count)


def of_level(level: int, noise: Callable[[int], bytes], count: int) -> bytes:
    """``noise`` in which the level that a hierarchical histogram draws, its lowest two bits, is this one."""
    return bytes([noise(1)[0] & 0xFC | level]) + noise(count - 1)


def profiles(metric: Metric, encoder: type[Any]) -> tuple[set[tuple[Operation, ...]], set[tuple[int, ...]]]:
    """The different sequences of operations, and of reads, over values, noise and device secrets."""
    seen, asked = set(), set()
    for secret in SECRETS:
        made = encoder(metric, secret)
        for value in values_of(metric):
            for noise in NOISES:
                source = Source(noise)
                encode = partial(made.encode, value, source)
                seen.add(tuple(operations(encode)))
                asked.add(tuple(source.asked))
    return seen, asked


@pytest.mark.parametrize(("name", "keys"), CASES, ids=lambda part: part if isinstance(part, str) else "-")
def test_an_encoder_does_the_same_for_every_value_and_noise(name: str, keys: dict[str, Any], tmp_path: Path) -> None:
    """Over values of one length, noise and devices, one sequence of instructions and one read of random bytes."""
    metric = metric_of(tmp_path, name, **keys).device
    encoder = mechanism(name).Encoder
    seen, asked = profiles(metric, encoder)
    assert len(seen) == 1
    assert asked == {(encoder(metric, SECRETS[0]).random_bytes,)}
    # The count is of the encoder's own instructions, down to the sampling: an empty trace would be equal, too.
    (sequence,) = seen
    assert len(sequence) > 40
    assert {"Encoder.encode", "read", "pack"} <= {function for function, _ in sequence}


def test_only_the_level_changes_what_a_hierarchical_histogram_does(tmp_path: Path) -> None:
    """With the level fixed, which a report names, one sequence of instructions; levels of two shapes have two."""
    metric = metric_of(tmp_path, "hierarchical-histogram", epsilon=3, low=0, high=4095, buckets=4096, levels=4).device
    made = mechanism("hierarchical-histogram").Encoder(metric, SECRETS[0])
    by_level = []
    for level in range(4):
        seen = set()
        for value in (b"1000", b"2333", b"4095"):
            for noise in NOISES:
                source = Source(partial(of_level, level, noise))
                seen.add(tuple(operations(partial(made.encode, value, source))))
        assert len(seen) == 1
        by_level.append(seen.pop())
    assert len(set(by_level)) > 1


def test_every_mechanism_of_the_table_is_traced() -> None:
    """No mechanism enters the table without its operations being compared."""
    assert {name for name, _ in CASES} == set(NAMES)


@pytest.mark.parametrize(
    ("encoder", "name"),
    [
        (leaky.BranchOnNoise, "randomized-response"),
        (leaky.BranchOnValue, "unary-encoding"),
        (leaky.LoopOverOnes, "count-mean-sketch"),
    ],
)
def test_a_planted_branch_on_a_secret_is_caught(encoder: type[Any], name: str, tmp_path: Path) -> None:
    """A branch on the noise or on the value, and a loop as long as the noise has ones, change what is executed."""
    seen, _ = profiles(metric_of(tmp_path, name).device, encoder)
    assert len(seen) > 1


def test_a_planted_rejection_loop_is_caught(tmp_path: Path) -> None:
    """A draw that is repeated until it fits changes how many bytes are read."""
    metric = metric_of(tmp_path, "randomized-response").device
    for first, reads in ((b"\x00", 2), (b"\xff\xff\x00", 4)):
        source = Source(partial(scripted, list(first)))
        leaky.Rejection(metric, SECRETS[0]).encode(b"a", source)
        assert len(source.asked) == reads


def test_the_boards_own_hashes_do_the_same_for_every_value() -> None:
    """XXH32 and HMAC-SHA256 in plain Python, which a board runs, execute the same for all inputs of one length."""
    for length in (0, 1, 7, 16, 40, 100):
        inputs = [bytes(length), b"\xff" * length, *[os.urandom(length) for _ in range(4)]]
        keys = [os.urandom(32), bytes(32)]
        assert len({tuple(operations(partial(xxh32, data, 7))) for data in inputs}) == 1
        hashed = {tuple(operations(partial(hmac_sha256, key, data))) for key in keys for data in inputs}
        assert len(hashed) == 1


def test_a_length_is_seen() -> None:
    """What is documented as a limit is one: a longer value costs more operations."""
    short, long = (len(operations(partial(xxh32, data, 7))) for data in (b"a" * 16, b"a" * 200))
    assert short < long
