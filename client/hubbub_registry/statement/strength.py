"""How strong the guarantee is: epsilon, over a report, a period, a year and a life; and what that means."""

from __future__ import annotations

from fractions import Fraction

from hubbub_registry.accounting import reports, spending
from hubbub_registry.exact import ln_upper
from hubbub_registry.longitudinal import one_value_epsilon
from hubbub_registry.metric import Metric
from hubbub_registry.statement.document import Block, Bullets, Code, Paragraph, Section, Strong, Table, Text
from hubbub_registry.statement.facts import Facts
from hubbub_registry.statement.wording import figure, figures, named, percent_up
from hubbub_registry.summary.for_people import decimal_up

_PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))


def strength(facts: Facts) -> Section:
    """Epsilon of each metric and of the whole device."""
    rows: list[tuple[Text, ...]] = [(Code(metric.name), *figures(spending(metric))) for metric in facts.metrics]
    rows.append((Strong("One device, all metrics"), *figures(facts.whole)))
    blocks: list[Block] = [
        Paragraph(
            "The guarantee is pure local differential privacy. Its measure is epsilon: the smaller, the stronger, "
            "and 0 would reveal nothing. There is no delta, no chance left over with which it fails."
        ),
        Table(
            "Epsilon, at most, of what one device reports",
            ("Metric", "One report", "One period", "One year", "Its whole life"),
            tuple(rows),
            numbers=True,
        ),
        Bullets(
            (
                "The figures of several reports are the sum of what each costs. That holds whatever the reports "
                "are, and however they depend on each other.",
                "A year is as many whole periods as 365 days begin. A whole life has no calendar: nothing that was "
                "spent is ever given back.",
                "The last row is what the owner of a device is exposed to. It adds one report, one period, one year "
                "and one life of every metric; the periods of two metrics may differ in length.",
            )
        ),
        Table(
            "What one report can teach, at most",
            ("Metric", "Factor", *(f"Suspicion of {float(prior * 100):g} %" for prior in _PRIORS)),
            tuple(
                (
                    Code(metric.name),
                    decimal_up(metric.ratio, 2),
                    *(f"to {percent_up(posterior(prior, metric.ratio))}" for prior in _PRIORS),
                )
                for metric in facts.metrics
            ),
            numbers=True,
        ),
        Paragraph(
            "Read the table so: somebody suspects that a device holds a certain value, and then sees one report of "
            "it. However the report turns out, and whatever else is known, the suspicion cannot rise above the "
            "figure given."
        ),
    ]
    if facts.permanent:
        blocks += _permanent(facts.permanent)
    return Section("How strong the guarantee is", "strength", tuple(blocks))


def _permanent(metrics: list[Metric]) -> list[Block]:
    return [
        Table(
            "Metrics with permanent noise: epsilon, at most, of reports of one value that does not change",
            ("Metric", "One report", "One period", "One year", "Any number of reports"),
            tuple(
                (Code(metric.name), *_one_value(metric, metric.permanent_ratio))
                for metric in metrics
                if metric.permanent_ratio is not None
            ),
            numbers=True,
        ),
        Paragraph(
            (
                "For ",
                *named(metrics),
                ", part of the noise is drawn once for each value and repeated, so many reports of one value reveal "
                "little more than a few. The table above counts every report in full, as if each showed another value; "
                "this one holds while the value stays. When it changes, the figures of the two values add up, and that "
                "it changed is not protected.",
            )
        ),
    ]


def _one_value(metric: Metric, without_end: Fraction) -> tuple[str, str, str, str]:
    counted = reports(metric)
    return (
        figure(one_value_epsilon(metric, 1)),
        figure(one_value_epsilon(metric, counted.per_period)),
        figure(one_value_epsilon(metric, counted.per_year)),
        figure(ln_upper(without_end)),
    )


def posterior(prior: Fraction, ratio: Fraction) -> Fraction:
    """The most that one report can make of a suspicion held with probability ``prior``, ``ratio`` being e^epsilon."""
    return prior * ratio / (1 - prior + prior * ratio)
