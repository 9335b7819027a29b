"""How far one sensor can move a curated statistic in one period, as integers.

A sensor contributes at most k readings a period. Each adds 1 to a count, 1 to one bucket of a histogram, or an integer
clamped to [low, high] to a sum. Two data sets are neighbours

- ``"add-remove"``: when one has all readings of one sensor in the period, and the other has none of them;
- ``"replace"``: when they differ in the readings of one sensor in the period, whatever and however many they are.

Silence is protected by both: a sensor that reported and one that did not are neighbours.
"""

from __future__ import annotations

STATISTICS = ("count", "sum", "histogram")
ADJACENCIES = ("add-remove", "replace")


def l1_sensitivity(statistic: str, adjacency: str, contributions: int, low: int = 0, high: int = 0) -> int:
    """The largest sum of absolute changes over the cells of the statistic. Bounds are read for a sum only."""
    if statistic == "sum":
        return contributions * _reach(adjacency, low, high)
    # A replaced sensor takes its readings out of one bucket and puts them into another.
    moved = 2 if statistic == "histogram" and adjacency == "replace" else 1
    return moved * contributions


def l2_sensitivity_squared(statistic: str, adjacency: str, contributions: int, low: int = 0, high: int = 0) -> int:
    """The largest sum of squared changes over the cells: an integer, where its root need not be one."""
    if statistic == "histogram" and adjacency == "replace":
        return 2 * contributions**2
    return l1_sensitivity(statistic, adjacency, contributions, low, high) ** 2


def _reach(adjacency: str, low: int, high: int) -> int:
    """How far apart what one reading adds can be: from nothing at all, or from another reading or nothing."""
    if adjacency == "add-remove":
        return max(abs(low), abs(high))
    return max(high, 0) - min(low, 0)
