"""What a release reveals is bounded as declared: the exact laws, at every output, between all small neighbours."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from hubbub_registry.curator.scale import laplace_scale

from tests.firmware.curator.gateway import curated
from tests.firmware.curator.laws import law
from tests.firmware.curator.test_sensitivity import SHAPES, cells_of, contributions

DECLARED = Fraction(7, 10)


def neighbours(metric: Any) -> list[tuple[list[int], list[int]]]:
    """All pairs of aggregates of neighbouring data sets, beside what another sensor adds."""
    reached = {sent: cells_of(metric, [("b", 3), *(("a", value) for value in sent)]) for sent in contributions(metric)}
    if metric.adjacency == "add-remove":
        return [pair for cells in reached.values() for pair in ((cells, reached[()]), (reached[()], cells))]
    return [(here, there) for here, there in product(reached.values(), repeat=2)]


def worst_exponent(metric: Any, scale: Fraction) -> Fraction:
    """ln of the largest ratio of probabilities of one output, exactly: (|x - b| - |x - a|) / scale, at x = a."""
    worst = Fraction(0)
    for here, there in neighbours(metric):
        # The ratio is largest at the aggregate itself, in each cell; look around it all the same.
        for step in (-2, 0, 2):
            exponent = sum(
                abs(cell + step - other) - abs(step) for cell, other in zip(here, there, strict=True)
            )  # fmt: skip
            worst = max(worst, Fraction(exponent) / scale)
    return worst


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize(("kind", "low", "high", "buckets"), SHAPES)
def test_laplace_ratio(kind: str, low: int, high: int, buckets: int, adjacency: str) -> None:
    """With discrete Laplace noise the largest log ratio is the exact loss, a rational not above the declared one."""
    metric = curated(
        statistic=kind, low=low, high=high, buckets=buckets, contributions=1, adjacency=adjacency, declared=DECLARED
    )
    assert worst_exponent(metric, metric.scale) == metric.loss <= DECLARED


def test_half_the_sensitivity_is_noticed() -> None:
    """Noise for half the sensitivity (the classic fault: a replaced sensor counted once) breaks the declared bound."""
    metric = curated(
        statistic="histogram", low=0, high=3, buckets=2, contributions=1, adjacency="replace", declared=DECLARED
    )
    assert worst_exponent(metric, laplace_scale(metric.l1 // 2, DECLARED)) > DECLARED


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize(("kind", "low", "high", "buckets"), SHAPES)
def test_gaussian_divergence(kind: str, low: int, high: int, buckets: int, adjacency: str) -> None:
    """With discrete Gaussian noise the Renyi divergence of order alpha is at most alpha rho, at orders 1.5 to 20."""
    metric = curated(
        noise="discrete-gaussian", statistic=kind, low=low, high=high, buckets=buckets, contributions=1,
        adjacency=adjacency, declared=DECLARED,
    )  # fmt: skip
    assert metric.loss <= DECLARED
    weights = law("discrete-gaussian", metric.scale)
    divergences = {
        (alpha, move): divergence(weights, move, alpha)
        for alpha in (1.5, 2.0, 5.0, 20.0)
        for move in range(-metric.l1, metric.l1 + 1)
    }
    for here, there in neighbours(metric):
        moves = [x - y for x, y in zip(here, there, strict=True)]
        for alpha in (1.5, 2.0, 5.0, 20.0):
            # Cells have independent noise, so their divergences add up.
            assert sum(divergences[alpha, move] for move in moves) <= alpha * float(metric.loss) * (1 + 1e-6) + 1e-12


def divergence(weights: dict[int, float], move: int, alpha: float) -> float:
    """Renyi's, of order alpha, of a law from itself moved by an integer."""
    both = [x for x in weights if x - move in weights]
    ratios = (math.exp(alpha * math.log(weights[x]) + (1 - alpha) * math.log(weights[x - move])) for x in both)
    return math.log(math.fsum(ratios)) / (alpha - 1)
