"""Are the two sides independent? Then the records of one side lie beside those of the other as if shuffled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg, stats

from hubbub_decoder.joint.bloom import FloatArray
from hubbub_decoder.joint.likelihood import Side
from hubbub_decoder.joint.pairs import IntArray, Pairs

# Likelihoods that are in memory at a time.
_AT_ONCE = 1 << 21
_SINGULAR = 1e-10
# Reports whose shuffled variance has a formula.
_FEWEST = 4


class Independence(NamedTuple):
    """A ``statistic`` whose mean is ``degrees`` where the sides are independent, and its ``p_value``.

    With many reports it is chi-squared with so many degrees of freedom.
    """

    statistic: float
    degrees: int
    p_value: float


class _Standard(NamedTuple):
    """``(score - mean) @ turn`` has the mean 0 over all reports, and second moments that add up to the identity."""

    share: FloatArray
    mean: FloatArray
    turn: FloatArray
    peaks: float
    """The sum, over all reports, of the squared square of that."""

    def at(self, likelihood: FloatArray) -> FloatArray:
        """The standardised scores of records of these likelihoods; (rows, rank)."""
        return np.asarray((likelihood / (likelihood @ self.share)[:, np.newaxis] - self.mean) @ self.turn)


def independence(pairs: Pairs, table: FloatArray) -> Independence:
    """Tests whether the scores of both sides, each at its marginal of ``table``, go together.

    The statistic is that of the score test, Pearson's where there is no noise. Its mean and its variance are those over
    all ways to lay the records of one side beside those of the other: true for any number of reports, and whatever
    their chances are. ``table`` decides no more than what the test is good at seeing.
    """
    n = float(pairs.count.sum())
    first = _standard(pairs.first, pairs.i, pairs.count, table.sum(axis=1))
    second = _standard(pairs.second, pairs.j, pairs.count, table.sum(axis=0))
    p, q = first.turn.shape[1], second.turn.shape[1]
    if not p * q or n < _FEWEST:
        return Independence(0.0, 0, 1.0)
    together = np.zeros((p, q))
    for left, right, count in pairs.chunks():
        together += first.at(left).T @ (second.at(right) * count[:, np.newaxis])
    statistic = (n - 1) * float((together**2).sum())
    variance = _shuffled_variance(n, p, first.peaks, q, second.peaks)
    if variance < _SINGULAR * p * q:  # no more reports than directions: every way to lay them is as good as another
        return Independence(statistic, p * q, 1.0)
    # A multiple of a chi-squared law that has this mean and this variance.
    times = variance / (2 * p * q)
    return Independence(statistic, p * q, float(stats.chi2.sf(statistic / times, p * q / times)))


def _standard(side: Side, rows: IntArray, count: FloatArray, share: FloatArray) -> _Standard:
    """Directions in which the reports do not differ are left out."""
    often: FloatArray = np.bincount(rows, weights=count, minlength=len(side)).astype(np.float64)
    plain = _Standard(share, np.zeros(side.width), np.eye(side.width), 0.0)
    mean, moments = np.zeros(side.width), np.zeros((side.width, side.width))
    for some, of in _chunks(side, often):
        mean += of @ plain.at(some) / often.sum()
    plain = plain._replace(mean=mean)
    for some, of in _chunks(side, often):
        score = plain.at(some)
        moments += score.T @ (score * of[:, np.newaxis])
    values, vectors = linalg.eigh(moments)
    good = values > _SINGULAR * max(values[-1], 1)
    found = plain._replace(turn=vectors[:, good] / np.sqrt(values[good]))
    for some, of in _chunks(side, often):
        found = found._replace(peaks=found.peaks + float(of @ (found.at(some) ** 2).sum(axis=1) ** 2))
    return found


def _chunks(side: Side, often: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    step = max(1, _AT_ONCE // side.width)
    for start in range(0, len(side), step):
        yield side.at(slice(start, start + step)), often[start : start + step]


def _shuffled_variance(n: float, p: int, peaks: float, q: int, other_peaks: float) -> float:
    """The variance of (n - 1) tr(P S Q S') over all permutations S of n reports.

    P and Q project on p and q dimensions without a mean; ``peaks`` are their squared diagonal elements, added up
    (Kazi-Aoual, Hitier, Sabatier, Lebreton, "Refined approximations to permutation tests for multivariate inference",
    1995).
    """
    spread = 2 * p * (n - 1 - p) * q * (n - 1 - q) / ((n + 1) * (n - 2))
    one, other = (n * (n + 1) * sum_ - (n - 1) * (r * r + 2 * r) for sum_, r in ((peaks, p), (other_peaks, q)))
    return spread + (n - 1) * one * other / ((n + 1) * n * (n - 2) * (n - 3))
