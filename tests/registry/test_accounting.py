"""What a device spends in a period, a year and a life, and over all metrics."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hubbub_registry.accounting import Reports, Spending, reports, reports_within, spending, total

from tests.registries import MECHANISMS, metric_of

# Those whose reports of one value share their noise, and the others.
PERMANENT = ["d-bit-flip", "one-bit-mean", "rappor"]
FRESH = [name for name in MECHANISMS if name not in PERMANENT]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"period": "1d", "lifetime_epsilon": 10000}, (1, 365, 10005)),
        ({"period": "7d", "lifetime_epsilon": 10000}, (1, 53, 10005)),
        ({"period": "365d", "reports_per_period": 3, "lifetime_epsilon": 10000}, (3, 3, 10005)),
        ({"period": "366d", "lifetime_epsilon": 10000}, (1, 1, 10005)),
        ({"period": "1h", "reports_per_period": 2, "lifetime_epsilon": 10000}, (2, 10005, 10005)),
        ({"period": "1d", "reports_per_period": 9, "lifetime_epsilon": 3}, (3, 3, 3)),
        ({"period": "1d", "lifetime_epsilon": 1}, (1, 1, 1)),
    ],
)
def test_reports(tmp_path: Path, keys: dict[str, Any], expected: tuple[int, int, int]) -> None:
    """A year has the periods that 365 days begin, and no figure is over what the lifetime pays for."""
    # Epsilon realised is 0.999483..., so a lifetime of 10,000 pays for 10,005 reports and not for one more.
    metric = metric_of(tmp_path, "unary-encoding", epsilon=1, **keys)
    assert reports(metric) == Reports(*expected)


@pytest.mark.parametrize("name", FRESH)
def test_spending(tmp_path: Path, name: str) -> None:
    """Every figure is its reports times the exact epsilon of one, and a life never exceeds the declared one."""
    metric = metric_of(tmp_path, name, period="7d", reports_per_period=2, lifetime_epsilon=100)
    spent, count = spending(metric), reports(metric)
    assert count.lifetime is not None
    assert spent == Spending(*(n * metric.exact_epsilon for n in (1, count.per_period, count.per_year, count.lifetime)))
    assert spent.lifetime is not None
    assert metric.lifetime_epsilon is not None
    assert spent.lifetime <= metric.lifetime_epsilon < spent.lifetime + metric.exact_epsilon * Fraction(1001, 1000)


@pytest.mark.parametrize("name", PERMANENT)
def test_permanent_noise(tmp_path: Path, name: str) -> None:
    """A life that pays for the bound of one value has no last report of it, and costs no more than is declared."""
    metric = metric_of(tmp_path, name, period="7d", reports_per_period=2, lifetime_epsilon=100)
    one = metric.exact_epsilon
    assert reports(metric) == Reports(2, 106, None)
    assert spending(metric) == Spending(one, 2 * one, min(106 * one, Fraction(100)), Fraction(100))
    assert reports_within(metric, 10**9) == 2 * -(-(10**9) // metric.period)


@pytest.mark.parametrize("name", PERMANENT)
def test_permanent_noise_past_its_budget(tmp_path: Path, name: str) -> None:
    """A life below the bound of one value ends with the last report whose cumulative charge it pays."""
    charges = metric_of(tmp_path, name).entry["charges"]
    assert len(charges) > 2
    budget = Fraction(charges[1] + charges[2], 2 * 10**9)
    metric = metric_of(tmp_path, name, lifetime_epsilon=float(budget))
    assert reports(metric).lifetime == 2
    lifetime = spending(metric).lifetime
    assert lifetime is not None
    assert Fraction(charges[1], 10**9) <= lifetime <= budget


def test_unbounded(tmp_path: Path) -> None:
    """A lifetime declared unbounded has no figure, and the year is not capped."""
    metric = metric_of(
        tmp_path, "unary-encoding", lifetime_epsilon="unbounded", unbounded_justification="because a test needs it"
    )
    assert reports(metric) == Reports(1, 365, None)
    assert spending(metric).lifetime is None


def test_total() -> None:
    """Over a namespace each column is the sum, and one unbounded lifetime makes the sum unbounded."""
    small, large = Spending(*map(Fraction, (1, 2, 3, 4))), Spending(*map(Fraction, (10, 20, 30, 40)))
    assert total([small, large]) == Spending(*map(Fraction, (11, 22, 33, 44)))
    endless = Spending(Fraction(1), Fraction(2), Fraction(3), None)
    assert total([endless, large]) == Spending(Fraction(11), Fraction(22), Fraction(33), None)
    assert total([]) == Spending(*[Fraction(0)] * 4)


def test_charge_and_budget_are_rounded_towards_privacy(tmp_path: Path) -> None:
    """In the plan's units of 1e-9 a report's charge is rounded up and a lifetime down."""
    metric = metric_of(tmp_path, "unary-encoding", epsilon=1, lifetime_epsilon=3.0000000019)
    assert metric.entry["lifetime_nano"] == 3_000_000_001
    assert metric.entry["epsilon_nano"] - 1 < metric.exact_epsilon * 10**9 <= metric.entry["epsilon_nano"]
