"""p-values, and how they are adjusted for having asked about many values at once."""

from __future__ import annotations

from typing import Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.errors import EstimateError

Correction = Literal["none", "bonferroni", "holm", "bh"]
CORRECTIONS: tuple[Correction, ...] = get_args(Correction)

_STRAIGHT = 1e-5  # skewness below which a tail is the normal one
_FALLING = 2.0  # skewness from which type III's density falls everywhere: an exponential's, and above


class NullLaw(Protocol):
    """How many reports support a value that nobody holds."""

    def tail(self, support: npt.NDArray[np.int64], /) -> FloatArray:
        """P(as much support or more), for each row of ``support``; shape (d,)."""


def skewed_tail(count: FloatArray, variance: FloatArray, third: FloatArray, step: float = 0.0) -> FloatArray:
    """P(``count`` or more) of mean 0, ``variance`` and third central moment ``third``: Pearson's type III.

    Counts that lie ``step`` apart are reached half of one below, so that a tail holds the whole of the count itself.
    Where the skewness is negative the normal tail, which is longer: type III ends on that side, and a p-value of 0
    would claim more than three moments can. Where it is above 2 type III falls from its lower end on, as a count does
    that is nearly always the lowest there is: all below the mean stands for that one, and is certain to be reached.
    """
    count = count - step / 2
    spread = np.sqrt(variance)
    score = np.divide(count, spread, out=np.where(count > 0, np.inf, -np.inf), where=spread > 0)
    skewness = np.divide(third, variance * spread, out=np.zeros_like(third), where=spread > 0)
    normal = np.asarray(stats.norm.sf(score), np.float64)
    # A shifted gamma distribution; the normal where that is so large in shape that it makes no difference.
    shape = 4 / np.maximum(skewness, _STRAIGHT) ** 2
    gamma = special.gammaincc(shape, np.maximum(shape + score * np.sqrt(shape), 0.0))
    gamma = np.where((skewness > _FALLING) & (score <= 0), 1.0, gamma)
    return np.where(skewness > _STRAIGHT, gamma, normal)


def adjusted(p_value: FloatArray, correction: Correction) -> FloatArray:
    """``p_value`` so adjusted that comparing with alpha controls the family-wise error, or for ``"bh"`` the FDR.

    Bonferroni and Holm (Holm 1979) hold whatever the dependence between the values; Benjamini and Hochberg (1995)
    holds for independent and positively dependent ones. Raises EstimateError for another correction.
    """
    tests = len(p_value)
    if correction == "none" or tests == 0:
        return p_value
    if correction == "bonferroni":
        return np.minimum(p_value * tests, 1.0)
    if correction == "holm":
        order = np.argsort(p_value, kind="stable")
        stepped = np.maximum.accumulate(p_value[order] * np.arange(tests, 0, -1))
        result = np.empty(tests)
        result[order] = np.minimum(stepped, 1.0)
        return result
    if correction == "bh":
        return np.asarray(stats.false_discovery_control(p_value, method="bh"), np.float64)
    raise EstimateError(f"correction {correction!r} is not one of {', '.join(CORRECTIONS)}")
