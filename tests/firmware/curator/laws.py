"""The laws that noise is drawn by, and tests of samples against them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction


def law(noise: str, scale: Fraction) -> dict[int, float]:
    """P(x) for every x that is not as good as impossible (below 1e-18 in all)."""
    s = float(scale)
    reach = int((44 if noise == "discrete-laplace" else 10) * s) + 10
    weights = {
        x: math.exp(-abs(x) / s) if noise == "discrete-laplace" else math.exp(-(x * x) / (2 * s * s))
        for x in range(-reach, reach + 1)
    }
    whole = math.fsum(weights.values())
    return {x: weight / whole for x, weight in weights.items()}


def g_statistic(samples: Sequence[int], expected: Mapping[int, float]) -> tuple[float, int]:
    """The G statistic of samples against a law, and its degrees of freedom. Rare outcomes are taken together."""
    counts = Counter(samples)
    total = len(samples)
    cells: list[tuple[int, float]] = []
    observed, wanted = 0, 0.0
    for x in sorted(expected, key=lambda each: (abs(each), each)):
        observed, wanted = observed + counts[x], wanted + expected[x]
        if wanted * total >= 50:
            cells.append((observed, wanted))
            observed, wanted = 0, 0.0
    rest_observed = total - sum(seen for seen, _ in cells)
    cells[-1] = (cells[-1][0] + rest_observed, 1 - math.fsum(share for _, share in cells[:-1]))
    statistic = 2 * math.fsum(seen * math.log(seen / (share * total)) for seen, share in cells if seen)
    return statistic, len(cells) - 1
