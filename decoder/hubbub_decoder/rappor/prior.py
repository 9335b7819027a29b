"""How frequent values are, learnt from the values themselves: a falling density on [0, 1], with a mass at 0.

Empirical Bayes with a unimodal prior (Stephens, "False discovery rates: a new deal", Biostatistics 2017): a mixture of
uniform densities on [0, a], which can be any density that falls, with a point mass at 0 for values that nobody holds.
Rare values being more numerous than frequent ones is all that is assumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from hubbub_decoder.consistent import FloatArray

_CELLS = 80
# The first cell is this part of a standard error wide: finer differences cannot be seen.
_FINEST = 0.1
# Values at a time, so that no array of (values, cells) is larger than a few MB.
_BLOCK = 4096
# The prior is learnt from this many at most, spread evenly over the estimates in order: more would not change it.
_SAMPLE = 4 * _BLOCK
_LEVEL_TOLERANCE = 1e-9


class Falling:
    """The prior: a mass at 0 and a density that is constant in each of some cells, finer near 0.

    ``fit`` moves it towards what observations say, which are normal with these variances.
    """

    def __init__(self, mean: FloatArray, variance: FloatArray) -> None:
        spread = float(np.clip(np.median(np.sqrt(variance)), 1e-12, 1.0))
        top = min(1.0, max(float(mean.max()), 0.0) + 2 * spread)
        self._edges = np.concatenate([[0.0], np.geomspace(spread * _FINEST, max(top, spread), _CELLS)])
        self._mixture = np.full(_CELLS + 1, 1 / (_CELLS + 1))
        self._last: tuple[FloatArray, FloatArray, _Seen] | None = None

    def fit(self, mean: FloatArray, variance: FloatArray, steps: int) -> None:
        """``steps`` of expectation-maximisation, which never lower the likelihood."""
        if len(mean) > _SAMPLE:
            chosen = np.argsort(mean)[:: -(len(mean) // _SAMPLE)]
            mean, variance = mean[chosen], variance[chosen]
        seen = self._seen(mean, variance)
        component = np.concatenate(
            [seen.at_zero[:, np.newaxis], np.cumsum(seen.mass, axis=1) / self._edges[1:]], axis=1
        )
        for _ in range(steps):
            belongs = component * self._mixture
            self._mixture = (belongs / belongs.sum(axis=1, keepdims=True)).mean(axis=0)

    def moments(self, mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The posterior mean and variance given each observation."""
        first, second = np.empty_like(mean), np.empty_like(mean)
        for part, seen in self._parts(mean, variance):
            density, total = self._density(seen)
            within, square = seen.moments(mean[part], variance[part], self._edges)
            first[part] = (within @ density) / total
            second[part] = (square @ density) / total
        return first, np.maximum(second - first**2, 0.0)

    def consistent(self, mean: FloatArray, variance: FloatArray) -> FloatArray:
        """Posterior quantiles, all at the level at which they add up to the expected total, or to 1 if that is more.

        Of all shares with this total they have the least expected sum of absolute errors: at the optimum no share can
        be raised and another lowered with a gain, so the chance to be too low is the same for all.
        """
        posterior = [self._reached(seen, mean[part], variance[part]) for part, seen in self._parts(mean, variance)]
        total = min(1.0, float(self.moments(mean, variance)[0].sum()))

        def shares(level: float) -> FloatArray:
            return np.concatenate([reached.quantiles(level) for reached in posterior])

        def excess(level: float) -> float:
            return float(shares(level).sum()) - total

        # Where every posterior is all at 0 the total is 0 but for rounding, and no level reaches it.
        if not excess(1.0) > 0:
            return shares(1.0)
        return shares(float(optimize.brentq(excess, 0.0, 1.0, xtol=_LEVEL_TOLERANCE)))

    def _reached(self, seen: _Seen, mean: FloatArray, variance: FloatArray) -> _Posterior:
        density, total = self._density(seen)
        mass = np.column_stack([self._mixture[0] * seen.at_zero, seen.mass * density]) / total[:, np.newaxis]
        return _Posterior(mean, np.sqrt(variance), self._edges, np.cumsum(mass, axis=1))

    def _parts(self, mean: FloatArray, variance: FloatArray) -> Iterator[tuple[slice, _Seen]]:
        if len(mean) <= _BLOCK:
            yield slice(len(mean)), self._seen(mean, variance)
            return
        for start in range(0, len(mean), _BLOCK):
            part = slice(start, start + _BLOCK)
            yield part, _Seen.of(mean[part], variance[part], self._edges)

    def _seen(self, mean: FloatArray, variance: FloatArray) -> _Seen:
        """The likelihood of all: kept, since of the same observations fit, moments and quantiles are asked in turn."""
        if self._last is None or self._last[0] is not mean or self._last[1] is not variance:
            self._last = mean, variance, _Seen.of(mean, variance, self._edges)
        return self._last[2]

    def _density(self, seen: _Seen) -> tuple[FloatArray, FloatArray]:
        """The density in each cell, and the marginal likelihood of each observation."""
        density = np.cumsum((self._mixture[1:] / self._edges[1:])[::-1])[::-1]
        return density, self._mixture[0] * seen.at_zero + seen.mass @ density


@dataclass(frozen=True, eq=False)
class _Seen:
    """The likelihood of observations as the prior needs it: at 0, and integrated over each cell."""

    at_zero: FloatArray
    mass: FloatArray

    @staticmethod
    def of(mean: FloatArray, variance: FloatArray, edges: FloatArray) -> _Seen:
        spread = np.sqrt(variance)
        score = (edges - mean[:, np.newaxis]) / spread[:, np.newaxis]
        # Differences of the smaller tails, which are exact far out.
        tail = special.ndtr(-np.abs(score))
        left, right = tail[:, :-1], tail[:, 1:]
        across = (score[:, :-1] < 0) & (score[:, 1:] > 0)
        mass = np.where(across, 1 - left - right, np.abs(left - right))
        tiny = np.finfo(float).tiny  # so that nothing is divided by 0 where all of it is far off
        return _Seen(np.exp(-0.5 * score[:, 0] ** 2) / (spread * np.sqrt(2 * np.pi)) + tiny, mass + tiny)

    def moments(self, mean: FloatArray, variance: FloatArray, edges: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The integrals of t and of t squared over each cell; those of a point at 0 are 0."""
        spread = np.sqrt(variance)[:, np.newaxis]
        height = np.exp(-0.5 * ((edges - mean[:, np.newaxis]) / spread) ** 2) / np.sqrt(2 * np.pi)
        first = mean[:, np.newaxis] * self.mass - spread * np.diff(height, axis=1)
        moved = np.diff(height * edges, axis=1)
        second = mean[:, np.newaxis] * first + spread**2 * self.mass - spread * moved
        return np.clip(first, self.mass * edges[:-1], self.mass * edges[1:]), np.maximum(second, 0.0)


@dataclass(frozen=True, eq=False)
class _Posterior:
    """Of each observation: how much of its posterior is reached at 0, and at the end of each cell."""

    mean: FloatArray
    spread: FloatArray
    edges: FloatArray
    reached: FloatArray

    def quantiles(self, level: float) -> FloatArray:
        """Where each posterior reaches ``level``: within its cell, by the normal likelihood there; exactly 0 at 0."""
        cell = np.minimum((self.reached < level).sum(axis=1), _CELLS)
        row, inside = np.arange(len(cell)), np.maximum(cell - 1, 0)
        before = self.reached[row, inside]
        mass = self.reached[row, inside + 1] - before
        way = np.clip(np.divide(level - before, mass, out=np.zeros_like(mass), where=mass > 0), 0.0, 1.0)
        start, end = self.edges[inside], self.edges[inside + 1]
        low, high = (start - self.mean) / self.spread, (end - self.mean) / self.spread
        # In the smaller tail, which is exact far out: beyond the mean from above.
        sign = np.where(low > 0, -1.0, 1.0)
        left, right = special.ndtr(sign * low), special.ndtr(sign * high)
        at = self.mean + self.spread * sign * special.ndtri(left + way * (right - left))
        return np.asarray(np.where(cell == 0, 0.0, np.clip(np.nan_to_num(at, posinf=1.0, neginf=0.0), start, end)))
