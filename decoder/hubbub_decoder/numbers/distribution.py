"""How a number is distributed over the buckets of its range, from all levels of a hierarchical histogram together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.numbers.law import Law
from hubbub_decoder.numbers.levels import Level
from hubbub_decoder.numbers.moments import WeightMoments, variance
from hubbub_decoder.numbers.nonnegative import nonnegative
from hubbub_decoder.numbers.paths import path_moments
from hubbub_decoder.numbers.report import ReportMoments
from hubbub_decoder.numbers.tree import Tree
from hubbub_registry import Metric


@dataclass(frozen=True, eq=False)
class Distribution:
    """Shares of ``n`` reports' values, after constrained inference.

    ``first`` (buckets + 1,) are the buckets' first integers, and the one above the range. ``share`` (buckets,) is
    unbiased and may be negative; ``likely`` is the same, not negative. Both add up to 1.
    """

    metric: str
    mechanism: str
    ratio: Fraction
    """e^epsilon of one report, exactly."""
    n: int
    first: npt.NDArray[np.int64]
    levels: tuple[Level, ...]
    tree: Tree
    share: FloatArray
    likely: FloatArray

    @staticmethod
    def of(metric: Metric, n: int, levels: Sequence[Level]) -> Distribution:
        """That of ``metric``, whose levels say this by themselves."""
        p = metric.device.parameters
        nodes = [1, *(level.nodes for level in levels)]
        children = [below // above for above, below in pairwise(nodes)]
        tree = Tree.of(children, [level.noise for level in levels])
        fitted = tree.fit([level.share for level in levels])
        low, integers, buckets = p["low"] - p["below_zero"], p["span"] + 1, nodes[-1]
        return Distribution(
            metric=metric.name,
            mechanism=metric.mechanism,
            ratio=metric.ratio,
            n=n,
            first=low - -np.arange(buckets + 1) * integers // buckets,
            levels=tuple(levels),
            tree=tree,
            share=fitted[-1],
            likely=nonnegative(fitted),
        )

    @property
    def buckets(self) -> int:
        """How many buckets there are."""
        return len(self.share)

    @cached_property
    def likely_below(self) -> FloatArray:
        """The likely share of values below each bucket; shape (buckets + 1,), from 0 to 1, never falling."""
        return np.concatenate([[0.0], np.minimum(np.cumsum(self.likely[:-1]), 1.0), [1.0]])

    @cached_property
    def below(self) -> FloatArray:
        """The unbiased share of values below each bucket; shape (buckets + 1,). It may fall, and leave [0, 1]."""
        return np.concatenate([[0.0], np.cumsum(self.share[:-1]), [1.0]])

    @cached_property
    def below_error(self) -> FloatArray:
        """The standard error of ``below``; 0 at the two ends, which are known."""
        moments = path_moments(self.tree, self.levels, np.arange(self.buckets), self.likely_below, prefix=True)
        error = np.sqrt(variance(self.levels, moments, self.likely_below[:-1]))
        error[0] = 0.0
        return np.append(error, 0.0)

    def share_of(self, start: int, end: int) -> tuple[float, float]:
        """The unbiased share of the buckets from ``start`` to before ``end``, and its standard error."""
        law = self.law_of(start, end)
        return self.unbiased(start, end), float(np.sqrt(law.variance))

    def unbiased(self, start: int, end: int) -> float:
        """The unbiased share of the buckets from ``start`` to before ``end``: everyone, whatever rounding makes of it,
        for all of them."""
        return 1.0 if end - start == self.buckets else float(self.share[start:end].sum())

    def law_of(self, start: int, end: int) -> Law:
        """How the share of the buckets from ``start`` to before ``end`` is distributed, around its likely one."""
        asked = np.zeros(self.buckets)
        asked[start:end] = 1.0
        if asked.all():
            return Law(np.asarray(1.0), *(np.asarray(0.0) for _ in range(5)))
        within, without = asked * self.likely, (1 - asked) * self.likely
        spreads = [each / each.sum() if each.sum() > 0 else even / even.sum()
                   for each, even in ((within, asked), (without, 1 - asked))]  # fmt: skip
        weights, inside, outside = [], [], []
        for level, weight in zip(self.levels, self.tree.weights(asked), strict=True):
            shares = np.array([each.reshape(level.nodes, -1).sum(axis=1) for each in spreads])
            of = [WeightMoments.of(weight, each) for each in shares]
            exact = None if level.geometry is None else level.geometry.moments(weight, shares)
            each_in, each_out = (each.report(level) for each in of) if exact is None else zip(*exact, strict=True)
            weights.append(of[0])
            inside.append(ReportMoments(*each_in))
            outside.append(ReportMoments(*each_out))
        return Law.of(self.levels, weights, inside, outside, np.asarray(within.sum()))
