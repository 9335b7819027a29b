"""What is protected, from which change, and how much one device may contribute."""

from __future__ import annotations

from hubbub_registry.accounting import reports
from hubbub_registry.metric import Metric
from hubbub_registry.statement.document import Bullets, Code, Paragraph, Section, Strong, Table, Text
from hubbub_registry.statement.facts import Facts
from hubbub_registry.statement.wording import UNBOUNDED, count, every, figure, integer

_HOUSEHOLD = 4


def unit(facts: Facts) -> Section:
    """Unit of privacy, adjacency, contribution bounds and who keeps them."""
    year = facts.whole.per_year
    return Section(
        "What is protected: the unit of privacy",
        "unit",
        (
            Paragraph(
                (
                    "The unit is ",
                    Strong("one device"),
                    ". Two situations are neighbours when they differ in what one device would report. Between two "
                    "neighbours, the probability of no outcome differs by more than a factor of e to the power of "
                    "epsilon. They differ:",
                )
            ),
            Bullets(
                (
                    "for one report: one value in place of any other value of that metric;",
                    "for a period, a year or a life: all values of the reports sent in it in place of any others, "
                    "sent at the same times.",
                )
            ),
            Paragraph(
                "A value is always replaced, never removed: whether and when a device reports at all is not hidden. A "
                "person with several devices is as exposed as all of them together."
            ),
            Paragraph(
                f"Several devices that share what they report, such as those of a household, share their exposure too: "
                f"for {_HOUSEHOLD} devices every figure is {_HOUSEHOLD} times as high, up to "
                f"{figure(_HOUSEHOLD * year)} in a year over all metrics."
            ),
            Table(
                "How much one device may report, at most",
                ("Metric", "In one period", "In one year", "In its whole life", "Ends on"),
                tuple((Code(metric.name), *_bounds(metric)) for metric in facts.metrics),
            ),
            Bullets(
                (
                    (
                        Strong("The device keeps these bounds."),
                        " It writes what a report costs to its storage before it encodes the value, and makes no "
                        "report once a bound is reached. Where that record is damaged or lost it stops, and does "
                        "not begin afresh.",
                    ),
                    "A new version of the registry refills nothing, and neither does a new year.",
                    "The collector cannot keep them: reports carry no identity, so it cannot tell which come from "
                    "one device. Erasing all of an app's data on a device, or installing it anew, makes a new "
                    "device with a new budget.",
                )
            ),
        ),
    )


def _bounds(metric: Metric) -> tuple[Text, ...]:
    counted = reports(metric)
    if metric.lifetime_epsilon is None:
        life = UNBOUNDED
    elif counted.lifetime is None:
        # Reports of one unchanging value cost less and less, so epsilon is what ends them, and not their number.
        life = f"as epsilon {figure(metric.lifetime_epsilon)} allows"
    else:
        life = count(counted.lifetime, "report")
    return (
        f"{count(counted.per_period, 'report')} each {every(metric.period)}",
        integer(counted.per_year),
        life,
        str(metric.expires),
    )
