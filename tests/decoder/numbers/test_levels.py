"""What a level says of itself, against every point that its reports can be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hubbub_client.mechanisms.hierarchical_histogram import at_level, point_of
from hubbub_client.mechanisms.projective_geometry_response import points_in
from hubbub_decoder.numbers.geometry import Geometry, points_of
from hubbub_decoder.numbers.levels import Level

from tests.decoder.numbers.trees import chances, orthogonal, tree_metric

CASES = [(4, 2, 0.7), (6, 4, 1), (5, 1, 2), (7, 2, 3)]


@pytest.mark.parametrize(("bits", "levels", "epsilon"), CASES)
def test_moments_are_those_of_all_points(tmp_path: Path, bits: int, levels: int, epsilon: float) -> None:
    """Mean, variances, covariances and third moment of a report are those over every point, averaged over nodes."""
    metric = tree_metric(tmp_path, bits, levels, epsilon)
    for number in range(levels):
        own = at_level(metric.device.parameters, number)
        geometry = own["order"], own["dimension"]
        points = points_in(*geometry)
        chance, owns = chances(metric, number), orthogonal(*geometry)
        counts = np.rint(chance[0] * 1e12).astype(np.int64)
        level = Level.of(metric, number, counts)
        assert level.n == counts.sum()
        assert level.share == pytest.approx(np.eye(level.nodes)[0], abs=1e-6)
        # Over all points as nodes, since the mean over pairs is one over the whole geometry.
        keep = own["threshold"] / (1 << own["precision"])
        every = (1 - keep) / points + keep * owns / owns.sum(axis=1, keepdims=True)
        p, q = (every @ owns.T)[0, :2]
        adds = (owns.T - q) / (p - q)
        held = np.zeros(points)
        held[0] = 1
        deviation = adds - held
        moments = deviation.T @ (every[0][:, np.newaxis] * deviation)
        assert level.own == pytest.approx(moments[0, 0])
        assert level.other == pytest.approx(np.diag(moments)[1:].mean())
        assert level.own_other == pytest.approx(moments[0, 1:].mean(), abs=1e-12)
        others = moments[1:, 1:]
        pairs = (others.sum() - np.trace(others)) / max(1, (points - 1) * (points - 2))
        assert level.other_other == pytest.approx(pairs, abs=1e-12)
        assert level.third == pytest.approx((every[0] @ deviation**3)[1:].mean(), rel=1e-9)


def test_a_level_without_reports_is_a_guess(tmp_path: Path) -> None:
    """All nodes alike, with a variance so large that every other level is believed before it."""
    metric = tree_metric(tmp_path, 4, 2)
    level = Level.of(metric, 0, np.zeros(points_in(3, 2), np.int64))
    assert level.share.tolist() == [0.25] * 4
    assert level.noise > 1e9


def test_points_are_the_client_s() -> None:
    """Many nodes' points at once are those of the client one by one, up to the largest tree."""
    nodes = np.array([0, 1, 2, 100, 65535])
    for order, dimension in ((3, 11), (53, 4), (509, 3)):
        points = points_in(order, dimension)
        assert points_of(nodes, order, dimension).tolist() == [point_of(int(node), points) for node in nodes]


def test_a_geometry_too_large_to_go_through_is_left_to_the_mean() -> None:
    """Up to a million cells every point is gone through, past it none is."""
    weights, shares = np.eye(4)[0], np.full(4, 0.25)
    assert Geometry(3, 12, 0.5, 0.6, 0.3).variance(weights, shares) is not None
    assert Geometry(3, 13, 0.5, 0.6, 0.3).variance(weights, shares) is None
