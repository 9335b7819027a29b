"""What a reviewer would stop at, and why it was decided so."""

from __future__ import annotations

from hubbub_registry.statement.document import Block, Paragraph, Section, Table, Text
from hubbub_registry.statement.document import Code as Name
from hubbub_registry.statement.facts import Facts


def reasons(facts: Facts) -> Section:
    """Unbounded lifetimes with their justification, points set aside with their reasons, and points left open."""
    tables = blocks(facts)
    nothing = Paragraph("The checks that hubbub makes found nothing that needs a decision.")
    return Section("Decisions, and their reasons", "reasons", tables or (nothing,))


def blocks(facts: Facts) -> tuple[Block, ...]:
    """The tables that have rows."""
    unbounded: list[tuple[Text, ...]] = [
        (Name(metric.name), metric.unbounded_justification)
        for metric in facts.metrics
        if metric.lifetime_epsilon is None
    ]
    silenced: list[tuple[Text, ...]] = []
    still_open: list[tuple[Text, ...]] = []
    for finding in facts.findings:
        if finding.silenced is not None:
            silenced.append((Name(finding.where), _sentence(finding.what), finding.silenced))
        else:
            still_open.append((Name(finding.where), _sentence(finding.what), _sentence(finding.remedy)))
    tables = (
        Table(
            "No bound on what a device spends in its life",
            ("Metric", "Why, as the registry states it"),
            tuple(unbounded),
        ),
        Table(
            "Accepted, with a reason",
            ("Where in the registry", "What the check found", "Why it is accepted, as the registry states it"),
            tuple(silenced),
        ),
        Table(
            "Open: no reason is written",
            ("Where in the registry", "What the check found", "What it advises"),
            tuple(still_open),
        ),
    )
    return tuple(table for table in tables if table.rows)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."
