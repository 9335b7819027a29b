"""The moments of one report's share in an answer, exactly: over all points that it can be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hubbub_client.mechanisms.hierarchical_histogram import STRIDE
from hubbub_client.mechanisms.projective_geometry_response import points_in
from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.counting.geometry import orthogonal_totals
from hubbub_decoder.counting.state import IntArray
from hubbub_decoder.numbers.report import ReportMoments

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

    def moments(self, weights: FloatArray, shares: FloatArray) -> ReportMoments | None:
        """For weights on the nodes, and each row of the nodes' shares (d, m); None where there are too many points.

        A report of point u adds (the weights of the nodes that own u - q times all) / (p - q). It is of u with
        probability (1 - a) / N + (a / k) times the share of the values whose nodes own u. Both sums are over the nodes
        orthogonal to u.
        """
        if self.order**self.dimension > _MOST_CELLS:
            return None
        points, owned = points_in(self.order, self.dimension), points_in(self.order, self.dimension - 1)
        place = points_of(np.arange(len(weights)), self.order, self.dimension)

        def totals(nodes: FloatArray) -> FloatArray:
            at = np.zeros(points)
            at[place] = nodes
            return orthogonal_totals(at, self.order, self.dimension)

        adds = (totals(weights) - self.other * weights.sum()) / (self.held - self.other)
        chance = (1 - self.keep) / points + self.keep / owned * np.array([totals(each) for each in shares])
        return ReportMoments(chance @ adds, chance @ adds**2, chance @ adds**3)


def points_of(nodes: IntArray, order: int, dimension: int) -> npt.NDArray[np.int64]:
    """``hubbub_client.mechanisms.hierarchical_histogram.point_of`` for many nodes."""
    return np.asarray(nodes, np.int64) * STRIDE % points_in(order, dimension)
