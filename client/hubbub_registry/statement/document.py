"""What a statement is made of, before it is Markdown or HTML: sections of paragraphs, lists and tables.

Text is a ``str``, or a tuple of ``str``, ``Code`` and ``Strong``. It is never markup: a renderer escapes all of it, so
that what a registry says can look like anything and change nothing but its own words.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass


class Code(str):
    """An identifier or an exact number."""

    __slots__ = ()


class Strong(str):
    """Words that a hurried reader must see."""

    __slots__ = ()


Text = str | tuple[str, ...]


@dataclass(frozen=True)
class Paragraph:
    """One paragraph."""

    text: Text


@dataclass(frozen=True)
class Subheading:
    """A heading within a section."""

    text: Text


@dataclass(frozen=True)
class Bullets:
    """A list without an order."""

    items: tuple[Text, ...]


@dataclass(frozen=True)
class Table:
    """A table whose first column names its rows. ``numbers``: the other columns hold numbers, to stand on the right."""

    caption: Text
    header: tuple[Text, ...]
    rows: tuple[tuple[Text, ...], ...]
    numbers: bool = False


Block = Paragraph | Subheading | Bullets | Table


@dataclass(frozen=True)
class Section:
    """A titled part. ``anchor`` is its address within the document."""

    title: str
    anchor: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    """A title, what stands before the first section, and the sections in reading order."""

    title: str
    lead: tuple[Block, ...]
    sections: tuple[Section, ...]


# Embeddings, overrides and isolates turn the direction of what follows them, past the end of their own text.
_TURNS = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), "\ufffd")


def plain(text: str) -> str:
    """``text`` on one line, without control characters, and unable to turn the text around it.

    A renderer passes every text through here. A run of white space becomes one space.
    """
    line = re.sub(r"\s+", " ", text).translate(_TURNS)
    return "".join("\ufffd" if unicodedata.category(sign) in ("Cc", "Cs") else sign for sign in line)


def parts(text: Text) -> tuple[str, ...]:
    """The pieces of a text, in order."""
    return (text,) if isinstance(text, str) else text
