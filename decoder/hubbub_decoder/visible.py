"""Text from outside on a terminal: what a terminal would obey, or not show, is shown as its escape."""

from __future__ import annotations

import unicodedata

# Control and format characters (an escape that clears the screen, an override of the reading direction), halves of
# characters, and what breaks a line.
_NOT_SHOWN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Format characters that whole scripts and many emoji are written with: the zero-width non-joiner and joiner.
_ALLOWED = frozenset({"\u200c", "\u200d"})


def visible(text: str) -> str:
    """``text`` with such characters as ``\\t``, ``\\x1b`` or ``\\u202e``: on one line, and every character seen."""
    if text.isprintable():  # most are, and 100,000 values are looked at
        return text
    return "".join(_escape(character) if _hidden(character) else character for character in text)


def _hidden(character: str) -> bool:
    return character not in _ALLOWED and unicodedata.category(character) in _NOT_SHOWN


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
