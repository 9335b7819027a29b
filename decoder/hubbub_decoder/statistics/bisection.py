"""Where a test stops rejecting, for many counts at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hubbub_decoder.consistent import BoolArray, FloatArray

# Of a bracket as wide as n: enough for the last digit of a float.
_HALVINGS = 52


def crossing(left_of_it: Callable[[FloatArray], BoolArray], like: FloatArray, n: int) -> FloatArray:
    """The x in [0, n] left of which ``left_of_it`` holds and right of which it does not; of the shape of ``like``."""
    left, right = np.zeros_like(like), np.full_like(like, float(n))
    for _ in range(_HALVINGS):
        middle = (left + right) / 2
        still_left = left_of_it(middle)
        left, right = np.where(still_left, middle, left), np.where(still_left, right, middle)
    return (left + right) / 2
