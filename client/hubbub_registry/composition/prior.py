"""How far reports can move what somebody believed before: from a prior to a posterior probability."""

from __future__ import annotations

import math
from fractions import Fraction

from hubbub_registry.exact import exp_lower

# Past this e^epsilon is over 1e300 and no posterior can be told from 0 or 1.
_FLAT = 700


def posterior(prior: Fraction, epsilon: Fraction) -> tuple[float, float]:
    """The least and the most probability of a statement about one device that ``prior`` can become.

    Pure differential privacy multiplies the odds by at most E = e^epsilon, and by at least 1/E, whatever is observed
    and whatever else is known: p / (p + (1 - p) E) to p E / (p E + 1 - p). The first is rounded down, the second up.
    """
    if epsilon >= _FLAT:
        return 0.0, 1.0
    # 1 / exp_lower(-epsilon) would need small numbers; this is above e^epsilon by less than one part in 1e15.
    ratio = exp_lower(epsilon) * (1 + Fraction(1, 10**15))
    least = prior / (prior + (1 - prior) * ratio)
    most = prior * ratio / (prior * ratio + 1 - prior)
    return math.nextafter(float(least), 0.0), min(1.0, math.nextafter(float(most), 1.0))
