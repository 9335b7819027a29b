"""From weights on the nodes of each level to the variance of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.numbers.levels import Level


@dataclass(eq=False)
class WeightMoments:
    """Of one level's weights w over its nodes: the sums of them, their squares and cubes; the first two with the nodes'
    shares f as factors; and the largest weight, whatever its sign."""

    w: FloatArray
    ww: FloatArray
    www: FloatArray
    fw: FloatArray
    fww: FloatArray
    most: FloatArray
    exact: float | None = None
    """The variance of one report, where every point was gone through."""

    @staticmethod
    def none(shape: tuple[int, ...]) -> WeightMoments:
        """Those of no nodes."""
        w, ww, www, fw, fww, most = (np.zeros(shape) for _ in range(6))
        return WeightMoments(w, ww, www, fw, fww, most)

    @staticmethod
    def of(weights: FloatArray, shares: FloatArray) -> WeightMoments:
        """Those of ``weights (..., m)`` and ``shares (m,)``."""
        square = weights * weights
        most = np.abs(weights).max(axis=-1)
        cubes = (square * weights).sum(axis=-1)
        return WeightMoments(weights.sum(axis=-1), square.sum(axis=-1), cubes, weights @ shares, square @ shares, most)

    def add(self, weight: FloatArray, nodes: npt.NDArray[np.int64], share: FloatArray) -> None:
        """``nodes`` more nodes of the same weight, with this share together."""
        square = weight * weight
        self.w += weight * nodes
        self.ww += square * nodes
        self.www += square * weight * nodes
        self.fw += weight * share
        self.fww += square * share
        self.most = np.maximum(self.most, np.where(nodes > 0, np.abs(weight), 0.0))

    def variance(self, level: Level) -> FloatArray:
        """The variance of one report of ``level``: that of its noise, and of which value it is of."""
        if self.exact is not None:
            return np.asarray(self.exact)
        noise = (
            level.other * (self.ww - self.fww)
            + level.own * self.fww
            + 2 * level.own_other * (self.w * self.fw - self.fww)
            # All pairs of nodes other than the report's own and each other.
            + level.other_other * (self.w**2 - self.ww - 2 * (self.w * self.fw - self.fww))
        )
        return noise + self.fww - self.fw**2


def variance(levels: Sequence[Level], moments: Sequence[WeightMoments], share: FloatArray) -> FloatArray:
    """The variance of the estimated ``share`` of the devices that reported; 0 at the least.

    As if each level's devices were a sample of their own from a large population, less the variance of the share of all
    devices in it: they are the population, and each is in one level. Weights on a level that no report speaks of are on
    a guess, even shares: what that is off by is no more than the largest of them, since they add up to 0. Nothing is
    taken off then.
    """
    total = np.zeros(np.shape(share))
    for level, each in zip(levels, moments, strict=True):
        total += each.variance(level) / level.n if level.n else each.most**2
    if all(level.n for level in levels):
        total -= share * (1 - share) / sum(level.n for level in levels)
    return np.maximum(total, 0.0)


def third_moment(levels: Sequence[Level], moments: Sequence[WeightMoments]) -> FloatArray:
    """The third central moment of an estimated share that nobody has, as far as nodes' noise is independent."""
    total = np.zeros_like(moments[0].www)
    for level, each in zip(levels, moments, strict=True):
        if level.n:
            total += each.www * level.third / level.n**2
    return total
