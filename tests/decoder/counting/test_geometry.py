from __future__ import annotations

import numpy as np
import pytest

from hubbub_client.mechanisms import projective_geometry_response as client
from hubbub_decoder.counting.geometry import MOST_REPORTS, coordinates, numbers, orthogonal_sums

SHAPES = [(2, 2), (2, 7), (3, 4), (5, 3), (7, 2), (13, 3), (23, 3)]


@pytest.mark.parametrize(("order", "dimension"), SHAPES)
def test_points_are_numbered_as_on_a_device(order: int, dimension: int) -> None:
    """Every point has the coordinates that the client gives it, and they lead back to its number."""
    index = np.arange(client.points_in(order, dimension))
    found = coordinates(index, order, dimension)
    assert found.T.tolist() == [client.coordinates(i, order, dimension) for i in index.tolist()]
    assert numbers(found, order).tolist() == index.tolist()


@pytest.mark.parametrize(("order", "dimension"), SHAPES)
def test_sums_over_orthogonal_points_are_exact(order: int, dimension: int) -> None:
    """The sums by one Fourier transform are the sums over each point's orthogonal points, to the last report."""
    points = client.points_in(order, dimension)
    at = coordinates(np.arange(points), order, dimension)
    counts = np.random.default_rng(order).integers(0, 1000, points)
    orthogonal = at.T @ at % order == 0
    assert orthogonal_sums(counts, order, dimension).tolist() == (orthogonal @ counts).tolist()


def test_sums_are_exact_up_to_the_most_reports_there_may_be() -> None:
    """With as many reports as the decoder takes, most of them of one point, rounding still gives the exact sums."""
    for order, dimension in ((2, 16), (23, 4)):
        points = client.points_in(order, dimension)
        counts = np.random.default_rng(1).integers(0, MOST_REPORTS // (2 * points), points)
        counts[7] += MOST_REPORTS - counts.sum()
        at = coordinates(np.arange(points), order, dimension)
        sums = orthogonal_sums(counts, order, dimension)
        for value in (0, 7, points // 3, points - 1):
            assert sums[value] == counts[(at[:, value] @ at) % order == 0].sum()
