"""The vectorised encoders against the client: the same random bytes give the same records, byte for byte.

An encoder is a pure function of uniform bytes, so this is more than any statistical test could show: the two have the
same distribution because they are the same function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hubbub_client.errors import RejectedValueError
from hubbub_client.mechanisms.names import NAMES
from hubbub_client.mechanisms.rappor import cohort_of
from hubbub_client.prf import expand
from hubbub_client.sampling import lanes_bytes
from hubbub_registry import Metric
from hubbub_registry.mechanisms import client_module
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode, encoder, uniform_bytes

VALUES = st.lists(st.text("abcdefgh", min_size=1, max_size=3), min_size=2, max_size=70, unique=True)
EPSILONS = st.sampled_from([0.1, 0.5, 1, 2.5, 4, 8])
SALTS = st.integers(0, (1 << 64) - 1).map(lambda salt: f"{salt:016x}")
PROPERTY = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.data_too_large])


def power_of_two(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high).map(lambda exponent: 1 << exponent)


def closed(mechanism: str, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"mechanism": st.just(mechanism), "epsilon": EPSILONS, "values": VALUES, **more})


def sketch(mechanism: str, widest: int) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "mechanism": st.just(mechanism),
            "epsilon": EPSILONS,
            "hashes": power_of_two(0, 20),
            "width": power_of_two(1, widest),
            "salt": SALTS,
        }
    )


def hashed() -> st.SearchStrategy[dict[str, Any]]:
    own = {"mechanism": st.just("local-hashing"), "epsilon": EPSILONS, "hashes": power_of_two(0, 20), "salt": SALTS}
    none: dict[str, int] = {}
    width = st.one_of(st.just(none), power_of_two(1, 16).map(lambda width: {"width": width}))
    return st.tuples(st.fixed_dictionaries(own), width).map(lambda pair: {**pair[0], **pair[1]})


def puzzle() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "mechanism": st.just("sequence-fragment-puzzle"),
            "epsilon": EPSILONS,
            "hashes": power_of_two(0, 20),
            "fragment_hashes": power_of_two(0, 16),
            "positions": power_of_two(0, 6),
            "fragment_bytes": st.integers(1, 3),
            "piece_bits": st.integers(1, 16),
            "split": st.sampled_from([0.1, 0.4, 0.75]),
            "salt": SALTS,
        }
    )


def prefixes() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {
            "mechanism": st.just("prefix-extending-method"),
            "epsilon": EPSILONS,
            "longest": st.integers(1, 31),
            "items": power_of_two(2, 20),
            "families": power_of_two(0, 8),
            "salt": SALTS,
        }
    )


def bloom() -> st.SearchStrategy[dict[str, Any]]:
    shape = {
        "mechanism": st.just("rappor"),
        "epsilon": st.just(16),
        "bits": power_of_two(1, 8),
        "hashes": st.integers(1, 4),
        "cohorts": st.integers(1, 1 << 16),
        "f": st.sampled_from([0.25, 0.5, 0.77]),
        "salt": SALTS,
    }
    kinds: list[dict[str, Any]] = [{"p": 0.5, "q": 0.75}, {"p": 0.39, "q": 0.61}, {"reports": "one-time"}]
    return st.tuples(st.fixed_dictionaries(shape), st.sampled_from(kinds)).map(lambda pair: {**pair[0], **pair[1]})


def integers() -> st.SearchStrategy[dict[str, Any]]:
    low = st.integers(-(1 << 40), 1 << 40)
    span = st.one_of(st.integers(63, 300), st.integers(1 << 30, 1 << 31))
    change = st.sampled_from([{}, {"perturbation": 0.003}, {"perturbation": 0.01}])
    return st.tuples(low, span, change).map(lambda drawn: {"low": drawn[0], "high": drawn[0] + drawn[1], **drawn[2]})


def ranged(mechanism: str, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    own = st.fixed_dictionaries({"mechanism": st.just(mechanism), "epsilon": st.sampled_from([0.1, 1, 3]), **more})
    return st.tuples(integers(), own).map(lambda pair: {**pair[0], **pair[1]})


def tree() -> st.SearchStrategy[dict[str, Any]]:
    low = st.integers(-(1 << 40), 1 << 40)
    span = st.one_of(st.integers(63, 300), st.integers(1 << 30, 1 << 31))
    shape = st.one_of(
        power_of_two(1, 6).map(lambda buckets: {"buckets": buckets}),
        power_of_two(0, 2).map(lambda levels: {"buckets": 64, "levels": levels}),
    )
    return st.tuples(low, span, shape, EPSILONS).map(
        lambda drawn: {
            "mechanism": "hierarchical-histogram", "epsilon": drawn[3], "low": drawn[0], "high": drawn[0] + drawn[1],
            **drawn[2],
        }
    )  # fmt: skip


DEFINITIONS = {
    "randomized-response": closed("randomized-response"),
    "unary-encoding": closed("unary-encoding"),
    "hadamard-response": closed("hadamard-response"),
    "projective-geometry-response": closed("projective-geometry-response"),
    "local-hashing": hashed(),
    "sequence-fragment-puzzle": puzzle(),
    "prefix-extending-method": prefixes(),
    "subset-selection": closed("subset-selection"),
    "count-mean-sketch": sketch("count-mean-sketch", 9),
    "hadamard-count-mean-sketch": sketch("hadamard-count-mean-sketch", 20),
    "rappor": bloom(),
    "one-bit-mean": ranged("one-bit-mean", points=st.integers(2, 64)),
    "hierarchical-histogram": tree(),
    "d-bit-flip": ranged("d-bit-flip", buckets=st.integers(20, 64), bits=st.integers(1, 20)),
}


CLOSED = ("randomized-response", "unary-encoding", "hadamard-response", "projective-geometry-response")


def client_record(metric: Metric, item: bytes, noise: bytes) -> bytes:
    """What the client's encoder makes of ``noise``."""
    drawn: list[int] = []

    def source(count: int) -> bytes:
        drawn.append(count)
        return noise

    record: bytes = client_module(metric.mechanism).Encoder(metric.device, bytes(32)).encode(item, source)
    assert drawn == [len(noise)]
    return record


def rappor_record(metric: Metric, item: bytes, secret: bytes, fresh: bytes) -> tuple[bytes, bytes]:
    """The record of the device that holds ``secret``, and the same device's noise as the vectorised encoder takes it.

    Where the client derives noise from its secret, that derived noise is what the vectorised encoder is given.
    """
    p = metric.device.parameters
    cohort = cohort_of(metric.device, secret)
    prr_bytes = lanes_bytes(p["bits"], p["prr_precision"])
    cohort_noise = expand(secret, b"hubbub rappor cohort", metric.fingerprint, 12)
    permanent = expand(secret, b"hubbub rappor prr", metric.fingerprint + cohort.to_bytes(4, "big") + item, prr_bytes)
    drawn = fresh[: lanes_bytes(p["bits"], p["irr_precision"]) if p["irr_precision"] else prr_bytes]
    record: bytes = client_module("rappor").Encoder(metric.device, secret).encode(item, lambda count: drawn[:count])
    return record, cohort_noise + (permanent + drawn if p["irr_precision"] else drawn)


def range_record(metric: Metric, item: bytes, secret: bytes, fresh: bytes) -> tuple[bytes, bytes]:
    """The same for the mechanisms over integers, which derive alpha or buckets, and permanent flips, from it."""
    p = metric.device.parameters
    encoder = client_module(metric.mechanism).Encoder(metric.device, secret)
    key = metric.fingerprint + encoder.permanent_key(item)
    if metric.mechanism == "one-bit-mean":
        first = expand(secret, b"hubbub mean alpha", metric.fingerprint, (p["alpha_bits"] + 7) // 8)
        permanent = expand(secret, b"hubbub mean bit", key, (p["end_bits"] + p["precision"] + 7) // 8)
    else:
        first = expand(secret, b"hubbub flip buckets", metric.fingerprint, p["bits"] * ((p["draw_bits"] + 7) // 8))
        permanent = expand(secret, b"hubbub flip bits", key, lanes_bytes(p["bits"], p["precision"]))
    drawn = fresh[: encoder.random_bytes]
    return encoder.encode(item, lambda _: drawn), first + permanent + drawn


def items_of(metric: Metric) -> list[bytes]:
    if metric.numeric:
        low, span = (metric.device.parameters[key] for key in ("low", "span"))
        low -= metric.device.parameters["below_zero"]
        return [str(low + offset).encode() for offset in sorted({0, 1, span // 3, span // 2, span - 1, span})]
    return [value.encode() for value in metric.values] or [b"", b"a", "é".encode(), b"x" * 256]


def assert_twins(keys: dict[str, Any], seed: int, devices: int = 24) -> None:
    metric = define(**keys)
    items = items_of(metric)
    rng = np.random.default_rng(seed)
    index = rng.integers(0, len(items), devices)
    vectorised = encoder(metric, items)
    if metric.permanent_ratio is not None or metric.mechanism == "rappor":
        secrets = [rng.bytes(32) for _ in index]
        record_of = range_record if metric.numeric else rappor_record
        pairs = [record_of(metric, items[i], secrets[n], rng.bytes(4096)) for n, i in enumerate(index)]
        expected = [record for record, _ in pairs]
        noise = np.array([list(given_noise) for _, given_noise in pairs], np.uint8)
    else:
        noise = uniform_bytes(rng, devices, vectorised.noise_bytes)
        expected = [client_record(metric, items[i], noise[n].tobytes()) for n, i in enumerate(index)]
    records = vectorised.encode(index, noise)
    assert noise.shape == (devices, vectorised.noise_bytes)
    assert records.dtype == np.uint8
    assert records.shape == (devices, metric.device.record_bytes)
    assert [record.tobytes() for record in records] == expected


@pytest.mark.parametrize("mechanism", NAMES)
def test_the_same_random_bytes_give_the_clients_record(mechanism: str) -> None:
    """Fed the bytes that a device reads, the vectorised encoder gives the device's record, whatever the parameters."""

    @given(DEFINITIONS[mechanism], st.integers(0, 1 << 32))
    @PROPERTY
    def check(keys: dict[str, Any], seed: int) -> None:
        assert_twins(keys, seed)

    check()


@pytest.mark.parametrize("reports", [{"p": 0.5, "q": 0.75}, {"reports": "one-time"}])
def test_one_hot_rappor_gives_the_clients_record(reports: dict[str, Any]) -> None:
    """Basic RAPPOR, whose filter is one bit a value, agrees with the client as the Bloom form does."""
    keys = {"mechanism": "rappor", "epsilon": 4, "encoding": "one-hot", "f": 0.5, "values": list("abcdefghijk")}
    assert_twins({**keys, **reports}, seed=5, devices=200)


@pytest.mark.parametrize("domain", [2, 3, 5, 255, 256, 257, 4099])
def test_domains_at_the_edges_of_bytes_agree(domain: int) -> None:
    """Domains around powers of two, and one that is large, agree for each mechanism over a list of values."""
    values = [f"v{i}" for i in range(domain)]
    for mechanism in CLOSED if domain > 1024 else (*CLOSED, "subset-selection"):
        assert_twins({"mechanism": mechanism, "epsilon": 1, "values": values}, seed=domain, devices=12)


@pytest.mark.parametrize("blocks", [1, 2, 16])
def test_every_block_shape_of_hadamard_response_agrees(blocks: int) -> None:
    """The one-bit form and those with several blocks agree with the client."""
    values = [f"v{i}" for i in range(40)]
    keys = {"mechanism": "hadamard-response", "epsilon": 2, "values": values, "blocks": blocks}
    assert_twins(keys, seed=blocks, devices=200)


@pytest.mark.parametrize("mechanism", NAMES)
def test_encode_draws_fresh_noise_for_every_device(mechanism: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut into chunks or not, ``encode`` gives what the encoder gives from the generator's bytes in order."""
    values = [str(i) for i in range(9)]
    special: dict[str, dict[str, Any]] = {
        "one-bit-mean": {"epsilon": 2, "low": 0, "high": 8, "perturbation": 0.1},
        "hierarchical-histogram": {"epsilon": 2, "low": 0, "high": 8, "buckets": 8, "levels": 2},
        "d-bit-flip": {"epsilon": 2, "low": 0, "high": 8, "buckets": 4, "bits": 2, "perturbation": 0.1},
        "rappor": {"epsilon": 2, "bits": 64, "hashes": 2, "cohorts": 8, "f": 0.5, "p": 0.5, "q": 0.75},
        "local-hashing": {"epsilon": 2, "hashes": 64},
        "sequence-fragment-puzzle": {"epsilon": 2, "hashes": 64},
        "prefix-extending-method": {"epsilon": 2},
        "count-mean-sketch": {"epsilon": 2, "hashes": 64, "width": 64},
        "hadamard-count-mean-sketch": {"epsilon": 2, "hashes": 64, "width": 64},
    }
    metric = define(mechanism, **special.get(mechanism, {"epsilon": 2, "values": values}))
    items = [value.encode() for value in values]
    index = np.random.default_rng(1).integers(0, 9, 1000)
    vectorised = encoder(metric, items)
    chunk = 8 * 41  # devices: a multiple of 8, so that no chunk's noise ends inside a word
    monkeypatch.setattr("hubbub_simulations.mechanisms._CHUNK_BYTES", chunk * vectorised.noise_bytes)
    records = encode(metric, items, index, np.random.default_rng(2))
    whole = vectorised.encode(index, uniform_bytes(np.random.default_rng(2), 1000, vectorised.noise_bytes))
    assert np.array_equal(records, whole)
    assert len(np.unique(records, axis=0)) > (3 if metric.device.record_bytes > 1 or not metric.numeric else 1)


@pytest.mark.parametrize("mechanism", [*CLOSED, "subset-selection"])
def test_an_item_outside_a_closed_domain_is_refused(mechanism: str) -> None:
    """The vectorised encoder takes no value that the client would refuse."""
    metric = define(mechanism, epsilon=1, values=["a", "b"])
    with pytest.raises(RejectedValueError):
        encoder(metric, [b"a", b"c"])


@pytest.mark.parametrize("broken", ["threshold", "salt"])
def test_the_comparison_fails_where_one_parameter_is_off_by_one(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoder that read a threshold or a salt one off is caught: the comparison above is no empty one."""
    import hubbub_simulations.mechanisms.count_mean_sketch as module

    right: Callable[[Any, Metric, list[bytes]], None] = module.Encoder.__init__

    def wrong(self: Any, metric: Metric, items: list[bytes]) -> None:
        metric.device.parameters[broken] += 1
        right(self, metric, items)
        metric.device.parameters[broken] -= 1

    monkeypatch.setattr(module.Encoder, "__init__", wrong)
    keys = {"mechanism": "count-mean-sketch", "epsilon": 2, "hashes": 64, "width": 1024}
    with pytest.raises(AssertionError):
        assert_twins(keys, seed=1, devices=64)
