"""The errors of a hierarchical histogram, exactly: every point that a device may send, gone through.

Nothing of the decoder's is used: constrained inference is a dense least-squares problem here, and what a report adds to
an answer is squared over all outputs and values. So it is for small ranges only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hubbub_client.mechanisms.hierarchical_histogram import at_level, nodes_bits, point_of
from hubbub_client.mechanisms.projective_geometry_response import coordinates, points_in
from hubbub_registry import Metric
from hubbub_simulations.bits import Floats


class TreeLevel(NamedTuple):
    """What a report of one level can be, and what the level says of it."""

    chance: Floats
    """Of each point, for a value in each node; shape (nodes, points)."""
    adds: Floats
    """What a report of a point adds to each node's share; shape (points, nodes)."""


def bucket_scaled_mse(metric: Metric, frequencies: Floats) -> Floats:
    """n x MSE of each bucket's share, where every level has as many reports, n of all levels together.

    Source: own; the estimator is that of Cormode, Kulkarni, Srivastava 2019, section 4, with a weight for each level.
    """
    return _scaled_mse(metric, frequencies, np.eye(len(frequencies)))


def below_scaled_mse(metric: Metric, frequencies: Floats) -> Floats:
    """The same of the share below each bucket but the first, below which there is none; shape (buckets - 1,)."""
    return _scaled_mse(metric, frequencies, np.tri(len(frequencies))[:-1])


def _scaled_mse(metric: Metric, frequencies: Floats, asked: Floats) -> Floats:
    """n x MSE of the shares of sets of buckets, each a row of 0 and 1."""
    levels = tree_levels(metric)
    weights = tree_weights(levels, np.ones(len(levels)))
    truth = asked @ frequencies
    total = -truth * (1 - truth)
    for level, each in zip(levels, weights, strict=True):
        weight = asked @ each
        shares = node_shares(frequencies, len(level.chance))
        squares = (level.adds @ weight.T) ** 2
        total += len(levels) * (shares @ level.chance @ squares - (weight @ shares) ** 2)
    return np.asarray(total)


def tree_levels(metric: Metric) -> list[TreeLevel]:
    """All levels, from the top."""
    return [_level(metric, number) for number in range(1 << metric.device.parameters["levels_bits"])]


def node_shares(shares: Floats, nodes: int) -> Floats:
    """The shares of that many nodes, which have equally many buckets each; shape (nodes,)."""
    return np.asarray(shares.reshape(nodes, -1).sum(axis=1))


def tree_weights(levels: Sequence[TreeLevel], reports: Floats) -> list[Floats]:
    """What a bucket's share, less what an even spread gives it, takes of each level's nodes; (buckets, nodes) each.

    ``reports (levels,)`` says how many reports each level has, up to a factor.
    """
    buckets = len(levels[-1].chance)
    nodes = [len(level.chance) for level in levels]
    sums = [np.asarray(np.kron(np.eye(count), np.ones(buckets // count)), np.float64) for count in nodes]
    return _weights(sums, [_spread(level) / own for level, own in zip(levels, reports.tolist(), strict=True)])


def _level(metric: Metric, number: int) -> TreeLevel:
    p = metric.device.parameters
    own = at_level(p, number)
    order, dimension = own["order"], own["dimension"]
    points = points_in(order, dimension)
    at = np.array([coordinates(point, order, dimension) for point in range(points)])
    owns = (at @ at.T % order == 0)[[point_of(node, points) for node in range(1 << nodes_bits(p, number))]]
    keep = own["threshold"] / (1 << own["precision"])
    chance = (1 - keep) / points + keep * owns / owns.sum(axis=1, keepdims=True)
    supports = chance @ owns.T
    held, other = supports[0, 0], supports[0, 1]
    return TreeLevel(chance, (owns.T - other) / (held - other))


def _spread(level: TreeLevel) -> float:
    """The variance of a node's share, less its mean covariance with another's, where values are spread evenly."""
    nodes = len(level.chance)
    moments = level.adds.T @ (level.chance.mean(axis=0)[:, np.newaxis] * level.adds)
    own = np.trace(moments) / nodes
    return float(own - (moments.sum() - nodes * own) / (nodes * (nodes - 1)))


def _weights(sums: Sequence[Floats], spreads: list[float]) -> list[Floats]:
    """Generalised least squares over all shares that add up to 1: each bucket's weights on each level's nodes."""
    design = np.vstack(sums)
    precision = np.repeat([1 / spread for spread in spreads], [len(summed) for summed in sums])
    buckets = design.shape[1]
    free = np.linalg.qr(np.eye(buckets) - 1 / buckets)[0][:, : buckets - 1]
    scaled = design @ free * precision[:, np.newaxis]
    solved = free @ np.linalg.solve(free.T @ design.T @ scaled, scaled.T)
    return np.split(solved, np.cumsum([len(summed) for summed in sums])[:-1], axis=1)
