"""Which records speak for which candidates: the one thing that most mechanisms' likelihoods depend on.

Each function takes a part, its records (n, record_bytes) and the candidates, and gives a 0/1 array (n, d).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from hubbub_decoder.counting.geometry import coordinates
from hubbub_decoder.counting.hashing import buckets, item_keys
from hubbub_decoder.counting.records import Records
from hubbub_decoder.screen.fields import numbers, start_of
from hubbub_registry import Metric

Codes = npt.NDArray[np.uint8]


def supports(part: Metric, records: Records, candidates: Sequence[str]) -> Codes:
    """1 where a record is likelier from a holder of the candidate than from others."""
    return _SUPPORT[part.mechanism](part, records, candidates)


def bit_vector(part: Metric, records: Records) -> Codes:
    """The bits of the last field; shape (n, bits)."""
    at, bits = start_of(part, len(part.device.fields) - 1), part.device.fields[-1][1]
    vector: Codes = np.unpackbits(records, axis=1, bitorder="little")[:, at : at + bits]
    return vector


def _as_codes(which: npt.NDArray[np.bool_]) -> Codes:
    return which.astype(np.uint8)


def value_indices(part: Metric, candidates: Sequence[str]) -> npt.NDArray[np.int64]:
    """The place of every candidate in the part's list; shape (d,)."""
    return np.array([part.device.index_of(value.encode()) for value in candidates], np.int64)


def _own_value(part: Metric, records: Records, candidates: Sequence[str]) -> Codes:
    return _as_codes(numbers(part, records, 0)[:, np.newaxis] == value_indices(part, candidates))


def _own_bit(part: Metric, records: Records, candidates: Sequence[str]) -> Codes:
    return bit_vector(part, records)[:, value_indices(part, candidates)]


def _own_half(part: Metric, records: Records, candidates: Sequence[str]) -> Codes:
    size = 1 << part.device.parameters["size_bits"]
    block, row = np.divmod(value_indices(part, candidates), size - 1)
    sent_block, element = np.divmod(numbers(part, records, 0)[:, np.newaxis], size)
    even = np.bitwise_count(element & (row + 1)) % 2 == 0
    return _as_codes((sent_block == block) & even)


def _orthogonal(part: Metric, records: Records, candidates: Sequence[str]) -> Codes:
    p = part.device.parameters
    own = coordinates(value_indices(part, candidates), p["order"], p["dimension"])
    sent = coordinates(numbers(part, records, 0), p["order"], p["dimension"])
    return _as_codes(sent.T @ own % p["order"] == 0)


def bucket_places(part: Metric, hash_index: npt.NDArray[np.int64], candidates: Sequence[str]) -> npt.NDArray[np.int64]:
    """The bucket of every candidate under each record's hash function; shape (n, d)."""
    p = part.device.parameters
    used, which = np.unique(hash_index, return_inverse=True)
    return buckets(item_keys(candidates, p["salt"]), p["salt"], used, p["width_bits"])[which]


def _own_bucket(part: Metric, records: Records, candidates: Sequence[str]) -> Codes:
    place = bucket_places(part, numbers(part, records, 0), candidates)
    return _as_codes(place == numbers(part, records, 1)[:, np.newaxis])


def _sketch_bit(part: Metric, records: Records, candidates: Sequence[str]) -> Codes:
    place = bucket_places(part, numbers(part, records, 0), candidates)
    return np.take_along_axis(bit_vector(part, records), place, axis=1)


def _hadamard_entry(part: Metric, records: Records, candidates: Sequence[str]) -> Codes:
    place = bucket_places(part, numbers(part, records, 0), candidates)
    entry = np.bitwise_count(numbers(part, records, 1)[:, np.newaxis] & place) % 2
    return _as_codes(entry == numbers(part, records, 2)[:, np.newaxis])


_SUPPORT: dict[str, Callable[[Metric, Records, Sequence[str]], Codes]] = {
    "randomized-response": _own_value,
    "unary-encoding": _own_bit,
    "hadamard-response": _own_half,
    "projective-geometry-response": _orthogonal,
    "local-hashing": _own_bucket,
    "subset-selection": _own_bit,
    "count-mean-sketch": _sketch_bit,
    "hadamard-count-mean-sketch": _hadamard_entry,
    "rappor": _own_bit,
}
