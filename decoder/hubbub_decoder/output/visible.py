"""Text from outside on a terminal: what a terminal would obey, or not show, is shown as its escape."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

# Control and format characters (an escape that clears the screen, an override of the reading direction), halves of
# characters, and what breaks a line.
_NOT_SHOWN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Format characters that whole scripts and many emoji are written with: the zero-width non-joiner and joiner.
_ALLOWED = frozenset({"\u200c", "\u200d"})
# What is not seen at the end of a text: every space of Unicode, and those two.
_BLANK = "".join(character for character in map(chr, range(0x3001)) if character.isspace()) + "\u200c\u200d"

_NAMED = 3


def visible(text: str) -> str:
    """``text`` with such characters as ``\\t``, ``\\x1b`` or ``\\u202e``: on one line, and every character seen."""
    if text.isprintable():  # most are, and 100,000 values are looked at
        return text
    return "".join(_escape(character) if _hidden(character) else character for character in text)


def visible_value(text: str) -> str:
    """``visible(text)`` of a value, with blanks at its ends as ``\\x20``: nothing else tells ``"a "`` from ``"a"``."""
    start, end = len(text) - len(text.lstrip(_BLANK)), len(text.rstrip(_BLANK))
    if start == 0 and end == len(text):
        return visible(text)
    return _escapes(text[:start]) + visible(text[start : max(start, end)]) + _escapes(text[max(start, end) :])


def blanks_noted(values: Iterable[str]) -> tuple[str, ...]:
    """A note where values begin or end with a blank, which is seldom meant."""
    found = [value for value in values if value != value.strip(_BLANK)]
    if not found:
        return ()
    named = ", ".join(map(visible_value, found[:_NAMED]))
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return (
        f"candidates that begin or end with a blank: {named}{more}; each is another value than the same text without. "
        "Where that is a slip of the list, correct it",
    )


def _escapes(blanks: str) -> str:
    return "".join(_escape(blank) for blank in blanks)


def _hidden(character: str) -> bool:
    return character not in _ALLOWED and unicodedata.category(character) in _NOT_SHOWN


def _escape(character: str) -> str:
    if character == " ":
        return "\\x20"
    return character.encode("unicode_escape").decode("ascii")
