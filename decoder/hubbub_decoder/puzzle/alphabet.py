"""Which fragments a string over an alphabet can have, wherever it is cut."""

from __future__ import annotations

import string
import unicodedata
from typing import NamedTuple

from hubbub_client.mechanisms.sequence_fragment_puzzle import PAD

USUAL = string.ascii_lowercase + string.digits + " '-._"


class Fragments(NamedTuple):
    """``full`` are inside a string, ``ended`` hold its last bytes and padding; the last of them is padding only."""

    full: tuple[bytes, ...]
    ended: tuple[bytes, ...]


def fragments_of(alphabet: str, size: int) -> Fragments:
    """The fragments of ``size`` bytes of all UTF-8 strings over ``alphabet``.

    A string is cut without regard to where its characters begin, so a fragment may begin with the end of one.
    """
    characters = {character.encode() for character in unicodedata.normalize("NFC", alphabet)}
    full: set[bytes] = set()
    ended: set[bytes] = set()
    growing = {character[i:] for character in characters for i in range(len(character))}
    while growing:
        full |= {text[:size] for text in growing if len(text) >= size}
        short = {text for text in growing if len(text) < size}
        ended |= short
        growing = {text + character for text in short for character in characters}
    padded = [text + (size - len(text)) * PAD for text in sorted(ended)]
    return Fragments(tuple(sorted(full)), (*padded, size * PAD))
