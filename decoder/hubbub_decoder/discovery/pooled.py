"""A string is counted in the reports of every part that shows all of it, but for the one in which it was found.

A beginning longer than a string shows the string's end, and so all of it. The first such level is where a search finds
the string and stops following it: what later levels and the whole say of it had no part in that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hubbub_client.hashing import item_key
from hubbub_client.mechanisms.prefix_extending_method import PAD, lengths
from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.counting.hashing import Keys
from hubbub_decoder.discovery.parts import Part
from hubbub_decoder.support.colliding import CollidingSupport


def first_counted(size: int, parameters: Mapping[str, int]) -> int:
    """The first part in which a string of ``size`` bytes is counted; it is in all later ones, too."""
    levels = lengths(dict(parameters))
    showing = [level for level, length in enumerate(levels) if length > size]
    return min(showing[0] + 1, len(levels)) if showing else len(levels)


def shown_in(data: bytes, part: int, parameters: Mapping[str, int]) -> bytes:
    """What the reports of a part hash of a string that it shows all of."""
    levels = lengths(dict(parameters))
    return data.ljust(levels[part], PAD) if part < len(levels) else data


@dataclass(frozen=True, eq=False)
class Pool:
    """Some parts as one: each of ``reports`` supports a string with probability p for its holders, q for others."""

    parts: tuple[Part, ...]

    @property
    def reports(self) -> int:
        """How many reports there are of all the parts."""
        return sum(part.reports for part in self.parts)

    def null_variance(self) -> float:
        """The variance of the support of a string that nobody holds: the parts have hash functions of their own."""
        return sum(part.null_variance() for part in self.parts)

    def law(self) -> CollidingSupport:
        """The distribution of that support: as if the parts, which are about as large, were families of one."""
        squared = sum(part.reports**2 for part in self.parts)
        squares = sum(part.reports**2 * part.squares for part in self.parts) / max(1, squared)
        one = self.parts[0]
        families = max(1, round(len(one.support) * self.reports**2 / max(1, squared)))
        return CollidingSupport(self.reports, families, 1 << one.item_bits, one.p, one.q, squares)

    def supporting(self, values: Sequence[str], parameters: Mapping[str, int]) -> npt.NDArray[np.int64]:
        """How many of the reports support each of ``values``; shape (d,)."""
        total = np.zeros(len(values), np.int64)
        for part in self.parts:
            shown = (shown_in(value.encode(), part.number, parameters) for value in values)
            halves = np.array([item_key(each, part.salt) for each in shown], np.uint64).reshape(-1, 2)
            total += part.supporting(Keys(halves[:, 0], halves[:, 1]))
        return total


@dataclass(frozen=True)
class PooledLaw:
    """Support beside the first part that is counted, (d, 2), by the law of each pool."""

    laws: Mapping[int, CollidingSupport]

    def tail(self, support: npt.NDArray[np.int64]) -> FloatArray:
        """P(as much support or more) where nobody holds the string; shape (d,)."""
        tail = np.ones(len(support))
        for first, law in self.laws.items():
            of = support[:, 1] == first
            tail[of] = law.tail(support[of, 0])
        return tail

    def steps(self, support: npt.NDArray[np.int64], largest: float) -> FloatArray:
        """By how much one more report raises each count, where it is ``largest`` in the smallest pool; shape (d,)."""
        fewest = min((law.n for law in self.laws.values()), default=1)
        of_one = {first: largest * fewest / law.n for first, law in self.laws.items()}
        return np.array([of_one[first] for first in support[:, 1].tolist()], np.float64)
