"""Pairs of records as a likelihood sees them: those that it cannot tell apart are one pair, seen more often."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hubbub_decoder.joint.bloom import FloatArray
from hubbub_decoder.joint.likelihood import Side

IntArray = npt.NDArray[np.int64]
# Rows of likelihoods that are in memory at a time, in cells of the joint table.
_CELLS_AT_ONCE = 1 << 21
# A pattern of a record is one integer of at most so many bits.
_PATTERN_BITS = 40


@dataclass(frozen=True, eq=False)
class Pairs:
    """``count`` (u,) reports each have record ``i`` (u,) of ``first`` and record ``j`` (u,) of ``second``."""

    first: Side
    second: Side
    i: IntArray
    j: IntArray
    count: FloatArray

    def __len__(self) -> int:
        return len(self.count)

    @property
    def shape(self) -> tuple[int, int]:
        """Of the joint table."""
        return self.first.width, self.second.width

    def chunks(self) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        """The likelihoods of either side and the counts, some rows at a time: (rows, A), (rows, B), (rows,)."""
        step = max(1, _CELLS_AT_ONCE // (self.shape[0] * self.shape[1]))
        for start in range(0, len(self), step):
            part = slice(start, start + step)
            yield self.first.at(self.i[part]), self.second.at(self.j[part]), self.count[part]

    def swapped(self) -> Pairs:
        """The same pairs with the sides exchanged."""
        return Pairs(self.second, self.first, self.j, self.i, self.count)


def merged(pairs: Pairs) -> Pairs:
    """The same reports with alike records merged, where they are told by few enough bits."""
    first, i = patterns(pairs.first, pairs.i)
    second, j = patterns(pairs.second, pairs.j)
    if first is pairs.first and second is pairs.second:
        return pairs
    both, which = np.unique(i * len(second) + j, return_inverse=True)
    count = np.bincount(which, weights=pairs.count, minlength=len(both)).astype(np.float64)
    return Pairs(first, second, both // len(second), both % len(second), count)


def patterns(side: Side, rows: IntArray) -> tuple[Side, IntArray]:
    """The different rows of ``side``, and which of them each of ``rows`` is."""
    bits = max(1, (len(side.table) - 1).bit_length())
    others, other = (np.zeros(1), np.zeros(len(side), np.int64))
    if side.other is not None:
        others, other = np.unique(side.other, return_inverse=True)
    if bits * side.codes.shape[1] + len(others).bit_length() > _PATTERN_BITS:
        return side, rows
    pattern = other.astype(np.int64)
    for column in side.codes.T:
        pattern = pattern << bits | column
    _, kept, which = np.unique(pattern, return_index=True, return_inverse=True)
    codes = side.codes[kept]
    return replace(side, codes=codes, other=None if side.other is None else side.other[kept]), which[rows]
