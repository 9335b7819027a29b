"""Constrained inference: the shares of all nodes that agree with each other and are the best guess from all levels.

In a tree whose levels have n_l reports each, a node's share is estimated at its own level and, as a sum, at every level
below. Generalised least squares weighs them by their variances, the same for all nodes of a level, so it takes one pass
up and one down (Hay, Rastogi, Miklau, Suciu, "Boosting the accuracy of differentially private histograms through
consistency", VLDB 2010, theorem 3; here with a variance for each level, and with the root known: it is everyone).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hubbub_decoder.consistent import FloatArray


@dataclass(frozen=True)
class Tree:
    """The shape and the weights. ``children[l]`` is how many children of one node level l has, ``nodes[l]`` all of it.

    ``own[l]`` is the weight of a node's own estimate, against that of the sum of its children; 1 at the last level.
    """

    children: tuple[int, ...]
    own: tuple[float, ...]

    @staticmethod
    def of(children: Sequence[int], noise: Sequence[float]) -> Tree:
        """The tree of levels whose nodes' estimates have these variances; infinite where there is none, but the last.

        A node's children together have c times the variance of one of them; two estimates of one share weigh as the
        inverses of their variances.
        """
        own, below = [1.0], noise[-1]
        for count, variance in zip(reversed(children[1:]), reversed(noise[:-1]), strict=True):
            precision = 1 / variance + 1 / (count * below)
            own.append(1 / variance / precision)
            below = 1 / precision
        return Tree(tuple(children), tuple(reversed(own)))

    def fit(self, shares: Sequence[FloatArray]) -> list[FloatArray]:
        """The shares of all levels, from those that each level says by itself: linear in them, and so unbiased."""
        last = len(shares) - 1
        up = [shares[last]]
        for level in reversed(range(last)):
            summed = _sums(up[-1], self.children[level + 1])
            up.append(self.own[level] * shares[level] + (1 - self.own[level]) * summed)
        up.reverse()
        fitted, parent = [], np.ones(1)
        for count, share in zip(self.children, up, strict=True):
            # What the children lack of their parent is spread over them evenly, since they are equally exact.
            parent = share + np.repeat((parent - _sums(share, count)) / count, count)
            fitted.append(parent)
        return fitted

    def weights(self, asked: FloatArray) -> list[FloatArray]:
        """What each level's own shares are multiplied by where ``asked`` (buckets,) multiplies the fitted buckets.

        The transpose of ``fit``: the sum of all products, and a constant, is the fitted answer.
        """
        adjoint: list[FloatArray] = []
        for count in reversed(self.children):
            mean = _sums(asked, count) / count
            adjoint.append(asked - np.repeat(mean, count))
            asked = mean
        adjoint.reverse()
        weights, carried = [], adjoint[0]
        for level, own in enumerate(self.own):
            weights.append(own * carried)
            if level + 1 < len(self.own):
                carried = adjoint[level + 1] + (1 - own) * np.repeat(carried, self.children[level + 1])
        return weights


def _sums(shares: FloatArray, count: int) -> FloatArray:
    total: FloatArray = shares.reshape(-1, count).sum(axis=1)
    return total
