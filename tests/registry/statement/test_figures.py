"""Every figure of a statement is accounting's, rounded up."""

import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_registry.accounting import Spending, reports, spending, total
from hubbub_registry.exact import ln_upper
from hubbub_registry.longitudinal import one_value_epsilon
from hubbub_registry.statement.build import statement
from hubbub_registry.statement.document import Document, Table
from hubbub_registry.statement.facts import Facts
from hubbub_registry.statement.strength import posterior
from hubbub_registry.statement.wording import every, figure, percent_up

from tests.registry.statement.registries import facts_of

LAST_PLACE = Fraction(1, 10_000)


def table_of(document: Document, caption: str) -> Table:
    """The table whose caption begins so."""
    (found,) = [
        block
        for section in document.sections
        for block in section.blocks
        if isinstance(block, Table) and "".join(block.caption).startswith(caption)
    ]
    return found


def rows_of(facts: Facts, caption: str) -> dict[str, tuple[str, ...]]:
    """Name of the row -> its other cells, as text."""
    rows = table_of(statement(facts), caption).rows
    return {"".join(row[0]): tuple("".join(cell) for cell in row[1:]) for row in rows}


def bounds(printed: str, exact: Fraction | None) -> bool:
    """Whether a printed figure is the exact one, rounded up in its last place."""
    if exact is None:
        return printed == "no bound"
    return exact <= Fraction(printed) < exact + LAST_PLACE


def figures_bound(printed: tuple[str, ...], exact: Spending) -> bool:
    """Whether four printed figures are those of ``exact``."""
    columns = (exact.per_report, exact.per_period, exact.per_year, exact.lifetime)
    return all(bounds(*pair) for pair in zip(printed, columns, strict=True))


def test_every_metric(tmp_path: Path) -> None:
    """Each metric has accounting's four figures, never below them, and so has the whole device."""
    facts = facts_of(tmp_path)
    rows = rows_of(facts, "Epsilon, at most")
    for metric in facts.metrics:
        assert figures_bound(rows.pop(metric.name), spending(metric))
    assert figures_bound(rows.pop("One device, all metrics"), total(map(spending, facts.metrics)))
    assert not rows


def test_unbounded(tmp_path: Path) -> None:
    """A lifetime without a bound says so for the metric and for the device, and the other figures stay."""
    endless = {"lifetime_epsilon": "unbounded", "unbounded_justification": "It is a lamp, and lamps do not die"}
    facts = facts_of(tmp_path, {"a": {"mechanism": "rappor", **endless}, "b": {"mechanism": "count-mean-sketch"}})
    rows = rows_of(facts, "Epsilon, at most")
    assert rows["a"][3] == rows["One device, all metrics"][3] == "no bound"
    assert figures_bound(rows["b"], spending(facts.registry.metric("b")))
    assert "A device's whole life: no bound." in str(statement(facts).sections[0])
    assert rows_of(facts, "How much one device may report")["a"][2] == "no bound"


def test_one_unchanging_value(tmp_path: Path) -> None:
    """Each metric with permanent noise, and no other, has the figures of one value that stays."""
    facts = facts_of(tmp_path)
    rows = rows_of(facts, "Metrics with permanent noise")
    assert set(rows) == {metric.name for metric in facts.metrics if metric.permanent_ratio is not None}
    for name, (one, period, year, forever) in rows.items():
        metric = facts.registry.metric(name)
        counted = reports(metric)
        assert metric.permanent_ratio is not None
        assert bounds(one, metric.exact_epsilon)
        assert bounds(period, one_value_epsilon(metric, counted.per_period))
        assert bounds(year, one_value_epsilon(metric, counted.per_year))
        assert bounds(forever, ln_upper(metric.permanent_ratio))


def test_exact_ratio(tmp_path: Path) -> None:
    """The two integers whose ratio is e^epsilon are printed for each metric, with its fingerprint."""
    facts = facts_of(tmp_path)
    for metric in facts.metrics:
        rows = rows_of(facts, f"The exact figures of {metric.name}")
        assert rows["Largest ratio of probabilities"] == (f"{metric.ratio.numerator} / {metric.ratio.denominator}",)
        assert bounds(rows["Epsilon of one report, from it"][0], metric.exact_epsilon)
        assert bounds(rows["Epsilon that the registry declares, at most"][0], metric.epsilon)
        assert rows["Fingerprint of the definition"] == (metric.fingerprint.hex(),)


def test_contribution_bounds(tmp_path: Path) -> None:
    """How many reports a device may send is what accounting counts."""
    facts = facts_of(tmp_path, {"m": {"mechanism": "count-mean-sketch", "period": "7d", "reports_per_period": 3}})
    counted = reports(facts.registry.metric("m"))
    assert rows_of(facts, "How much one device may report")["m"] == (
        "3 reports each week",
        str(counted.per_year),
        f"{counted.lifetime:,} reports",
        "2099-01-01",
    )


def test_suspicion(tmp_path: Path) -> None:
    """What one report can make of a suspicion is Bayes' rule with the exact ratio, rounded up."""
    facts = facts_of(tmp_path)
    for name, (factor, *suspicions) in rows_of(facts, "What one report can teach").items():
        ratio = facts.registry.metric(name).ratio
        assert ratio <= Fraction(factor) < ratio + Fraction(1, 100)
        for prior, text in zip((Fraction(1, 100), Fraction(1, 10), Fraction(1, 2)), suspicions, strict=True):
            printed = Fraction(re.findall(r"to ([0-9.]+) %", text)[0]) / 100
            exact = posterior(prior, ratio)
            assert exact / (1 - exact) == prior / (1 - prior) * ratio
            assert exact <= printed < exact + Fraction(1, 1000)


@given(st.fractions(min_value=0, max_value=10**6))
def test_rounded_up(epsilon: Fraction) -> None:
    """No printed figure is below the exact one, and none is a whole last place above."""
    assert bounds(figure(epsilon), epsilon)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (Fraction(1), "100.0 %"),
        (Fraction(9995, 10000), "over 99.9 %"),
        (Fraction(1, 3), "33.4 %"),
        (Fraction(0), "0.0 %"),
    ],
)
def test_percent(share: Fraction, text: str) -> None:
    """A share is rounded up, but only certainty is 100 %."""
    assert percent_up(share) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(604800, "week"), (1209600, "14 days"), (86400, "day"), (90, "90 seconds"), (3600, "hour"), (5400, "90 minutes")],
)
def test_periods(seconds: int, text: str) -> None:
    """A period is put into words."""
    assert every(seconds) == text
