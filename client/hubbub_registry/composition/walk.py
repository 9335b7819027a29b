"""The sum of many steps that are each up, down or none: the privacy loss of a repeated mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# What both ends lose in all, at most. Whoever uses a walk counts it as an infinite loss, so that it adds to delta.
LOST = 1e-18


def walk(steps: tuple[float, float, float], count: int) -> tuple[int, NDArray[np.float64]]:
    """Where a walk of ``count`` steps ends: ``(low, probabilities)`` of low, low + 1, ..

    ``steps`` are the probabilities of up, down and none. By repeated squaring with sums of positive products only, so
    every probability has a relative error of about 1e-14 sqrt(count), even far out in a tail (a Fourier transform's
    error is absolute). Ends that together hold less than ``LOST`` are cut.
    """
    import numpy as np

    up, down, none = steps
    power = (-1, np.array([down, none, up]))
    done = (0, np.ones(1))
    cut = LOST / (4 * count)
    weight = 1  # how many steps ``power`` holds
    while True:
        if count & weight:
            done = trimmed(done[0] + power[0], np.convolve(done[1], power[1]), cut * weight)
        weight *= 2
        if weight > count:
            return done
        power = trimmed(2 * power[0], np.convolve(power[1], power[1]), cut * weight)


def trimmed(low: int, mass: NDArray[np.float64], cut: float) -> tuple[int, NDArray[np.float64]]:
    """``mass`` from place ``low`` on without the ends that hold at most ``cut`` between them."""
    import numpy as np

    first = int(np.searchsorted(np.cumsum(mass), cut / 2, side="right"))
    last = len(mass) - int(np.searchsorted(np.cumsum(mass[::-1]), cut / 2, side="right"))
    return low + first, mass[first:last]
