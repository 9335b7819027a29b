"""The state of a joint metric: which records there are, and how often each.

A joint estimate needs whole reports, and no sums of them. What adds up are the counts of distinct records: few where
both parts have few outputs, at most as many as reports where they have many.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hubbub_decoder.counting.records import Records, bits_at, check_domain, check_shape
from hubbub_decoder.counting.state import IntArray, State, check_alike
from hubbub_decoder.errors import EstimateError, StateError
from hubbub_registry import Metric

Words = npt.NDArray[np.uint64]
WORD = 8
MOST_BYTES = 1 << 30
"""What a state may take: 16 bytes for each distinct record of up to 8 bytes, so 67 million of them."""


def partial(metric: Metric, records: Records) -> State:
    """``words`` (distinct, words): each record once, zero-padded to whole words; ``counts`` (distinct,)."""
    check_shape(metric, records)
    _check_fields(metric, records)
    padded = np.zeros((len(records), -(-metric.device.record_bytes // WORD) * WORD), np.uint8)
    padded[:, : records.shape[1]] = records
    words, counts = _distinct(padded.view("<u8").astype(np.uint64), np.ones(len(records), np.int64))
    return _state(metric.name, State.of(metric, len(records), words=words, counts=counts))


def merge(a: State, b: State) -> State:
    """The state of the records of both. Raises StateError where they are of different definitions."""
    check_alike(a, b)
    _check_arrays(a, b)
    words, counts = _distinct(
        np.concatenate([_words(a), _words(b)]),
        np.concatenate([each.arrays["counts"].astype(np.int64) for each in (a, b)]),
    )
    return _state("joint", State(a.mechanism, a.fingerprint, a.n + b.n, {"words": words, "counts": counts}))


def _check_arrays(a: State, b: State) -> None:
    """Raises StateError unless both hold words of one width, and a count of each."""
    shapes = [{name: array.shape for name, array in each.arrays.items()} for each in (a, b)]
    width = [each.get("words", ())[1:] for each in shapes]
    if (
        width[0] != width[1]
        or len(width[0]) != 1
        or any(each != {"words": (*each.get("counts", ()), *width[0]), "counts": each["words"][:1]} for each in shapes)
    ):
        raise StateError(f"two states of {a.mechanism} {a.fingerprint.hex()} differ in shape; aggregate both again")


def records_of(metric: Metric, state: State) -> tuple[Records, IntArray]:
    """The distinct records, (distinct, record_bytes), and how often each was sent."""
    rows = np.ascontiguousarray(_words(state).astype("<u8")).view(np.uint8)
    return rows[:, : metric.device.record_bytes], state.arrays["counts"]


def _words(state: State) -> Words:
    return state.arrays["words"].astype(np.uint64, copy=False)


def _distinct(words: Words, counts: npt.NDArray[np.int64]) -> tuple[Words, npt.NDArray[np.int64]]:
    """Each row once, in order, with its counts added up."""
    if not len(words):
        return words, counts
    order = np.lexsort(words.T) if words.shape[1] > 1 else np.argsort(words[:, 0])
    words, counts = words[order], counts[order]
    new = np.flatnonzero(np.concatenate([[True], (words[1:] != words[:-1]).any(axis=1)]))
    return words[new], np.add.reduceat(counts, new)


def _state(name: str, state: State) -> State:
    size = sum(array.nbytes for array in state.arrays.values())
    if size > MOST_BYTES:
        raise EstimateError(
            f"metric {name}: {len(state.arrays['counts']):,} distinct reports take {size >> 20:,} MiB, more than "
            f"{MOST_BYTES >> 20:,}; decode fewer periods at a time, or give the parts fewer outputs (fewer hashes, "
            "smaller width) in the next definition"
        )
    return state


def _check_fields(metric: Metric, records: Records) -> None:
    """Raises RecordError where a field, or padding, holds what no device sends."""
    fields = metric.device.fields
    used = sum(bits for _, bits, _ in fields)
    at = 0
    for name, bits, domain in (*fields, ("padding", 8 * metric.device.record_bytes - used, 1)):
        if domain and bits:
            check_domain(metric, bits_at(records, at, bits), domain, name)
        at += bits
