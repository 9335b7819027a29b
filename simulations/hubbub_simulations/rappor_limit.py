"""How near consistent counts could come: those of an estimator that is told all true shares, though not whose they are.

It is the decoder's own, but for the prior, which it need not learn. What it gains is what a better prior could gain.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from hubbub_decoder.mechanisms.rappor import bit_rates
from hubbub_decoder.rappor.bloom import candidate_bits
from hubbub_decoder.rappor.joint import Joint
from hubbub_decoder.rappor.observed import BitRates, Observed
from hubbub_decoder.rappor.prior import Falling, _Seen
from hubbub_decoder.rappor.shrinkage import shrunk_jointly
from hubbub_simulations.bits import Floats
from hubbub_simulations.rappor_grid import Cell, Run

# Of the logarithm of a share: without it, what is told would tell apart values that are all but equally frequent.
_SMOOTHING = 0.1


class Told(Falling):
    """The distribution of ``shares``, smoothed, with a mass at 0 for those that are 0; it need not fall."""

    def __init__(self, shares: Floats, mean: Floats, variance: Floats) -> None:
        super().__init__(mean, variance)
        held = np.log(shares[shares > 0])
        ends = np.log(self._edges[1:, np.newaxis])
        below = np.concatenate([[0.0], ndtr((ends - held) / _SMOOTHING).mean(axis=1)])
        part_held = len(held) / len(shares)
        self._mixture[0] = 1 - part_held
        self._told = part_held * np.diff(below / below[-1]) / np.diff(self._edges)

    def fit(self, mean: Floats, variance: Floats, steps: int) -> None:
        """Nothing is left to learn."""

    def _density(self, seen: _Seen) -> tuple[Floats, Floats]:
        return self._told, self._mixture[0] * seen.at_zero + seen.mass @ self._told


def told_total_variation(cell: Cell, run: Run) -> float:
    """The total variation of its shares from the true ones, in a cell whose candidates have bits of their own."""
    one, zero = (float(rate) for rate in bit_rates(run.metric))
    sums, reports = (run.state.arrays[name].astype(np.float64) for name in ("sums", "reports"))
    rates = BitRates(one, zero, 1 - (1 - 1 / cell.bits) ** 2)
    observed = Observed.of(sums, reports, rates)
    design = candidate_bits(run.metric, cell.candidates)
    share = run.holders / run.holders.sum()
    solution = Joint.of(design, observed, 1 / observed.variance(observed.expected(design, share)))
    found = shrunk_jointly(solution.normal, solution.moment, lambda mean, variance: Told(share, mean, variance))
    return float(np.abs(found - share).sum() / 2)
