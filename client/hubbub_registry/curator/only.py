"""What the statement begins with where every metric of a registry is curated, and nothing is randomised on a device."""

from __future__ import annotations

from hubbub_registry.curator.accounting import SPANS, total
from hubbub_registry.statement.document import Block, Bullets, Paragraph, Section, Strong, Text
from hubbub_registry.statement.facts import Facts
from hubbub_registry.statement.in_short import decisions
from hubbub_registry.statement.wording import figure


def lead_curated(facts: Facts) -> tuple[Block, ...]:
    """What this is, where everything is curated."""
    return (
        Paragraph("What a gateway releases of its sensors' readings, how strongly each sensor is protected."),
        Paragraph(
            f"hubbub {facts.version} wrote this page on {facts.day} from the registry that the gateway runs from. "
            "Every figure is computed exactly, and rounded up. What only people can know (who collects, what for, for "
            "how long) is shown as the registry states it, and hubbub has not checked it."
        ),
    )


def curated_only(facts: Facts) -> Section:
    """The promise and its limits in a few sentences, where everything is curated."""
    whole = [total(facts.registry.curated.values(), span) for span in SPANS]
    delta = "" if whole[0].delta is None else f", with delta {float(whole[0].delta):g}"
    items: tuple[Text, ...] = (
        (
            Strong("The gateway sees every reading."),
            " It releases noisy statistics of whole periods, and nothing else that depends on a reading.",
        ),
        (
            Strong(f"One sensor, one period: epsilon at most {figure(whole[0].epsilon)}{delta}."),
            f" All metrics together can reveal no more than epsilon {figure(whole[2].epsilon)} about it, ever.",
        ),
        (Strong("What must be trusted: the gateway"), ", whoever runs it, and the link to it."),
        *decisions(facts),
    )
    return Section("In short", "in-short", (Bullets(items),))
