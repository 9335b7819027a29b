"""The owned points of many values of a finite projective geometry at once, as the client numbers them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hubbub_client.mechanisms.projective_geometry_response import inverse
from hubbub_decoder.counting.geometry import coordinates, numbers
from hubbub_simulations.bits import Words


class OwnedPoints:
    """Those of ``points (d,)`` of the geometry of this order and dimension."""

    def __init__(self, points: NDArray[np.int64], order: int, dimension: int) -> None:
        self._order = order
        self._dimension = dimension
        self._inverses = np.array([inverse(number, order) for number in range(order)])
        self._values = coordinates(points, order, dimension)
        # The place of the highest coordinate that is not 0.
        self._highest = dimension - 1 - np.argmax(self._values[::-1] != 0, axis=0)

    def of(self, index: NDArray[np.intp], place: NDArray[np.int64]) -> Words:
        """For each device the owned point number ``place[i]`` of ``points[index[i]]``; shape (n,)."""
        values, highest = self._values[:, index], self._highest[index]
        row = np.arange(self._dimension)[:, np.newaxis]
        free = np.zeros(values.shape, np.int64)
        free[:-1] = coordinates(place, self._order, self._dimension - 1)
        point = np.where(row < highest, free, np.where(row > highest, np.roll(free, 1, axis=0), 0))
        last = -(values * point).sum(axis=0) % self._order
        later = ((row > highest) & (point > 0)).any(axis=0)
        scale = np.where(later | (last == 0), 1, self._inverses[last])
        point = (point + (row == highest) * last) * scale % self._order
        return numbers(point, self._order).astype(np.uint64)
