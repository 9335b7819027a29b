"""Earlier analyses of shuffling, for comparison: hiding among the clones.

Source: Feldman, McMillan, Talwar, "Hiding among the clones", FOCS 2021 (arXiv 2012.12803), theorem 3.1 and its
authors' published evaluation.
"""

from __future__ import annotations

import math
from fractions import Fraction

from hubbub_registry.composition.shuffle import Randomizer


def clones(ratio: float) -> Randomizer:
    """The mechanism as their numerical analysis sees it: another report is a clone with probability 1/E."""
    return Randomizer(ratio, (ratio - 1) / (ratio + 1), 2 * ratio**2 / (ratio + 1))


def closed_form(epsilon: float, devices: int, delta: Fraction) -> float:
    """Their bound in closed form, where it holds: for epsilon <= ln(n / (16 ln(4 / delta))); else epsilon itself."""
    small = float(delta)
    if epsilon > math.log(devices / (16 * math.log(4 / small))):
        return epsilon
    strength = 8 * math.sqrt(math.exp(epsilon) * math.log(4 / small) / devices) + 8 * math.exp(epsilon) / devices
    first = math.log1p(strength)
    share = -math.expm1(-epsilon) / (1 + math.exp(-epsilon - first))
    return min(epsilon, math.log1p(share * strength))
