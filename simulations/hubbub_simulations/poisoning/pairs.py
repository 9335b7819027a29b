"""How far fakes move the share of a pair, and whether two independent sides look dependent: joint metrics.

A record that supports both values counts as the product of what either part counts as. For a part that counts support
with probability p for holders and q for others, that is (1 - q) / (p - q) (``frequencies``). The decoder's estimate is
this very one, and the formula exact, where both parts have as many records as values: where there is one table only
whose expected reports are those that were seen. Where there are more records, the likeliest table weighs them, and
what a picked one does depends on all others.
"""

from __future__ import annotations

import numpy as np

from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes
from hubbub_simulations.poisoning.frequencies import fake_records


def pair_records(
    metric: Metric, first: list[str], second: list[str], attack: str, count: int, rng: np.random.Generator
) -> Bytes:
    """``count`` records for the pair of the last of ``first`` and the last of ``second``."""
    sides = zip(metric.parts, (first, second), strict=True)
    return np.concatenate([fake_records(part, values, attack, count, rng) for part, values in sides], axis=1)


def pair_leverage(metric: Metric) -> float:
    """How many holders of the pair a picked fake counts as, where both parts are k-ary randomized response.

    A value is kept with probability a, else drawn from all d, so p - q = a and q = (1 - a) / d. The share s of the pair
    becomes s + b (leverage - s) with a share b of fakes, for any b.
    """
    product = 1.0
    for part in metric.parts:
        p = part.device.parameters
        keep = p["threshold"] / (1 << p["precision"])
        product *= (1 - (1 - keep) / p["domain"]) / keep
    return product
