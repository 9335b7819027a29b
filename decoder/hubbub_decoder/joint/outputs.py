"""Every record that two parts can send, where they are few: then what reports tell is known without seeing any."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hubbub_decoder.joint.bloom import FloatArray
from hubbub_decoder.joint.likelihood import Side, side_of
from hubbub_decoder.joint.pairs import Pairs
from hubbub_decoder.joint.support import bit_vector
from hubbub_decoder.mechanisms.rappor import bit_rates
from hubbub_decoder.records import Records
from hubbub_registry import Metric

# Bits of both parts' records together.
_MOST_BITS = 16


def few_outputs(parts: Sequence[Metric]) -> bool:
    """Whether both parts' records together are few enough to go through."""
    return sum(_bits(part) for part in parts) <= _MOST_BITS


def expected(parts: Sequence[Metric], sides: Sequence[Sequence[str]], table: FloatArray) -> Pairs:
    """All pairs of records, each with its chance where ``table`` is true; ``sides`` are either part's candidates."""
    first, second = (_every(part, values) for part, values in zip(parts, sides, strict=True))
    i, j = np.divmod(np.arange(len(first[0]) * len(second[0])), len(second[0]))
    chance = (_chances(*first) @ table @ _chances(*second).T).ravel()
    return Pairs(first[0], second[0], i, j, chance)


def _bits(part: Metric) -> int:
    return sum(bits for _, bits, _ in part.device.fields)


def _every(part: Metric, candidates: Sequence[str]) -> tuple[Side, FloatArray]:
    """The likelihoods of every record, and the factor of each record that likelihoods leave out."""
    records = np.arange(1 << _bits(part), dtype="<u4").view(np.uint8).reshape(-1, 4)[:, : part.device.record_bytes]
    records = records[_possible(part, records)]
    return side_of(part, records, candidates), _weights(part, records)


def _possible(part: Metric, records: Records) -> np.ndarray:
    number = np.arange(len(records))
    possible = np.ones(len(records), np.bool_)
    for _, bits, domain in part.device.fields:
        if domain:
            possible &= (number & ((1 << bits) - 1)) < domain
        number = number >> bits
    if part.mechanism == "subset-selection":
        possible &= bit_vector(part, records).sum(axis=1) == part.device.parameters["size"]
    return possible


def _weights(part: Metric, records: Records) -> FloatArray:
    """Bit vectors are likelier with more zeros or with more ones; all other records are alike."""
    p = part.device.parameters
    if part.mechanism == "rappor":
        rate = float(bit_rates(part)[1])
    elif part.mechanism in ("unary-encoding", "count-mean-sketch"):
        rate = p["threshold"] / (1 << p["precision"])
    else:
        return np.ones(len(records))
    bits = bit_vector(part, records)
    ones = bits.sum(axis=1)
    return np.asarray(rate**ones * (1 - rate) ** (bits.shape[1] - ones))


def _chances(side: Side, weights: FloatArray) -> FloatArray:
    """The chance of each record from each class; each column adds up to 1."""
    chance = side.at(slice(None)) * weights[:, np.newaxis]
    return np.asarray(chance / chance.sum(axis=0))
