"""Privacy amplification by shuffling: the variation-ratio reduction, computed to the last place, rounded up.

Source: Wang, Peng, Li, Wen, Li, Yu, Wang, Yang, "Privacy amplification via shuffling: unified, simplified, and
tightened", PVLDB 2024 (arXiv 2304.05007), theorem 4.2 and its numerical evaluation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub_registry.composition.errors import require_extra

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The binomial tails of scipy are good to about 1e-12; this much of every term's size is added to the sum.
_RELATIVE = 1e-10
# Clones are counted this many standard deviations around their mean, and so many at least; the mass beyond is added
# to delta.
_DEVIATIONS, _LEAST_WINDOW = 10, 100
_PRECISION = 1e-9


@dataclass(frozen=True)
class Randomizer:
    """What the reduction knows of a local mechanism.

    ``ratio`` (p) bounds the quotient of an output's probabilities between two values; ``variation`` (beta) their total
    variation distance; ``blanket`` (q) the quotient between one of these values and that of any other device. Under
    pure local privacy alone they are E, (E - 1) / (E + 1) and E.
    """

    ratio: float
    variation: float
    blanket: float

    @property
    def lone(self) -> float:
        """alpha = beta / (p - 1): the mass of the output that points to the other value."""
        return self.variation / (self.ratio - 1)

    @property
    def clone(self) -> float:
        """2 alpha p / q: with this probability another device's report is a clone of one of the two values."""
        return min(1.0, 2 * self.lone * self.ratio / self.blanket)


def shuffled_delta(randomizer: Randomizer, devices: int, epsilon: float) -> float:
    """An upper bound of delta at ``epsilon`` for a batch of ``devices`` reports, each of another device.

    With C ~ Bin(devices - 1, clone) and A ~ Bin(C, 1/2), it is the hockey-stick divergence of (A + X, C - A + Y) from
    the same with X and Y exchanged, where (X, Y) is (1, 0), (0, 1), (0, 0) with probabilities alpha p, alpha and the
    rest. For a fixed number of ones m = a + b the quotient of the two rises with a, so each m has one threshold and
    its share is a difference of binomial tails.
    """
    require_extra()
    import numpy as np
    from scipy import stats

    if epsilon >= math.log(randomizer.ratio):
        return 0.0
    others, chance = devices - 1, randomizer.clone
    mean, spread = others * chance, math.sqrt(others * chance * (1 - chance))
    half = max(_LEAST_WINDOW, _DEVIATIONS * spread)
    clones = np.arange(max(0, math.floor(mean - half)), min(others, math.ceil(mean + half)) + 1)
    mass = stats.binom.pmf(clones, others, chance)
    outside = stats.binom.cdf(clones[0] - 1, others, chance) + stats.binom.sf(clones[-1], others, chance)
    # m ones: m - 1 clones and a one of the device's own, or m clones and none.
    ones = np.arange(clones[0], clones[-1] + 2)
    fewer, same = np.append(0.0, mass), np.append(mass, 0.0)
    least = _thresholds(randomizer, epsilon, ones, fewer, same)
    e, alpha, p = math.exp(epsilon), randomizer.lone, randomizer.ratio
    rest = max(0.0, 1 - alpha * (p + 1))
    terms = (
        alpha * (p - e) * fewer * _at_least(least - 1, ones - 1),
        alpha * (1 - e * p) * fewer * _at_least(least, ones - 1),
        rest * (1 - e) * same * _at_least(least, ones),
    )
    value = sum(float(np.sum(term)) for term in terms)
    size = sum(float(np.sum(np.abs(term))) for term in terms)
    return min(1.0, max(0.0, value) + _RELATIVE * size + float(outside))


def shuffled_epsilon(randomizer: Randomizer, devices: int, delta: Fraction) -> float:
    """The least epsilon with ``shuffled_delta`` at most ``delta``, rounded up; never above ln p."""
    require_extra()
    from scipy import optimize

    allowed = float(delta) * (1 - 2**-50)
    highest = math.nextafter(math.log(randomizer.ratio), math.inf)

    def excess(epsilon: float) -> float:
        value = shuffled_delta(randomizer, devices, epsilon)
        return math.log(max(value, allowed * 1e-6) / allowed)

    if excess(0.0) <= 0:
        return 0.0
    epsilon = optimize.brentq(excess, 0.0, highest, xtol=1e-300, rtol=_PRECISION)
    step = _PRECISION * epsilon
    while excess(epsilon) > 0:  # the root lies within the precision on either side
        epsilon = min(highest, epsilon + step)
        step *= 2
    return epsilon


def _thresholds(
    randomizer: Randomizer,
    epsilon: float,
    ones: NDArray[np.int64],
    fewer: NDArray[np.float64],
    same: NDArray[np.float64],
) -> NDArray[np.float64]:
    """For each number of ones m, the least a at which P(a, m - a) >= e^epsilon Q(a, m - a).

    P(a, b) is proportional to F (alpha p a + alpha b) 2 / m + rest S, with F and S the masses of m - 1 and of m clones;
    Q has a and b exchanged. A threshold that a rounding moves by one loses nothing to first order: the summand is 0
    there.
    """
    import numpy as np

    e, alpha, p = math.exp(epsilon), randomizer.lone, randomizer.ratio
    rest = max(0.0, 1 - alpha * (p + 1))
    # alpha F 2/m ((p - e) a + (1 - e p) (m - a)) + (1 - e) rest S >= 0, solved for a.
    with np.errstate(divide="ignore", invalid="ignore"):
        pull = (e - 1) * rest * same * ones / (2 * alpha * fewer)
        least = np.ceil(((e * p - 1) * ones + pull) / ((p - e) + (e * p - 1)))
    return np.where((fewer > 0) & (least <= ones), least, ones + 1.0)


def _at_least(least: NDArray[np.float64], trials: NDArray[np.int64]) -> NDArray[np.float64]:
    """P(Bin(trials, 1/2) >= least); 0 trials give 0."""
    import numpy as np
    from scipy import stats

    tail = stats.binom.sf(least - 1, np.maximum(trials, 0), 0.5)
    return np.where((trials < 0) | (least > trials), 0.0, tail)
