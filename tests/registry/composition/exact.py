"""Divergences by brute force, in rational numbers: oracles that share nothing with the code they judge."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any

Pair = tuple[Mapping[Any, Fraction], Mapping[Any, Fraction]]


def hockey_stick(pair: Pair, ratio: Fraction) -> Fraction:
    """The sum over all outputs of max(0, P - ratio Q)."""
    one, other = pair
    return sum((max(Fraction(), mass - ratio * other.get(key, Fraction())) for key, mass in one.items()), Fraction())


def three_points(ratio: Fraction, variation: Fraction) -> Pair:
    """The dominating pair of a mechanism with this ratio and total variation."""
    low = variation / (ratio - 1)
    rest = 1 - low - low * ratio
    return {1: low * ratio, -1: low, 0: rest}, {1: low, -1: low * ratio, 0: rest}


def repeated(pair: Pair, count: int) -> Pair:
    """``count`` independent runs; only the sum of the outputs (integers) is told, which is enough for three points."""
    total: Pair = ({0: Fraction(1)}, {0: Fraction(1)})
    for _ in range(count):
        total = (_added(total[0], pair[0]), _added(total[1], pair[1]))
    return total


def side_by_side(one: Pair, other: Pair) -> Pair:
    """Both outputs told."""
    return (_product(one[0], other[0]), _product(one[1], other[1]))


def shuffled(rows: Iterable[Mapping[int, Fraction]]) -> dict[tuple[tuple[int, int], ...], Fraction]:
    """The distribution of the multiset of outputs of devices with these distributions."""
    found: dict[tuple[tuple[int, int], ...], Fraction] = {}
    for outputs in product(*(row.items() for row in rows)):
        multiset = tuple(sorted(Counter(output for output, _ in outputs).items()))
        mass = math.prod((mass for _, mass in outputs), start=Fraction(1))
        found[multiset] = found.get(multiset, Fraction()) + mass
    return found


def _added(one: Mapping[int, Fraction], other: Mapping[int, Fraction]) -> dict[int, Fraction]:
    found: dict[int, Fraction] = {}
    for (a, p), (b, q) in product(one.items(), other.items()):
        found[a + b] = found.get(a + b, Fraction()) + p * q
    return found


def _product(one: Mapping[Any, Fraction], other: Mapping[Any, Fraction]) -> dict[Any, Fraction]:
    return {(a, b): p * q for (a, p), (b, q) in product(one.items(), other.items())}
