"""How often the intervals cover, computed exactly: the number of supporting reports is a sum of two binomials."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from hubbub_decoder import ConfidenceInterval, Estimates, State, estimate
from hubbub_registry import Metric

from tests.decoder.reports import probability
from tests.registries import metric_of

N = 4000


def rates(metric: Metric) -> tuple[Fraction, Fraction]:
    chance = probability(metric)
    if metric.mechanism == "unary-encoding":
        return Fraction(1, 2), chance
    other = (1 - chance) / metric.device.parameters["domain"]
    return chance + other, other


def all_outcomes(metric: Metric) -> Estimates:
    """The estimates for 0, 1, .., N supporting reports, one row each."""
    arrays: dict[str, dict[str, Any]] = {
        "randomized-response": {"counts": np.full(5, N // 5)},
        "unary-encoding": {"sums": np.full((1, 5), N // 5)},
    }
    stated = estimate(metric, State.of(metric, N, **arrays[metric.mechanism]))
    p, q = rates(metric)
    count = np.asarray((np.arange(N + 1) - float(N * q)) / float(p - q), np.float64)
    rows = len(count)
    return replace(
        stated,
        value=tuple(map(str, range(rows))),
        count=count,
        null_variance=np.repeat(stated.null_variance[:1], rows),
        slope=np.repeat(stated.slope[:1], rows),
    )


def coverage(metric: Metric, interval: ConfidenceInterval, holders: int) -> float:
    """The exact chance that ``interval`` (a row for each number of supporting reports) holds ``holders``."""
    p, q = (float(rate) for rate in rates(metric))
    chance = np.convolve(
        stats.binom.pmf(np.arange(holders + 1), holders, p), stats.binom.pmf(np.arange(N - holders + 1), N - holders, q)
    )
    return float(chance[(interval.low <= holders) & (holders <= interval.high)].sum())


@pytest.mark.parametrize("mechanism", ["randomized-response", "unary-encoding"])
@pytest.mark.parametrize("epsilon", [0.5, 1, 4])
def test_intervals_cover(tmp_path: Path, mechanism: str, epsilon: float) -> None:
    """Nominal 95 % intervals cover 93 to 97 % exactly, from values that nobody holds to one that everybody holds."""
    metric = metric_of(tmp_path, mechanism, epsilon=epsilon)
    interval = all_outcomes(metric).confidence_interval(0.95)
    for holders in (0, 1, 5, 40, 400, 2000, 3900, N):
        assert 0.93 <= coverage(metric, interval, holders) <= 0.97


def test_intervals_from_the_variance_at_the_estimate_cover_too_little(tmp_path: Path) -> None:
    """For rare values at a high epsilon count +- z std_error covers less than 93 %; the intervals given do not."""
    outcomes = all_outcomes(metric := metric_of(tmp_path, "unary-encoding", epsilon=8))
    z = stats.norm.isf(0.025)
    plain = ConfidenceInterval(outcomes.count - z * outcomes.std_error, outcomes.count + z * outcomes.std_error)
    given = outcomes.confidence_interval(0.95)
    rare = range(5, 40)
    assert min(coverage(metric, plain, holders) for holders in rare) < 0.92
    assert min(coverage(metric, given, holders) for holders in rare) >= 0.93
