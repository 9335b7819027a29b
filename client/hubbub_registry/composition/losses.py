"""Composition through privacy loss distributions: the tightest figure.

Each part is first repeated on the lattice of its own epsilon, where nothing is rounded, and only then put on the grid
that all parts share; so each PART is rounded (up) once, not each report.

All sums here are of positive numbers, so errors are relative and tiny. dp-accounting 0.6.0 is not used for this: the
errors of its Fourier transforms are absolute, and too large for a delta of 1e-12; past an epsilon of 700 it computes
with e^-epsilon = 0 and can answer with the plain sum, 1722 where Renyi divergences give 725; and its composed event of
randomized response drops the repeat count (fault 12). The tests hold the two together where dp-accounting is sound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub_registry.composition.closed import basic
from hubbub_registry.composition.errors import AccountingError, require_extra
from hubbub_registry.composition.part import Part
from hubbub_registry.composition.walk import LOST, trimmed, walk
from hubbub_registry.exact import float_up

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Placed = tuple[int, NDArray[np.float64]]
    """The index of the first loss, and the probabilities from there on."""

MOST_RUNS = 1_000_000
# The grid is as fine as this many multiplications, for all parts together, allow.
_WORK, _FEWEST_POINTS, _MOST_POINTS, _FINEST = 4e8, 1 << 16, 1 << 20, 1e-6
_ADDS = 40
# Kept back from delta for the relative errors of the sums.
_RELATIVE = 1e-8


def pld(parts: Sequence[Part], delta: Fraction) -> float:
    """The least epsilon at ``delta`` that the parts' dominating pairs give, rounded up; at most the plain sum.

    For one part of the largest variation this is the optimal composition of Kairouz, Oh, Viswanath 2015, theorem
    3.3. Raises MissingExtraError, and AccountingError for a part that runs over a million times.
    """
    require_extra()
    # Adding these up always holds, loses next to nothing, and keeps the grid fine for the others.
    flat = basic([part for part in parts if part.epsilon > _ADDS])
    parts = [part for part in parts if part.count and part.epsilon <= _ADDS]
    if any(part.count > MOST_RUNS for part in parts):
        raise AccountingError(
            f"more than {MOST_RUNS} reports of a metric are too many for a privacy loss distribution; "
            "ask for a shorter --horizon"
        )
    if not parts:
        return float_up(flat)
    walks = [(float_up(part.epsilon), walk(part.three_points(), part.count)) for part in parts]
    if len(walks) == 1:
        grid, losses = walks[0]  # the lattice itself: nothing is rounded
    else:
        lengths = [len(mass) for _, (_, mass) in walks]
        points = max(_FEWEST_POINTS, min(_MOST_POINTS, _WORK / sum(lengths)))
        reach = sum(epsilon * length for (epsilon, _), length in zip(walks, lengths, strict=True))
        grid = max(_FINEST, reach / points)
        losses = _summed([_on_grid(placed, epsilon / grid) for epsilon, placed in walks])
    epsilon = _solve(grid, losses, float(delta) * (1 - _RELATIVE) - 2 * len(walks) * LOST)
    return float_up(flat + Fraction(min(float_up(basic(parts)), epsilon * (1 + 1e-12))))


def _on_grid(placed: Placed, step: float) -> Placed:
    """The same losses on a grid of which one lattice step takes ``step``: each rounded up."""
    import numpy as np

    low, mass = placed
    places = np.ceil((low + np.arange(len(mass))) * step).astype(np.int64)
    first = int(places[0])
    return first, np.asarray(np.bincount(places - first, weights=mass), np.float64)


def _summed(walks: list[Placed]) -> Placed:
    """The distribution of the sum of independent losses on one grid, but for ends of at most ``LOST`` a walk."""
    import numpy as np

    low, mass = max(walks, key=lambda placed: np.count_nonzero(placed[1]))
    rest = [placed for placed in walks if placed[1] is not mass]
    for first, weights in rest:
        places = np.flatnonzero(weights)  # few: a lattice's points are far apart on the grid
        total = np.zeros(len(mass) + len(weights) - 1)
        for place in places:
            total[place : place + len(mass)] += weights[place] * mass
        low, mass = trimmed(low + first, total, LOST)
    return low, mass


def _solve(grid: float, losses: Placed, delta: float) -> float:
    """The least epsilon >= 0 with sum over losses l > epsilon of p (1 - e^(epsilon - l)) at most ``delta``.

    From the largest loss down, keeping that sum at each grid point and the mass beyond weighted by e^(epsilon - l).
    Between two grid points the sum falls by weighted (e^(epsilon - point) - 1), which is solved for epsilon.
    """
    import numpy as np
    from scipy.signal import lfilter

    low, mass = losses
    decay, lost = math.exp(-grid), -math.expm1(-grid)
    # Seen from point j, for j = top, top - 1, ..: those at j + 1 and beyond. Entry 0 is the topmost point itself.
    down = np.append(0.0, mass[::-1])
    weighted = lfilter([decay], [1.0, -decay], down)
    # One step down adds (1 - decay) (p + weighted) of the point left behind.
    deltas = np.append(0.0, np.cumsum(lost * (down[1:] + weighted[:-1])))
    top = low + len(mass) - 1
    above = int(np.searchsorted(deltas, delta, side="right"))
    if above == len(deltas):  # all losses together do not reach delta
        return max(0.0, (low - 1) * grid)
    return max(0.0, (top - above) * grid + math.log1p((deltas[above] - delta) / weighted[above]))
