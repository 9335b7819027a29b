"""The points of a finite projective geometry, and how many of a multiset of points each point is orthogonal to.

Numbered as in ``hubbub_client.mechanisms.projective_geometry_response``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hubbub_client.mechanisms.projective_geometry_response import points_in

# Above it the rounding of a sum of this many could be off by one; no fleet is near it.
MOST_REPORTS = 1 << 40


def coordinates(index: npt.NDArray[np.int64], order: int, dimension: int) -> npt.NDArray[np.int64]:
    """The coordinates of points; shape (dimension, n), the lowest first."""
    first = np.array([points_in(order, m) for m in range(dimension)], np.int64)
    power = order ** np.arange(dimension, dtype=np.int64)
    m = np.searchsorted(first, index, side="right") - 1
    number = index - first[m] + power[m]
    return number // power[:, np.newaxis] % order


def numbers(at: npt.NDArray[np.int64], order: int) -> npt.NDArray[np.int64]:
    """The inverse of ``coordinates``: the numbers of the points whose coordinates are the columns of ``at``."""
    power = order ** np.arange(len(at), dtype=np.int64)
    first = np.array([points_in(order, m) for m in range(len(at))], np.int64)
    number = power @ at
    m = np.searchsorted(power, number, side="right") - 1
    found: npt.NDArray[np.int64] = number - power[m] + first[m]
    return found


def orthogonal_sums(counts: npt.NDArray[np.int64], order: int, dimension: int) -> npt.NDArray[np.int64]:
    """For each point, the sum of ``counts`` over the points that are orthogonal to it; both of shape (points,).

    A transform of integers that add up to n is off by about n * 1e-14, so rounding gives the exact sums.
    """
    sums: npt.NDArray[np.int64] = np.rint(orthogonal_totals(counts, order, dimension)).astype(np.int64)
    return sums


def orthogonal_totals(
    counts: npt.NDArray[np.int64] | npt.NDArray[np.float64], order: int, dimension: int
) -> npt.NDArray[np.float64]:
    """The same of any numbers, not rounded.

    With w a root of unity of order q, [<v, y> = 0] is (1/q) times the sum of w**(a <v, y>) over all a. So the sum is
    (1/q) (total + the sum over a = 1 .. q - 1 of the Fourier transform of the counts at a v), and one transform over
    q**t cells serves all points: a sum for each point by itself takes as many steps as there are pairs of points.
    """
    points = np.arange(len(counts))
    at = coordinates(points, order, dimension)
    table = np.zeros((order,) * dimension)
    table[tuple(at)] = counts
    # Of a real table, the transform at -v is the conjugate of that at v, so that half of it, and of the a, are enough.
    # Each point's highest coordinate other than 0 is 1, so the last one of a v is 0 or a, and in that half.
    transform = np.fft.rfftn(table).real
    total = np.zeros(len(counts))
    for a in range(1, order // 2 + 1):
        total += (1 if 2 * a == order else 2) * transform[tuple(at * a % order)]
    return np.asarray((total + counts.sum()) / order)
