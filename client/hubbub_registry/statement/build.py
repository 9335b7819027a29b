"""Puts the statement together, in the order of the differential privacy pyramid of NIST SP 800-226 (2025).

From the top down: how strong the guarantee is and whom it protects; what could undermine it (trust, mechanisms and
their implementation, utility and bias, side channels); what it stands on (how data is collected, kept and accessed).
"""

from __future__ import annotations

from hubbub_registry.curator.only import curated_only, lead_curated
from hubbub_registry.curator.page import curated
from hubbub_registry.statement.correctness import correctness
from hubbub_registry.statement.document import Document
from hubbub_registry.statement.facts import Facts
from hubbub_registry.statement.in_short import in_short, lead
from hubbub_registry.statement.keeping import keeping
from hubbub_registry.statement.limits import limits
from hubbub_registry.statement.reasons import reasons
from hubbub_registry.statement.strength import strength
from hubbub_registry.statement.trust import trust
from hubbub_registry.statement.unit import unit
from hubbub_registry.statement.usefulness import usefulness
from hubbub_registry.statement.who import who

_SECTIONS = (
    in_short, who, strength, unit, trust, correctness, usefulness, limits, keeping, reasons,
)  # fmt: skip


def statement(facts: Facts) -> Document:
    """The privacy statement of a registry. What a gateway curates comes last, before the decisions."""
    title = f"Privacy statement: {facts.registry.namespace}"
    if not facts.metrics:
        only = (curated_only(facts), who(facts), curated(facts), reasons(facts))
        return Document(title, lead_curated(facts), only)
    sections = tuple(section(facts) for section in _SECTIONS)
    if facts.registry.curated:
        sections = (*sections[:-1], curated(facts), sections[-1])
    return Document(title, lead(facts), sections)
