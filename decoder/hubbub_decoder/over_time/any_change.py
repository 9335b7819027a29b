"""Whether anything changed at all: one p-value from those of all values."""

from __future__ import annotations

import math

import numpy as np

from hubbub_decoder.consistent import FloatArray

_LEAST = 1e-300


def any_change(p_value: FloatArray) -> float:
    """How likely p-values as small as these are where no value changed, at most; whatever their dependence.

    The smaller of Bonferroni's d min(p), which sees one large change, and e times the geometric mean, which sees many
    small ones (Vovk and Wang, "Combining p-values via averaging", Biometrika 107, 2020, proposition 4), doubled because
    the better of two is taken.
    """
    tests = len(p_value)
    if tests < 2:
        return float(p_value.min(initial=1.0))
    sharp = tests * float(p_value.min())
    broad = math.exp(1 + float(np.log(np.maximum(p_value, _LEAST)).mean()))
    return min(1.0, 2 * min(sharp, broad))
