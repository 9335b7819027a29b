"""The reports of one part of the value, with the prefix extending method: what they say of any item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.counting.hashing import Keys, buckets
from hubbub_decoder.counting.state import State
from hubbub_decoder.discovery.linear_hashing import support_of_items
from hubbub_decoder.support.collisions import sum_of_squared_cells
from hubbub_registry import Metric

# Candidates x families whose items are in memory at a time.
_ITEMS_AT_ONCE = 1 << 18


@dataclass(frozen=True, eq=False)
class Part:
    """``reports`` of one part; a holder's supports its item with probability ``p``, anybody else's with ``q``.

    ``floor`` is the variance of a share of the reports' support that one other value, held by all, would leave by
    collisions of items; ``squares`` is S, the sum of the values' squared shares, of which it is multiplied.
    """

    number: int
    reports: int
    p: float
    q: float
    floor: float
    squares: float
    support: npt.NDArray[np.int64]
    """(families, items)"""
    salt: int
    first_family: int
    item_bits: int

    @staticmethod
    def of(metric: Metric, state: State, number: int) -> Part:
        """Part ``number`` of the value: a level's beginning, or at number ``levels`` all of it."""
        parameters = metric.device.parameters
        bits, dimension = parameters["width_bits"], parameters["dimension"]
        width, items, families = 1 << bits, 1 << (bits * dimension), 1 << parameters["families_bits"]
        keep = parameters["threshold"] / (1 << parameters["precision"])
        counts = state.arrays["counts"][number]
        reports = int(counts.sum(dtype=np.int64))
        cells = counts.reshape(-1, width)
        same_function = cells.sum(axis=1, dtype=np.int64).astype(np.float64)
        pairs = float(same_function @ (same_function - 1))
        alike = (sum_of_squared_cells(cells) - reports) / pairs if pairs else 1.0
        return Part(
            number=number,
            reports=reports,
            p=keep + (1 - keep) / width,
            q=1 / width,
            # Another value's item is the candidate's in 1/items of the families, which adds a (m-1)/m to its support;
            # in (m-1)/items the two share all coordinates but x_0 and never meet, which takes a/m off. The mean is 0.
            floor=keep**2 * (width - 1) / width / items / families,
            # Two reports of one function hold one item with probability S; then they agree a**2 (m-1)/m oftener.
            squares=float(np.clip((alike - 1 / width) / (keep**2 * (1 - 1 / width)), 0.0, 1.0)),
            support=support_of_items(counts, bits, dimension),
            salt=parameters["salt"],
            first_family=number * families,
            item_bits=bits * dimension,
        )

    def supporting(self, keys: Keys) -> npt.NDArray[np.int64]:
        """How many of the reports support each item; shape (d,)."""
        families = len(self.support)
        total = np.zeros(len(keys), np.int64)
        step = max(1, _ITEMS_AT_ONCE // families)
        for start in range(0, len(keys), step):
            some = Keys(keys.first[start : start + step], keys.second[start : start + step])
            for family in range(families):
                at = buckets(some, self.salt, np.array([self.first_family + family]), self.item_bits)[0]
                total[start : start + step] += self.support[family].take(at)
        return total

    def items_of(self, keys: Keys) -> npt.NDArray[np.int64]:
        """The item of each key in each family; shape (families, d)."""
        numbers = self.first_family + np.arange(len(self.support))
        return buckets(keys, self.salt, numbers, self.item_bits)

    def excess(self, items: npt.NDArray[np.int64]) -> FloatArray:
        """By how much each family's support of its item is above that of an item nobody holds; shape (families, d)."""
        # A report supports 1/width of all items, exactly.
        expected = self.support.mean(axis=1, keepdims=True)
        return np.asarray(np.take_along_axis(self.support, items, axis=1) - expected, np.float64)

    def null_variance(self) -> float:
        """The variance of the support of an item that nobody holds, in reports squared."""
        return self.reports * self.q * (1 - self.q) + self.reports**2 * self.squares * self.floor
