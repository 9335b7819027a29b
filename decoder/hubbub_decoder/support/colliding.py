"""Sketches as counts of support: which reports back a candidate, and how often they do where nobody holds it.

A report backs a candidate with probability p where its value shares the candidate's bucket under the report's hash
function, else with probability q: by the bit at that bucket (count mean sketch: 1 - t and t), or by having the
candidate's sign (Hadamard: 1 - t and 1/2). Reports draw their hash functions independently, so given the hash set, the
number of backing reports is a binomial, and its rate depends on how many hash functions put others' values into the
candidate's bucket.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.statistics.binomial import binomial_tail

# Hash sets less likely than this are not gone through one by one.
_NEGLIGIBLE = 1e-30


class ThirdMoment(NamedTuple):
    """``null_third``, ``null_third_least`` (both of shape (d,)) and ``third_slope`` of ``Estimates``."""

    most: FloatArray
    least: FloatArray
    slope: float


@dataclass(frozen=True)
class CollidingSupport:
    """``n`` reports over ``hashes`` functions into ``width`` buckets; ``squares`` is S, see ``collisions``.

    How S is spread over values is not known, and it decides how skewed collisions are. The worst case is one value of
    share sqrt(S), the rest in so many values that they average out: of all populations with this S none puts more
    devices into one bucket at a time. That case is what is computed here.
    """

    n: int
    hashes: int
    width: int
    p: float
    q: float
    squares: float

    def tail(self, support: npt.NDArray[np.int64]) -> FloatArray:
        """P(at least ``support`` reports back a candidate that nobody holds), of the same shape.

        Over the number of hash functions that put the frequent value into the candidate's bucket, a binomial of rate
        1/m, each with its exact binomial tail. What is not gone through counts as reached.
        """
        share = self.squares**0.5
        law = stats.binom(self.hashes, 1 / self.width)
        every = np.arange(self.hashes + 1)
        likely = np.flatnonzero(law.pmf(every) > _NEGLIGIBLE)
        shared = every[likely[0] : likely[-1] + 1]
        chance = law.pmf(shared)
        chance[0] += law.cdf(shared[0] - 1)
        rate = self.q + (self.p - self.q) * np.minimum(shared * share / self.hashes + (1 - share) / self.width, 1.0)
        distinct, place = np.unique(support, return_inverse=True)
        total = np.full(len(distinct), float(law.sf(shared[-1])))
        for weight, each in zip(chance, rate, strict=True):
            total += weight * binomial_tail(distinct, self.n, float(each))
        tail: FloatArray = np.minimum(total, 1.0)[place]
        return tail

    def third_moment(self, count: FloatArray) -> ThirdMoment:
        """The third central moment of the candidates' counts, as a line in the true count, in reports cubed.

        The noise of the reports, the collisions' own, and three times the covariance between the rate that collisions
        give and the noise at that rate. Collisions take the sum of the others' cubed shares: S**1.5 at most (one
        frequent value), S**2 at least (equally frequent ones). The candidate's own share is taken off S.
        """
        p, q, m, k = self.p, self.q, self.width, self.hashes
        gain = p - q
        mean = q + gain / m
        squares = np.clip(self.squares - (np.clip(count, 0, self.n) / self.n) ** 2, 0.0, 1.0)
        lifted = self.n * gain / k  # what one shared hash function adds, where all others hold one value
        own, others = _third(p), _third(mean)
        shared = k / m * (1 - 1 / m)  # the variance of how many functions share a bucket
        together = 3 * shared * lifted**2 * squares * (1 - 2 * mean)
        unit = (m / (m - 1) / gain) ** 3
        most, least = (
            unit * (self.n * others + together + shared * (1 - 2 / m) * lifted**3 * cubes)
            for cubes in (squares**1.5, squares**2)
        )
        return ThirdMoment(most, least, unit * (own - others))


def _third(rate: float) -> float:
    """The third central moment of one report."""
    return rate * (1 - rate) * (1 - 2 * rate)
