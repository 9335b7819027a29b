"""The records that one part can send: all of them where they are few, else drawn ones that stand for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hubbub_decoder.counting.records import Records
from hubbub_decoder.joint.bloom import FloatArray
from hubbub_decoder.joint.likelihood import Side, bit_chances, side_of
from hubbub_decoder.joint.pairs import patterns
from hubbub_decoder.joint.sample import sample
from hubbub_decoder.joint.support import bit_vector
from hubbub_registry import Metric

# Bits of records that are all gone through, and likelihoods of theirs.
MOST_BITS = 16
_MOST_LIKELIHOODS = 1 << 23
# Where there are more, so many are drawn, and at least so many for each class.
_DRAWN = 1 << 14
AT_LEAST = 16
# Below this a class's records are as likely as no value makes them.
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Outputs:
    """Records of one part, and the factor ``weights`` (rows,) of each that likelihoods leave out."""

    side: Side
    weights: FloatArray

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def chances(self) -> FloatArray:
        """The chance of each record from each class; each column adds up to 1."""
        chance = self.side.at(slice(None)) * self.weights[:, np.newaxis]
        return np.asarray(chance / chance.sum(axis=0))

    @property
    def telling(self) -> FloatArray:
        """How much a record tells of each class: the square of how far its likelihood is from that of no value.

        Each column adds up to 1; that of a class which no record tells of is its chances.
        """
        likelihood = self.side.at(slice(None))
        beyond = likelihood / (self.weights @ likelihood / self.weights.sum()) - 1
        telling = beyond**2 * self.weights[:, np.newaxis]
        total = telling.sum(axis=0)
        known = total > _SAME * self.weights.sum()
        return np.where(known, telling / np.where(known, total, 1), self.chances)

    def merged(self) -> Outputs:
        """The same with alike records merged, where they are told by few enough bits."""
        alike, which = patterns(self.side, np.arange(len(self)))
        return Outputs(alike, np.bincount(which, weights=self.weights, minlength=len(alike)).astype(np.float64))


def bits(part: Metric) -> int:
    """Of one record."""
    return sum(bits for _, bits, _ in part.device.fields)


def outputs(part: Metric, candidates: Sequence[str], rng: np.random.Generator) -> Outputs:
    """What ``part`` can send."""
    classes = len(candidates) + 1
    if bits(part) <= MOST_BITS and classes << bits(part) <= _MOST_LIKELIHOODS:
        return every(part, candidates)
    return Outputs(*sample(part, candidates, max(_DRAWN, AT_LEAST * classes), rng))


def every(part: Metric, candidates: Sequence[str]) -> Outputs:
    """All records that ``part`` can send."""
    records = np.arange(1 << bits(part), dtype="<u4").view(np.uint8).reshape(-1, 4)[:, : part.device.record_bytes]
    records = records[_possible(part, records)]
    return Outputs(side_of(part, records, candidates), _weights(part, records))


def _possible(part: Metric, records: Records) -> np.ndarray:
    number = np.arange(len(records))
    possible = np.ones(len(records), np.bool_)
    for _, width, domain in part.device.fields:
        if domain:
            possible &= (number & ((1 << width) - 1)) < domain
        number = number >> width
    if part.mechanism == "subset-selection":
        possible &= bit_vector(part, records).sum(axis=1) == part.device.parameters["size"]
    return possible


def _weights(part: Metric, records: Records) -> FloatArray:
    """Bit vectors are likelier with more zeros or with more ones; all other records are alike."""
    chances = bit_chances(part)
    if chances is None:
        return np.ones(len(records))
    vector = bit_vector(part, records)
    ones = vector.sum(axis=1)
    return np.asarray(chances[1] ** ones * (1 - chances[1]) ** (vector.shape[1] - ones))
