"""Which records speak for a value: what somebody who wants it to look popular would send."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hubbub_client.hashing import item_key
from hubbub_client.mechanisms.hierarchical_histogram import at_level, nodes_bits
from hubbub_decoder.counting.geometry import coordinates
from hubbub_decoder.counting.hashing import Keys, buckets, item_keys
from hubbub_decoder.discovery.linear_hashing import linear_buckets
from hubbub_decoder.discovery.pooled import first_counted, shown_in
from hubbub_decoder.numbers.geometry import points_of
from hubbub_decoder.rappor.bloom import candidate_bits
from hubbub_decoder.screen.fields import numbers, start_of
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes

BoolArray = NDArray[np.bool_]


def supports(metric: Metric, value: str, records: Bytes) -> BoolArray:
    """Which of ``records`` (n, record_bytes) say as much for ``value`` as a record of this mechanism can; shape (n,).

    For a mean, which of them are a 1.
    """
    return _SUPPORT[metric.mechanism](metric, value, records)


def _vector(metric: Metric, records: Bytes) -> NDArray[np.uint8]:
    """The bits of the last field; shape (n, bits)."""
    at, bits = start_of(metric, len(metric.device.fields) - 1), metric.device.fields[-1][1]
    return np.unpackbits(records, axis=1, bitorder="little")[:, at : at + bits]


def _odd(numbers: NDArray[np.int64]) -> BoolArray:
    return np.asarray(np.bitwise_count(numbers) % 2 == 1)


def _bucket(metric: Metric, value: str, hash_index: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bucket of ``value`` under each record's hash function."""
    p = metric.device.parameters
    index = np.arange(1 << p["hashes_bits"])
    every = buckets(item_keys([value], p["salt"]), p["salt"], index, p["width_bits"])[:, 0]
    return np.asarray(every[hash_index], np.int64)


def _direct(metric: Metric, value: str, records: Bytes) -> BoolArray:
    return np.asarray(numbers(metric, records, 0) == metric.device.index_of(value.encode()))


def _own_bit(metric: Metric, value: str, records: Bytes) -> BoolArray:
    return np.asarray(_vector(metric, records)[:, metric.device.index_of(value.encode())] == 1)


def _sketch_bit(metric: Metric, value: str, records: Bytes) -> BoolArray:
    at = _bucket(metric, value, numbers(metric, records, 0))
    return np.asarray(_vector(metric, records)[np.arange(len(records)), at] == 1)


def _own_bucket(metric: Metric, value: str, records: Bytes) -> BoolArray:
    return np.asarray(_bucket(metric, value, numbers(metric, records, 0)) == numbers(metric, records, 1))


def _hadamard_sketch(metric: Metric, value: str, records: Bytes) -> BoolArray:
    entry = _odd(numbers(metric, records, 1) & _bucket(metric, value, numbers(metric, records, 0)))
    return np.asarray(entry == (numbers(metric, records, 2) == 1))


def _hadamard_response(metric: Metric, value: str, records: Bytes) -> BoolArray:
    columns = (1 << metric.device.parameters["size_bits"]) - 1
    block, row = divmod(metric.device.index_of(value.encode()), columns)
    output = numbers(metric, records, 0)
    return np.asarray((output // (columns + 1) == block) & ~_odd(output & (row + 1)))


def _orthogonal(metric: Metric, value: str, records: Bytes) -> BoolArray:
    p = metric.device.parameters
    own = coordinates(np.array([metric.device.index_of(value.encode())]), p["order"], p["dimension"])
    sent = coordinates(numbers(metric, records, 0), p["order"], p["dimension"])
    return np.asarray((own * sent).sum(axis=0) % p["order"] == 0)


def _filter(metric: Metric, value: str, records: Bytes) -> BoolArray:
    p = metric.device.parameters
    if not p["hashes"]:
        return _own_bit(metric, value, records)
    bits = candidate_bits(metric, [value]).toarray().reshape(p["cohorts"], p["bits"]).astype(np.uint8)
    wanted = bits[numbers(metric, records, 0)]
    return np.asarray(((_vector(metric, records) & wanted) == wanted).all(axis=1))


def _item_bucket(metric: Metric, value: str, records: Bytes) -> BoolArray:
    """Of the reports that count the value, those with the bucket of its item; no other says anything of its count."""
    p = metric.device.parameters
    bits, dimension = p["width_bits"], p["dimension"]
    part = numbers(metric, records, 0) * (p["levels"] + 1) >> p["slots_bits"]
    family, function, bucket = (numbers(metric, records, i) for i in (1, 2, 3))
    found = np.zeros(len(records), np.bool_)
    for counted in range(first_counted(len(value.encode()), p), p["levels"] + 1):
        of = part == counted
        key = item_key(shown_in(value.encode(), counted, p), p["salt"])
        index = (counted << p["families_bits"]) + np.arange(1 << p["families_bits"])
        keys = Keys(np.array(key[:1], np.uint64), np.array(key[1:], np.uint64))
        item = buckets(keys, p["salt"], index, bits * dimension)[:, 0]
        found[of] = linear_buckets(item[family[of]], function[of], bits, dimension) == bucket[of]
    return found


def _one(metric: Metric, value: str, records: Bytes) -> BoolArray:  # noqa: ARG001 - one signature
    return np.asarray(records[:, 0] == 1)


def _bucket_bit(metric: Metric, value: str, records: Bytes) -> BoolArray:
    label = next(i for i, each in enumerate(metric.candidates) if _holds(each, int(value)))
    drawn = np.column_stack([numbers(metric, records, i) for i in range(metric.device.parameters["bits"])])
    return np.asarray(((drawn == label) & (_vector(metric, records) == 1)).any(axis=1))


def _own_node(metric: Metric, value: str, records: Bytes) -> BoolArray:
    p = metric.device.parameters
    bucket = next(i for i, each in enumerate(metric.candidates) if _holds(each, int(value)))
    level, point = numbers(metric, records, 0), numbers(metric, records, 1)
    found = np.zeros(len(records), np.bool_)
    for number in range(1 << p["levels_bits"]):
        each = at_level(p, number)
        geometry = each["order"], each["dimension"]
        node = np.array([bucket >> (p["buckets_bits"] - nodes_bits(p, number))])
        own, of = coordinates(points_of(node, *geometry), *geometry), level == number
        found[of] = (own * coordinates(point[of], *geometry)).sum(axis=0) % geometry[0] == 0
    return found


def _holds(label: str, value: int) -> bool:
    first, _, last = label.partition("..")
    return int(first) <= value <= int(last or first)


_SUPPORT: dict[str, Callable[[Metric, str, Bytes], BoolArray]] = {
    "randomized-response": _direct,
    "unary-encoding": _own_bit,
    "hadamard-response": _hadamard_response,
    "count-mean-sketch": _sketch_bit,
    "hadamard-count-mean-sketch": _hadamard_sketch,
    "projective-geometry-response": _orthogonal,
    "local-hashing": _own_bucket,
    "subset-selection": _own_bit,
    "rappor": _filter,
    "one-bit-mean": _one,
    "d-bit-flip": _bucket_bit,
    "hierarchical-histogram": _own_node,
    "prefix-extending-method": _item_bucket,
    "sequence-fragment-puzzle": _own_bucket,
}
