"""What the noise leaves of the data: how exact results are, and for whom they are not."""

from __future__ import annotations

from hubbub_registry.statement.document import Block, Bullets, Code, Section, Strong
from hubbub_registry.statement.facts import Facts
from hubbub_registry.statement.mechanisms import words_of


def usefulness(facts: Facts) -> Section:
    """Utility and bias."""
    return Section("How exact the results are, and for whom not", "utility", blocks(facts))


def blocks(facts: Facts) -> tuple[Block, ...]:
    """What the section holds."""
    return (
        Bullets(
            (
                "Results are estimates. Each is unbiased and comes with a standard error and an interval; it may "
                "come out negative where few or none hold a value, and is not cut off at 0 unless a reader asks for "
                "that.",
                (
                    Strong("Small groups are not seen well."),
                    " The error depends on how many devices report, not on how many hold a value, so what is rare is "
                    "drowned first. Decisions drawn from these results should not be taken to speak for small groups.",
                ),
                "Devices that seldom report, have no network or have spent their budget are missing, and not at "
                "random.",
                "Anybody who can reach the collector can send made-up reports, each of which moves a result more "
                "than an honest one.",
                *((Code(metric.name), f": {words_of(metric).utility}") for metric in facts.metrics),
            )
        ),
    )
