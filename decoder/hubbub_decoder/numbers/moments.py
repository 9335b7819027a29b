"""From weights on the nodes of each level to the moments of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.numbers.levels import Level
from hubbub_decoder.numbers.report import ReportMoments

_ALL = 1e-9
"""What is left of a share of this much less than 1 is rounding."""


@dataclass(eq=False)
class WeightMoments:
    """Of one level's weights w over its nodes: the sums of them, their squares and cubes; the same with the nodes'
    shares f as factors; the least and the greatest weight, and that of a bucket's own node."""

    w: FloatArray
    ww: FloatArray
    www: FloatArray
    fw: FloatArray
    fww: FloatArray
    fwww: FloatArray
    least: FloatArray
    greatest: FloatArray
    own: FloatArray

    @staticmethod
    def none(shape: tuple[int, ...]) -> WeightMoments:
        """Those of no nodes."""
        w, ww, www, fw, fww, fwww, own = (np.zeros(shape) for _ in range(7))
        return WeightMoments(w, ww, www, fw, fww, fwww, np.full(shape, np.inf), np.full(shape, -np.inf), own)

    @staticmethod
    def of(weights: FloatArray, shares: FloatArray) -> WeightMoments:
        """Those of ``weights (..., m)`` and ``shares (m,)``, of no bucket in particular."""
        square = weights * weights
        cube = square * weights
        least, greatest = weights.min(axis=-1), weights.max(axis=-1)
        w, ww, www = (each.sum(axis=-1) for each in (weights, square, cube))
        own = np.zeros_like(w)
        return WeightMoments(w, ww, www, weights @ shares, square @ shares, cube @ shares, least, greatest, own)

    def add(self, weight: FloatArray, nodes: npt.NDArray[np.int64], share: FloatArray) -> None:
        """``nodes`` more nodes of the same weight, with this share together."""
        square = weight * weight
        self.w += weight * nodes
        self.ww += square * nodes
        self.www += square * weight * nodes
        self.fw += weight * share
        self.fww += square * share
        self.fwww += square * weight * share
        self.least = np.minimum(self.least, np.where(nodes > 0, weight, np.inf))
        self.greatest = np.maximum(self.greatest, np.where(nodes > 0, weight, -np.inf))

    @property
    def most(self) -> FloatArray:
        """The largest weight, whatever its sign."""
        return np.maximum(np.abs(self.least), np.abs(self.greatest))

    def inside(self) -> WeightMoments:
        """The same weights, where all values are in the bucket itself."""
        return replace(self, fw=self.own, fww=self.own**2, fwww=self.own**3)

    def outside(self, share: FloatArray, nodes: int, buckets: int) -> WeightMoments:
        """The same weights, where the bucket's ``share`` is left out; evenly over the other buckets if nothing is left,
        of which each of ``nodes`` has the same number but for the bucket's own."""
        left = 1 - share

        def rest(all_of_them: FloatArray, own: FloatArray, sums: FloatArray) -> FloatArray:
            even = (sums * (buckets / nodes) - own) / (buckets - 1)
            return np.divide(all_of_them - share * own, left, out=even, where=left > _ALL)

        return replace(
            self,
            fw=rest(self.fw, self.own, self.w),
            fww=rest(self.fww, self.own**2, self.ww),
            fwww=rest(self.fwww, self.own**3, self.www),
        )

    def report(self, level: Level) -> ReportMoments:
        """What one report of ``level`` adds: its noise, and which value it is of.

        The cube is that with weights that add up to 0, as a tree's do.
        """
        noise = (
            level.other * (self.ww - self.fww)
            + level.own * self.fww
            + 2 * level.own_other * (self.w * self.fw - self.fww)
            # All pairs of nodes other than the report's own and each other.
            + level.other_other * (self.w**2 - self.ww - 2 * (self.w * self.fw - self.fww))
        )
        third = level.cube * self.www + level.own_square * self.ww * self.fw + level.own_cube * self.fwww
        return ReportMoments(self.fw, noise + self.fww, third)


def variance(levels: Sequence[Level], moments: Sequence[WeightMoments], share: FloatArray) -> FloatArray:
    """The variance of the estimated ``share`` of the devices that reported; 0 at the least.

    As if each level's devices were a sample of their own from a large population, less the variance of the share of all
    devices in it: they are the population, and each is in one level. Weights on a level that no report speaks of are on
    a guess, even shares: what that is off by is no more than the largest of them, since they add up to 0. Nothing is
    taken off then.
    """
    total = np.zeros(np.shape(share))
    for level, each in zip(levels, moments, strict=True):
        report = each.report(level)
        total += (report.second - report.first**2) / level.n if level.n else each.most**2
    if all(level.n for level in levels):
        total -= share * (1 - share) / sum(level.n for level in levels)
    return np.maximum(total, 0.0)
