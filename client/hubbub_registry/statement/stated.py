"""The ``[statement]`` table of a registry: what only people know, said by them."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

from hubbub_registry.errors import Problem
from hubbub_registry.table import Table


@dataclass(frozen=True)
class Stated:
    """What a registry says about itself for its privacy statement; empty where it says nothing.

    None of it reaches a plan, and hubbub checks none of it: the statement shows it as what the controller says.
    """

    controller: str = ""
    """Who decides what is collected and why."""
    contact: str = ""
    """Where people ask and complain."""
    purpose: str = ""
    """What the statistics are for."""
    retention: str = ""
    """How long reports and statistics are kept."""
    region: str = ""
    """Whose devices report, or whose law applies."""
    notes: str = ""
    """Anything else a reader should know; blank lines part paragraphs."""

    @property
    def paragraphs(self) -> list[str]:
        """The notes, paragraph by paragraph."""
        return [part for part in re.split(r"\n\s*\n", self.notes) if part.strip()]


KEYS = tuple(field.name for field in fields(Stated))


def read_stated(raw: object, problems: list[Problem]) -> Stated:
    """The table as it was written, each key a text that may be left out; what is wrong is added to ``problems``."""
    table = Table("statement", raw, problems)
    stated = Stated(**{key: table.text(key) for key in KEYS if table.has(key)})
    table.finish(", ".join(KEYS))
    return stated
