"""The variance of one report's share in an answer, exactly: over all points that it can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hubbub_client.mechanisms.hierarchical_histogram import STRIDE
from hubbub_client.mechanisms.projective_geometry_response import points_in
from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.geometry import orthogonal_totals
from hubbub_decoder.state import IntArray

# Past so many cells a transform takes seconds, and so many points are alike enough for the mean over them.
_MOST_CELLS = 1 << 20


@dataclass(frozen=True)
class Geometry:
    """A level's geometry; ``keep`` is how often an owned point is drawn, ``held`` and ``other`` how likely a report
    supports the value's own node and another."""

    order: int
    dimension: int
    keep: float
    held: float
    other: float

    def variance(self, weights: FloatArray, shares: FloatArray) -> float | None:
        """For weights on the nodes and the nodes' shares; None where there are too many points to go through.

        A report of point u adds (the weights of the nodes that own u - q times all) / (p - q). It is of u with
        probability (1 - a) / N + (a / k) times the share of the values whose nodes own u. Both sums are over the nodes
        orthogonal to u.
        """
        if self.order**self.dimension > _MOST_CELLS:
            return None
        points, owned = points_in(self.order, self.dimension), points_in(self.order, self.dimension - 1)
        place = points_of(np.arange(len(weights)), self.order, self.dimension)
        weighed, shared = np.zeros(points), np.zeros(points)
        weighed[place], shared[place] = weights, shares
        adds = orthogonal_totals(weighed, self.order, self.dimension) - self.other * weights.sum()
        adds /= self.held - self.other
        chance = (1 - self.keep) / points + self.keep / owned * orthogonal_totals(shared, self.order, self.dimension)
        return float(chance @ adds**2 - (chance @ adds) ** 2)


def points_of(nodes: IntArray, order: int, dimension: int) -> npt.NDArray[np.int64]:
    """``hubbub_client.mechanisms.hierarchical_histogram.point_of`` for many nodes."""
    return np.asarray(nodes, np.int64) * STRIDE % points_in(order, dimension)
