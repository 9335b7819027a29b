"""How exact a hierarchical histogram is, where values are spread evenly; the estimator is in docs/numbers.md.

A level of m nodes estimates each node's share with a variance v, and c children of one node know their sum better from
the levels above. Constrained inference gives a node, from its own level and those below it, the variance s with
1 / s = 1 / v + 1 / (c s_below), and spreads over c siblings what they lack of their parent. So an answer that takes the
share a_i of sibling i has, from their level, the variance s (sum of a_i**2 - (sum of a_i)**2 / c); levels add up. What
covariance all nodes of a level share drops out, since such weights add up to 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise

from hubbub_client.mechanisms.hierarchical_histogram import at_level, nodes_bits
from hubbub_client.mechanisms.projective_geometry_response import points_in
from hubbub_registry.mechanisms.projective_geometry_response import support_rates

Parameters = Mapping[str, int]


def bucket_variance(parameters: Parameters) -> float:
    """n times the variance of the share of one bucket."""
    p = dict(parameters)
    total = -_spread(1 << p["buckets_bits"])
    for siblings, variance, under in _levels(p):
        asked = Fraction(1, under)  # of the node on the way to the bucket, and of no other
        total += variance * float(asked**2 * (1 - Fraction(1, siblings)))
    return total


def below_variance(parameters: Parameters) -> float:
    """n times the variance of the share below a bucket, on average over all buckets."""
    p = dict(parameters)
    buckets = 1 << p["buckets_bits"]
    total = -float(Fraction(buckets**2 - 1, 6 * buckets**2))  # the mean of T (1 - T), over T = 0, 1/buckets, ...
    for siblings, variance, under in _levels(p):
        # Left of the way lie j siblings, j uniform; of the node on it the share a = 0, 1/under, ... is asked.
        c, a, aa = siblings, Fraction(under - 1, 2 * under), Fraction((under - 1) * (2 * under - 1), 6 * under**2)
        j, jj = Fraction(c - 1, 2), Fraction((c - 1) * (2 * c - 1), 6)
        total += variance * float(j + aa - (jj + 2 * j * a + aa) / c)
    return total


def _levels(p: dict[str, int]) -> list[tuple[int, float, int]]:
    """Of each level: how many siblings a node has with itself, its variance s, and how many buckets it has."""
    levels, buckets_bits = 1 << p["levels_bits"], p["buckets_bits"]
    bits = [0, *(nodes_bits(p, level) for level in range(levels))]
    children = [1 << (below - above) for above, below in pairwise(bits)]
    found: list[tuple[int, float, int]] = []
    below = 0.0
    for level in reversed(range(levels)):
        precision = 1 / (levels * _noise(at_level(p, level), 1 << bits[level + 1]))
        if level + 1 < levels:
            precision += 1 / (children[level + 1] * below)
        below = 1 / precision
        found.append((children[level], below, 1 << (buckets_bits - bits[level + 1])))
    return found


def _noise(own: Mapping[str, int], nodes: int) -> float:
    """The variance of one report's share of a node, less its covariance with another, on average over all nodes.

    A report supports its own node with probability p and another with q; (support - q) / (p - q) is 1 on average for
    its own and 0 for others. One node of m is its own, and so is one in two of m pairs of nodes.
    """
    order, dimension = own["order"], own["dimension"]
    share = Fraction(own["threshold"], 1 << own["precision"])
    p, q = support_rates(share, order, dimension)
    points, owned, common = (points_in(order, dimension - less) for less in range(3))
    # That a report supports the value's node and another, and two others, which is so on one line in so many.
    anywhere = (1 - share) * Fraction(common, points)
    own_other = anywhere + share * Fraction(common, owned) - p * q
    three = Fraction(common * max(owned - 2, 0), points - 2)
    other_other = anywhere + share * three / owned - q * q
    other = q * (1 - q) - other_other
    of_own = p * (1 - p) - q * (1 - q) - 2 * (own_other - other_other)
    return float((other + of_own / nodes) / (p - q) ** 2) + 1 / nodes


def _spread(buckets: int) -> float:
    """f (1 - f) of one bucket: the devices are given, and only which level each reports is drawn."""
    return float(Fraction(buckets - 1, buckets**2))
