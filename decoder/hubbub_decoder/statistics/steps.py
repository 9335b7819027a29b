"""How far a tail is moved because counts come in steps and the distribution that stands for them does not."""

from __future__ import annotations

import numpy as np

from hubbub_decoder.consistent import FloatArray

# The variance, in steps squared, at which the correction has fallen to half of half a step.
_COARSE = 9.0


def correction(variance: FloatArray, step: FloatArray | float) -> FloatArray:
    """The correction, in the unit of ``step``, where a count's variance is ``variance``; 0 for a step of 0.

    Half a step makes an interval's tails those of Clopper and Pearson's exact interval, none those of the mid-p
    interval. Where few reports are expected the latter covers too little, where many are the former too much: the
    correction goes from the one to the other as the variance grows.
    """
    coarse = _COARSE * np.square(step) + np.zeros_like(variance)
    return np.divide(0.5 * step * coarse, coarse + variance, out=np.zeros_like(coarse), where=coarse > 0)
