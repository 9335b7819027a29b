"""What each level of a hierarchical histogram's tree says by itself: its nodes' shares, and how noisy they are."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hubbub_client.mechanisms.hierarchical_histogram import at_level, nodes_bits
from hubbub_client.mechanisms.projective_geometry_response import points_in
from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.counting.geometry import orthogonal_sums
from hubbub_decoder.counting.state import IntArray
from hubbub_decoder.numbers.geometry import Geometry, points_of
from hubbub_registry import Metric
from hubbub_registry.mechanisms.projective_geometry_response import support_rates

UNKNOWN = 1e12


@dataclass(frozen=True, eq=False)
class Level:
    """One level of m nodes, of which ``n`` reports speak; with none, ``share`` is a guess: all alike.

    A report supports its value's node with probability p and any other with q; (support - q) / (p - q) expects to be 1
    for its own node and 0 for others. ``share`` (m,) is the mean of that. The second moments below are those of one
    report's, for a value x and nodes v, w other than its own and each other.
    """

    n: int
    share: FloatArray
    own: float
    """Variance at the value's own node: p (1 - p) / (p - q)**2."""
    other: float
    """Variance at another: q (1 - q) / (p - q)**2."""
    own_other: float
    """Covariance of the own node and another."""
    other_other: float
    """Covariance of two others. It depends on whether x, v and w lie on one line: this is the mean over v and w."""
    cube: float
    """What the third moment of a report has of the sum of all nodes' cubed weights, where weights add up to 0; of their
    squares' sum times its own node's weight it has ``own_square``, and of that weight cubed ``own_cube``. These too are
    means over the nodes."""
    geometry: Geometry | None = None
    """With which the moments of an answer are exact."""
    own_square: float = 0.0
    own_cube: float = 1.0
    lump: float = 0.0
    """What a report that supports a node adds more than one that does not: 1 / (p - q)."""

    @property
    def nodes(self) -> int:
        """m."""
        return len(self.share)

    @property
    def noise(self) -> float:
        """The variance of a node's share where values are spread evenly, less what all nodes have in common.

        Of m nodes one is the report's own, and so is one in 2 of m of their pairs. Without reports it is so large that
        what other levels say of a share decides, and even shares where none says anything.
        """
        if self.n == 0:
            return UNKNOWN
        of_own = self.own - self.other + 1 - 2 * (self.own_other - self.other_other)
        return (self.other - self.other_other + of_own / self.nodes) / self.n

    @staticmethod
    def of(metric: Metric, level: int, counts: IntArray) -> Level:
        """Level number ``level``, from how often each of its points was sent."""
        p = metric.device.parameters
        own = at_level(p, level)
        order, dimension = own["order"], own["dimension"]
        nodes, n = 1 << nodes_bits(p, level), int(counts.sum())
        share = Fraction(own["threshold"], 1 << own["precision"])
        holders, others = support_rates(share, order, dimension)
        gain = holders - others
        support = orthogonal_sums(counts.astype(np.int64), order, dimension)[
            points_of(np.arange(nodes), order, dimension)
        ]
        both_own, both_other, three_own, three_other = _together(share, order, dimension)
        return Level(
            n,
            (support / n - float(others)) / float(gain) if n else np.full(nodes, 1 / nodes),
            float(holders * (1 - holders) / gain**2),
            float(others * (1 - others) / gain**2),
            float((both_own - holders * others) / gain**2),
            float((both_other - others * others) / gain**2),
            float((others - 3 * both_other + 2 * three_other) / gain**3),
            Geometry(order, dimension, float(share), float(holders), float(others)),
            float(3 * (both_own - both_other - three_own + three_other) / gain**3),
            float((gain - 6 * (both_own - both_other - three_own + three_other)) / gain**3),
            float(1 / gain),
        )


def _together(share: Fraction, order: int, dimension: int) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """The probabilities that a report supports the value's own node and another, two others, the own one and two, and
    three others.

    Any two nodes have c points together, and of those that the value owns as well, (c (k - 2)) / (N - 2) on average:
    each of the c points that x and v own is owned by k - 2 further nodes, among N - 2. So it goes on.
    """
    points, owned = points_in(order, dimension), points_in(order, dimension - 1)
    common = points_in(order, dimension - 2)
    three = Fraction(common * max(owned - 2, 0), points - 2)
    four = three * max(owned - 3, 0) / max(points - 3, 1)
    two_anywhere, three_anywhere = ((1 - share) * Fraction(each) / points for each in (common, three))
    return (
        two_anywhere + share * common / owned,
        two_anywhere + share * three / owned,
        three_anywhere + share * three / owned,
        three_anywhere + share * four / owned,
    )
