"""The error of a hierarchical histogram's buckets, exactly: every point that a device may send, gone through.

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


class _Level(NamedTuple):
    chance: Floats
    """Of each point, for a value in each node; shape (nodes, points)."""
    adds: Floats
    """What a report of a point adds to each node's share; shape (points, nodes)."""


def bucket_scaled_mse(metric: Metric, frequencies: Floats) -> Floats:
    """n x MSE of each bucket's share, where every level has as many reports, n of all levels together.

    Source: own; the estimator is that of Cormode, Kulkarni, Srivastava 2019, section 4, with a weight for each level.
    """
    p = metric.device.parameters
    levels = [_level(metric, number) for number in range(1 << p["levels_bits"])]
    nodes = [len(level.chance) for level in levels]
    sums = [np.asarray(np.kron(np.eye(count), np.ones(len(frequencies) // count)), np.float64) for count in nodes]
    weights = _weights(sums, [_spread(level) for level in levels])
    total = -frequencies * (1 - frequencies)
    for level, summed, weight in zip(levels, sums, weights, strict=True):
        shares = summed @ frequencies
        squares = (level.adds @ weight.T) ** 2
        total += len(levels) * (shares @ level.chance @ squares - (weight @ shares) ** 2)
    return np.asarray(total)


def _level(metric: Metric, number: int) -> _Level:
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
    return _Level(chance, (owns.T - other) / (held - other))


def _spread(level: _Level) -> float:
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
