"""Hierarchical histograms for tests: metrics, states in exact proportion, and distributions with errors of a choice."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hubbub_client.mechanisms.hierarchical_histogram import at_level, point_of
from hubbub_client.mechanisms.projective_geometry_response import coordinates, points_in
from hubbub_decoder import State
from hubbub_decoder.numbers import Distribution
from hubbub_decoder.numbers.levels import Level
from hubbub_decoder.numbers.tree import Tree
from hubbub_registry import Metric

from tests.registries import metric_of


def tree_metric(folder: Path, bits: int, levels: int | None = None, epsilon: float = 2, **keys: object) -> Metric:
    """A metric over 2**bits buckets of one integer each, from 0 on."""
    shape = {"low": 0, "high": (1 << bits) - 1, "buckets": 1 << bits, "levels": levels}
    return metric_of(folder, "hierarchical-histogram", epsilon=epsilon, **{**shape, **keys})


def orthogonal(order: int, dimension: int) -> npt.NDArray[np.bool_]:
    """Which points are orthogonal to which; shape (points, points)."""
    at = np.array([coordinates(point, order, dimension) for point in range(points_in(order, dimension))])
    return np.asarray(at @ at.T % order == 0)


def chances(metric: Metric, level: int) -> npt.NDArray[np.float64]:
    """The probability of each point of a level, for a value in each node; shape (nodes, points)."""
    own = at_level(metric.device.parameters, level)
    geometry = own["order"], own["dimension"]
    keep, points = float(Fraction(own["threshold"], 1 << own["precision"])), points_in(*geometry)
    owns = orthogonal(*geometry)[[point_of(node, points) for node in range(own["domain"])]]
    return np.asarray((1 - keep) / points + keep * owns / owns.sum(axis=1, keepdims=True))


def expected_state(metric: Metric, holders: Sequence[int], scale: int) -> State:
    """The state in which every level has the points that the holders of each bucket expect, ``scale`` times."""
    held = np.array(holders, np.float64)
    counts = []
    for level in range(1 << metric.device.parameters["levels_bits"]):
        chance = chances(metric, level)
        counts.append(np.rint(scale * held.reshape(len(chance), -1).sum(axis=1) @ chance).astype(np.int64))
    return State.of(metric, int(sum(each.sum() for each in counts)), counts=np.concatenate(counts))


def distribution_of(share: Sequence[float], n: int, other: float = 1e-12, children: Sequence[int] = ()) -> Distribution:
    """A distribution over buckets of one integer each, all of whose levels show ``share``, with noise ``other``."""
    nodes = [len(share)] if not children else np.cumprod(children).tolist()
    shares = np.array(share, np.float64)
    each = n // len(nodes)
    levels = tuple(Level(each, shares.reshape(count, -1).sum(axis=1), other, other, 0.0, 0.0, 0.0) for count in nodes)
    tree = Tree.of([below // above for above, below in pairwise([1, *nodes])], [level.noise for level in levels])
    first = np.arange(len(share) + 1)
    likely = np.maximum(shares, 0) / np.maximum(shares, 0).sum()
    return Distribution("m", "hierarchical-histogram", Fraction(3), n, first, levels, tree, shares, likely)
