"""Who answers for the collection, and what is asked of devices."""

from __future__ import annotations

from hubbub_registry.metric import Metric
from hubbub_registry.statement.document import Block, Code, Paragraph, Section, Table, Text
from hubbub_registry.statement.facts import Facts
from hubbub_registry.statement.wording import NOT_STATED, count, integer, said

_LISTED = 12


def who(facts: Facts) -> Section:
    """Who answers for it, and what is asked."""
    stated = facts.stated
    people = Table(
        "Who answers for this collection",
        ("Question", "As the registry states it"),
        (
            ("Collected under the name", Code(facts.registry.namespace)),
            ("Controller", said(stated.controller)),
            ("Contact", said(stated.contact)),
            ("Purpose", said(stated.purpose)),
            ("Region", said(stated.region)),
        ),
    )
    asked = Table(
        "What is asked",
        ("Metric", "What devices report", "Possible values", "Owner"),
        tuple((Code(metric.name), metric.description, _values(metric), metric.owner) for metric in facts.metrics),
    )
    blocks: list[Block] = [people, asked] if facts.metrics else [people]
    if any(text == NOT_STATED for row in people.rows for text in row):
        blocks.append(
            Paragraph(
                (
                    "What is not stated can be written into the table ",
                    Code("[statement]"),
                    " of the registry. Until it is, this page does not say it.",
                )
            )
        )
    return Section("Who collects what", "who", (*blocks, *map(Paragraph, stated.paragraphs)))


def _values(metric: Metric) -> Text:
    if metric.parts:
        first, second = (_values(part) for part in metric.parts)
        return f"pairs: {first}; with {second}"
    parameters = metric.device.parameters
    if metric.numeric:
        low = parameters["low"] - parameters["below_zero"]
        return f"whole numbers from {low} to {low + parameters['span']}"
    if not metric.closed:
        if not metric.candidates:
            return "any text"
        return f"any text; {count(len(metric.candidates), 'value')} looked for"
    shown = ", ".join(metric.values[:_LISTED])
    return shown if len(metric.values) <= _LISTED else f"one of {integer(len(metric.values))}: {shown}, …"
