"""How far fakes move the share of a range of numbers, and with it quantiles: hierarchical histograms.

A report of a level ``adds`` something to each node of it (``tree_theory``), and a range's share is a sum over nodes
with known weights. So what one record does to a range is known, and so is the record that does most: on each level one
point. Whoever draws levels as honest devices do is bound to the sum of these (``even``); whoever does not sends the
level on which a record does most (``one level``), and the decoder weighs a level more the more reports it has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, Floats, pack
from hubbub_simulations.tree_theory import TreeLevel, node_shares, tree_levels, tree_weights

RANGE_ATTACKS = ("even", "one level")


class RangeAttack(NamedTuple):
    """Which share of the fakes is of each level, and the point that these send; both of shape (levels,)."""

    of_level: Floats
    points: NDArray[np.int64]


def strongest(metric: Metric, asked: Floats, attack: str) -> RangeAttack:
    """The attack that raises the share of the buckets ``asked`` (buckets,), 0 or 1 each, most.

    ``one level`` is the best there is while fakes are few; past that it does more than this, and so is no bound.
    """
    levels = tree_levels(metric)
    adds = _of_range(levels, np.ones(len(levels)), asked)
    points = np.array([each.argmax() for each in adds])
    if attack == "even":
        return RangeAttack(np.full(len(levels), 1 / len(levels)), points)
    gain = [each.max() for each in adds]
    return RangeAttack(np.eye(len(levels))[int(np.argmax(gain))], points)


def leverage(metric: Metric, asked: Floats, attack: RangeAttack) -> float:
    """How many devices in the range a fake counts as, where fakes are few: 1 for one that only lies about its value.

    The share s of the range becomes s + b (leverage - s) with a share b of fakes.
    """
    levels = tree_levels(metric)
    adds = _of_range(levels, np.ones(len(levels)), asked)
    best = np.array([each[point] for each, point in zip(adds, attack.points, strict=True)])
    return float(asked.mean() + len(levels) * attack.of_level @ best)


def expected_share(
    metric: Metric, frequencies: Floats, asked: Floats, honest: Floats, fakes: Floats, attack: RangeAttack
) -> float:
    """The expected estimate of the share of the range; ``honest`` and ``fakes`` (levels,) are each level's reports.

    Exact for any number of fakes: the weights are those of the reports that there are.
    """
    levels, reports = tree_levels(metric), honest + fakes
    share = float(asked.mean())
    for number, (level, weight) in enumerate(zip(levels, tree_weights(levels, reports), strict=True)):
        of_range = asked @ weight
        truth = of_range @ node_shares(frequencies, len(level.chance))
        made_up = level.adds[attack.points[number]] @ of_range
        share += (honest[number] * truth + fakes[number] * made_up) / reports[number]
    return share


def range_records(metric: Metric, attack: RangeAttack, count: int, rng: np.random.Generator) -> Bytes:
    """``count`` records of the attack."""
    level = rng.choice(len(attack.points), count, p=attack.of_level)
    return pack(metric.device.fields, [level.astype(np.uint64), attack.points[level].astype(np.uint64)])


def _of_range(levels: list[TreeLevel], reports: Floats, asked: Floats) -> list[Floats]:
    """What a report of each point adds to the share of the range, were all reports like it; (points,) each."""
    return [
        np.asarray(level.adds @ (asked @ weight))
        for level, weight in zip(levels, tree_weights(levels, reports), strict=True)
    ]
