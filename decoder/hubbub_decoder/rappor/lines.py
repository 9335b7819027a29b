"""How a linear estimate errs: its variance and third moment as lines in the true count, from one report's part in it.

A count is a sum over reports, count_i = sum_r Z_i,r, since f = G y is linear in the bits. With pi_j the share of
reports in cohort j, a report from there of a holder of v adds to candidate i

    Z_i = (1/pi_j) G_i,j . (debiased bits - r),     E[Z_i | v] = G_i (A_v - r) = 1 if v is i, else 0.

Reports are independent, so a count's central moments are sums of those of Z_i over all devices: what holders of i
add is a moment given i, what the others add a mixture of moments given v. Given v, Z_i varies with the noise of the
bits, and with the cohort that the device happens to be in. ``docs/estimators.md`` writes the moments out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.rappor.observed import Observed

# Values whose cohorts are followed one by one: the most frequent. All others are taken for values with random bits.
_FOLLOWED = 32
# Beyond this share of the population, what the others hold cannot be read off; their bits are taken for random.
_NEARLY_ALL = 0.95


@dataclass(frozen=True, eq=False)
class Lines:
    """Central moments of each count, in reports: ``null_variance + slope x``, and the third alike; shapes (d,)."""

    null_variance: FloatArray
    slope: FloatArray
    null_third: FloatArray
    third_slope: FloatArray


def lines(
    design: sparse.csc_array,
    observed: Observed,
    population: FloatArray,
    coefficients: Iterable[tuple[slice, FloatArray]],
) -> Lines:
    """The lines of estimates with these ``coefficients``, where candidates have about the shares ``population``."""
    reports = _Reports(design, observed, population)
    moments = np.empty((4, design.shape[1]))
    for part, block in coefficients:
        moments[:, part] = reports.moments(part, block)
    variance, own_variance, third, own_third = observed.n * moments
    return Lines(variance, (own_variance - variance) / observed.n, third, (own_third - third) / observed.n)


class _Reports:
    """The population's reports: which bits they hold, value by value for the frequent ones and on average."""

    def __init__(self, design: sparse.csc_array, observed: Observed, population: FloatArray) -> None:
        self._design, self._rates, self._population = design, observed.rates, population
        self._bits, self._cohorts = observed.bits, len(observed.share) // observed.bits
        self._set = observed.expected(design, population)
        self._rows_pi = observed.totals / observed.n
        self._pi = self._rows_pi[:: observed.bits]
        largest = np.argsort(-population, kind="stable")[:_FOLLOWED]
        self._followed = largest[population[largest] > 0]
        self._places = self._by_cohort_of(self._followed)

    def moments(self, part: slice, block: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Variance of Z_i given another value and given i, then the third moments alike."""
        number = np.arange(part.start, part.start + len(block))
        share = np.clip(self._population[part], 0.0, 1.0)
        second = block**2 / self._rows_pi
        third = second * block / self._rows_pi
        level = second.sum(axis=1), third.sum(axis=1)
        of_cohort = self._sum_bits(second)
        mean = self._sum_bits(block * self._set)
        # Of i's own holders: sums over the bits that i sets, in all and by cohort.
        mine = self._by_cohort_of(number)
        own_second = _diagonal(mine, second, self._cohorts)
        own = own_second.sum(axis=1), _diagonal(mine, third, self._cohorts).sum(axis=1)
        spread, skew = self._unfollowed(number, share, level)
        moved = (self._places @ block.T).reshape(len(self._followed), self._cohorts, len(block))
        noisy = (self._places @ second.T).reshape(len(self._followed), self._cohorts, len(block))
        for row, value in enumerate(self._followed):
            between = self._between(moved[row].T - mean, of_cohort, noisy[row].T)
            held = np.where(number == value, 0.0, self._population[value])
            spread += held * between[0]
            skew += held * between[1]
        own_spread, own_skew = self._between(_diagonal(mine, block, self._cohorts) - mean, of_cohort, own_second)
        rest = np.maximum(1 - share, 1 - _NEARLY_ALL)
        variance, own_variance = self._noise(2, second @ self._set, level[0], own[0], share)
        other_third, own_third = self._noise(3, third @ self._set, level[1], own[1], share)
        return variance + spread / rest, own_variance + own_spread, other_third + skew / rest, own_third + own_skew

    def _noise(
        self, order: int, everyone: FloatArray, level: FloatArray, own: FloatArray, share: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The noise's moment given another value and given i, from sums of coefficients over the bits that are set."""
        zero, one = self._rates.noise(order, 0), self._rates.noise(order, 1)
        others = _without(everyone, own, share, self._rates.background * level)
        return zero * level + (one - zero) * others, zero * level + (one - zero) * own

    def _unfollowed(
        self, number: npt.NDArray[np.int64], share: FloatArray, level: tuple[FloatArray, FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        """What the cohorts of all other values add: on average over values with random bits."""
        r = self._rates.background
        held = 1 - float(self._population[self._followed].sum()) - np.where(np.isin(number, self._followed), 0.0, share)
        more = self._rates.noise(2, 1) - self._rates.noise(2, 0)
        random = np.maximum(held, 0.0) * r * (1 - r)
        return random * level[0], random * (1 - 2 * r + 3 * more) * level[1]

    def _between(self, moved: FloatArray, second: FloatArray, noisy: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The second and third moment that the cohort of a holder adds, its noise being larger in some than others.

        Sums over the bits of each cohort, (block, cohorts): the coefficients over the bits that the holder sets less
        those expected of anyone, the squared ones over all bits, and the squared ones over the holder's.
        """
        shift = moved / self._pi
        shift -= (shift @ self._pi)[:, np.newaxis]
        more = self._rates.noise(2, 1) - self._rates.noise(2, 0)
        noise = (self._rates.noise(2, 0) * second + more * noisy) / self._pi
        weighted = shift * self._pi
        return (weighted * shift).sum(axis=1), (weighted * (shift**2 + 3 * noise)).sum(axis=1)

    def _sum_bits(self, rows: FloatArray) -> FloatArray:
        return np.asarray(rows.reshape(len(rows), self._cohorts, self._bits).sum(axis=2))

    def _by_cohort_of(self, values: npt.NDArray[np.int64]) -> sparse.csr_array:
        """A 0/1 matrix (values x cohorts, rows) that sums, for each value and cohort, over the bits it sets there."""
        columns = sparse.csc_array(self._design[:, values])
        value = np.repeat(np.arange(len(values)), np.diff(columns.indptr))
        row = value * self._cohorts + columns.indices // self._bits
        shape = (len(values) * self._cohorts, self._design.shape[0])
        return sparse.csr_array((columns.data, (row, columns.indices)), shape=shape)


def _diagonal(mine: sparse.csr_array, rows: FloatArray, cohorts: int) -> FloatArray:
    """For candidate number b, sums of ``rows[b]`` over the bits that it sets in each cohort; (block, cohorts)."""
    summed = np.repeat(np.arange(mine.shape[0]), np.diff(mine.indptr))
    picked = rows[summed // cohorts, mine.indices]
    sums = np.bincount(summed, weights=picked, minlength=mine.shape[0]).astype(np.float64)
    return sums.reshape(-1, cohorts)


def _without(whole: FloatArray, own: FloatArray, share: FloatArray, fallback: FloatArray) -> FloatArray:
    """The mean over all but the holders of i, of what has mean ``whole`` over everyone and ``own`` over them."""
    rest = np.maximum(1 - share, 1 - _NEARLY_ALL)
    return np.where(share > _NEARLY_ALL, fallback, (whole - share * own) / rest)
