"""The worst ratio between distributions: whole ones, and vectors of independent bits. Exact, in rational numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Output = TypeVar("Output", bound=Hashable)
# Stands for the logarithm of 0; far below that of any probability of 2**-64 or more, and finite, so that it subtracts.
_LOG_OF_ZERO = -1e6


@dataclass(frozen=True)
class Worst:
    """The worst that was found: ``ratio`` = P(output | likelier) / P(output | rarer); None where it is infinite."""

    ratio: Fraction | None
    likelier: bytes
    rarer: bytes
    output: bytes

    def exceeds(self, bound: Fraction) -> bool:
        """Whether the ratio is above ``bound``."""
        return self.ratio is None or self.ratio > bound


def worse(one: Worst, other: Worst) -> Worst:
    """The worse of two; the first where they are equal."""
    if one.ratio is None or (other.ratio is not None and one.ratio >= other.ratio):
        return one
    return other


def worst_of_distributions(distributions: Mapping[bytes, Mapping[bytes, Fraction]]) -> Worst:
    """The worst over all pairs of values and all outputs, from {value: {output: probability}}.

    No pair needs to be tried: for each output the values that make it likeliest and rarest are the worst pair.
    """
    highest: dict[bytes, tuple[Fraction, bytes]] = {}
    lowest: dict[bytes, tuple[Fraction, bytes]] = {}
    counts: dict[bytes, int] = {}
    for value, distribution in distributions.items():
        for output, probability in distribution.items():
            counts[output] = counts.get(output, 0) + 1
            if output not in highest or probability > highest[output][0]:
                highest[output] = probability, value
            if output not in lowest or probability < lowest[output][0]:
                lowest[output] = probability, value
    first = next(iter(distributions))
    worst = Worst(Fraction(1), first, first, next(iter(highest)))
    for output, (high, likelier) in highest.items():
        if counts[output] < len(distributions):
            rarer = next(value for value, d in distributions.items() if output not in d)
            return Worst(None, likelier, rarer, output)
        low, rarer = lowest[output]
        worst = worse(worst, Worst(high / low, likelier, rarer, output))
    return worst


def ratio_of_bits(likelier: Sequence[Fraction], rarer: Sequence[Fraction]) -> tuple[Fraction | None, int]:
    """The largest P(bits | likelier) / P(bits | rarer), and those bits, from each bit's independent P(1).

    Every bit takes the value that speaks most for the likelier one; None where the rarer one cannot give it.
    """
    ratio: Fraction | None = Fraction(1)
    bits = 0
    for lane, (p, q) in enumerate(zip(likelier, rarer, strict=True)):
        if p > q:
            bits |= 1 << lane
        high, low = (p, q) if p > q else (1 - p, 1 - q)
        if p != q:
            ratio = None if ratio is None or low == 0 else ratio * (high / low)
    return ratio, bits


def worst_pair_of_bits(marginals: NDArray[np.float64]) -> tuple[int, int]:
    """The rows (likelier, rarer) whose worst ratio is largest, from P(bit = 1) as floats (values, lanes).

    Only to find the pair: its ratio is then computed exactly.
    """
    with np.errstate(divide="ignore"):
        ones = np.maximum(np.log(marginals), _LOG_OF_ZERO)
        zeros = np.maximum(np.log1p(-marginals), _LOG_OF_ZERO)
    best, pair = -1.0, (0, 0)
    for row in range(len(marginals)):
        gains = np.maximum(ones[row] - ones, zeros[row] - zeros).sum(axis=1)
        other = int(gains.argmax())
        if gains[other] > best:
            best, pair = float(gains[other]), (row, other)
    return pair
