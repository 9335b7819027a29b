"""Records that a part sends, drawn: where they are too many to go through, these stand for all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hubbub_decoder.counting.records import Records
from hubbub_decoder.joint.bloom import FloatArray, filter_places
from hubbub_decoder.joint.likelihood import Side, bit_chances, is_bloom, side_of
from hubbub_decoder.joint.support import bucket_places, value_indices
from hubbub_registry import Metric

# A field of more bits is a vector of bits, and no number.
_NUMBER_BITS = 48


def sample(part: Metric, candidates: Sequence[str], size: int, rng: np.random.Generator) -> tuple[Side, FloatArray]:
    """The likelihoods of ``size`` records, and the factor (size,) of each that likelihoods leave out and drawing does.

    Bit vectors and buckets, which by chance alone seldom show a candidate's own, are drawn as many for each class of
    values; all others uniformly.
    """
    fields = part.device.fields
    numbers = [rng.integers(0, domain or 1 << bits, size) for _, bits, domain in fields if bits <= _NUMBER_BITS]
    holder = rng.permutation(np.arange(size) % (len(candidates) + (not part.closed)))
    chances = bit_chances(part)
    if chances is not None:
        one, zero = chances
        vector = rng.random((size, fields[-1][1]), np.float32) < zero
        # Bits of values have no field in front that says of which hash functions they are.
        group = numbers[0] if len(fields) > 1 else np.zeros(size, np.int64)
        own = _own_bits(part, group, candidates, holder, rng)
        vector[np.arange(size)[:, np.newaxis], own] = rng.random(own.shape) < one
        side = side_of(part, _packed(part, numbers[: len(fields) - 1], vector), candidates)
        return side, 1 / side.at(slice(None)).mean(axis=1)
    if part.mechanism == "local-hashing":
        own = bucket_places(part, numbers[0], candidates)[np.arange(size), holder % len(candidates)]
        numbers[1] = np.where((rng.random(size) < 0.5) & (holder < len(candidates)), own, numbers[1])
        side = side_of(part, _packed(part, numbers), candidates)
        supported = side.codes.sum(axis=1, dtype=np.int64) << part.device.parameters["width_bits"]
        return side, 1 / (len(candidates) + 2 + supported)
    if part.mechanism == "subset-selection":
        place = rng.random((size, fields[0][1])).argsort(axis=1)
        return side_of(part, _packed(part, [], place < part.device.parameters["size"]), candidates), np.ones(size)
    return side_of(part, _packed(part, numbers), candidates), np.ones(size)


def _own_bits(
    part: Metric, group: np.ndarray, candidates: Sequence[str], holder: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """The bits that each holder's value sets, any at all where it is no candidate; shape (size, bits of one value)."""
    if is_bloom(part):
        used, which = np.unique(group, return_inverse=True)
        places = filter_places(part, used, candidates)[which]
    elif part.mechanism == "count-mean-sketch":
        places = bucket_places(part, group, candidates)[:, np.newaxis]
    else:
        return value_indices(part, candidates)[holder, np.newaxis]
    anywhere = rng.integers(0, part.device.fields[-1][1], places.shape[:2])
    own = places[np.arange(len(group)), :, holder % len(candidates)]
    return np.where((holder < len(candidates))[:, np.newaxis], own, anywhere)


def _packed(part: Metric, numbers: Sequence[np.ndarray], vector: np.ndarray | None = None) -> Records:
    """Records of the first fields' numbers, and behind them a vector of bits."""
    columns = [
        (number[:, np.newaxis] >> np.arange(bits) & 1).astype(np.bool_)
        for number, (_, bits, _) in zip(numbers, part.device.fields, strict=False)
    ]
    return np.packbits(np.hstack(columns if vector is None else [*columns, vector]), axis=1, bitorder="little")
