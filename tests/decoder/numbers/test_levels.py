"""What a level says of itself, against every point that its reports can be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hubbub_client.mechanisms.hierarchical_histogram import at_level, point_of
from hubbub_client.mechanisms.projective_geometry_response import points_in
from hubbub_decoder.numbers.geometry import Geometry, points_of
from hubbub_decoder.numbers.levels import Level
from hubbub_decoder.numbers.moments import WeightMoments

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
        own_too, others_too = every[0] * owns[0], owns[:, 1:].sum(axis=1)
        ordered = (points - 1) * (points - 2), (points - 1) * (points - 2) * max(1, points - 3)
        pairs_of = others_too * (others_too - 1)
        two, three = every[0] @ (owns[0] * others_too) / (points - 1), every[0] @ pairs_of / ordered[0]
        own_two, all_three = own_too @ pairs_of / ordered[0], every[0] @ (pairs_of * (others_too - 2)) / ordered[1]
        assert level.cube == pytest.approx((q - 3 * three + 2 * all_three) / (p - q) ** 3)
        assert level.own_square == pytest.approx(3 * (two - three - own_two + all_three) / (p - q) ** 3, abs=1e-9)
        assert level.own_cube + 2 * level.own_square == pytest.approx((p - q) ** -2)
        assert level.lump == pytest.approx(1 / (p - q))


def test_third_moments_are_exact_where_a_report_supports_one_node(tmp_path: Path) -> None:
    """With a point to each node, sums of weights tell the first three moments that going through all points does."""
    metric = tree_metric(tmp_path, 4, 1, 4)
    own = at_level(metric.device.parameters, 0)
    assert own["dimension"] == 2
    level = Level.of(metric, 0, np.ones(points_in(own["order"], 2), np.int64))
    rng = np.random.default_rng(1)
    weights, shares = rng.normal(size=16), rng.dirichlet(np.ones(16), 3)
    weights -= weights.mean()
    assert level.geometry is not None
    exact = level.geometry.moments(weights, shares)
    assert exact is not None
    for i, each in enumerate(shares):
        found = WeightMoments.of(weights, each).report(level)
        assert [float(moment) for moment in found] == pytest.approx([moment[i] for moment in exact])


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
    weights, shares = np.eye(4)[0], np.full((1, 4), 0.25)
    assert Geometry(3, 12, 0.5, 0.6, 0.3).moments(weights, shares) is not None
    assert Geometry(3, 13, 0.5, 0.6, 0.3).moments(weights, shares) is None
