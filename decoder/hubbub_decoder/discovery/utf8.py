"""Which bytes may follow the beginning of a UTF-8 text: its automaton, with an end in it.

Text without control characters, which nobody types: U+0000 to U+001F and U+007F to U+009F.
"""

from __future__ import annotations

import string
import unicodedata
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from hubbub_client.mechanisms.prefix_extending_method import PAD

Bytes = npt.NDArray[np.uint8]
BoolArray = npt.NDArray[np.bool_]
END = PAD[0]
# Between two characters; inside one, where so many plain continuation bytes are due; after a byte that narrows the next
# one (Unicode standard, table 3-7); after the end; before the first byte, where there is no end.
_BETWEEN, _ONE, _TWO, _THREE, _AFTER_C2, _AFTER_E0, _AFTER_ED, _AFTER_F0, _AFTER_F4, ENDED, _START = range(11)
_NONE = -1
ALL = np.ones(256, np.bool_)


@cache
def _table() -> npt.NDArray[np.int8]:
    """The state after each byte in each state, -1 where it cannot follow; shape (states, 256)."""
    table = np.full((11, 256), _NONE, np.int8)
    table[_BETWEEN, 0x20:0x7F] = _BETWEEN
    table[_BETWEEN, 0xC2] = _AFTER_C2
    table[_BETWEEN, 0xC3:0xE0] = _ONE
    table[_BETWEEN, 0xE0] = _AFTER_E0
    table[_BETWEEN, 0xE1:0xF0] = _TWO
    table[_BETWEEN, 0xED] = _AFTER_ED  # no surrogates
    table[_BETWEEN, 0xF0] = _AFTER_F0
    table[_BETWEEN, 0xF1:0xF4] = _THREE
    table[_BETWEEN, 0xF4] = _AFTER_F4  # nothing above U+10FFFF
    table[_BETWEEN, END] = ENDED
    table[_ONE, 0x80:0xC0] = _BETWEEN
    table[_TWO, 0x80:0xC0] = _ONE
    table[_THREE, 0x80:0xC0] = _TWO
    table[_AFTER_C2, 0xA0:0xC0] = _BETWEEN  # no control characters
    table[_AFTER_E0, 0xA0:0xC0] = _ONE
    table[_AFTER_ED, 0x80:0xA0] = _ONE
    table[_AFTER_F0, 0x90:0xC0] = _TWO
    table[_AFTER_F4, 0x80:0x90] = _TWO
    table[ENDED, END] = ENDED
    table[_START] = table[_BETWEEN]
    table[_START, END] = _NONE
    return table


@lru_cache(maxsize=64)
def _endings(state: int, count: int, allowed: bytes) -> Bytes:
    """All sequences of ``count`` bytes that may follow in ``state``, of those that are not 0 in ``allowed``."""
    if count == 0:
        return np.zeros((1, 0), np.uint8)
    parts = [np.zeros((0, count), np.uint8)]
    for byte in np.flatnonzero((_table()[state] != _NONE) & (np.frombuffer(allowed, np.uint8) > 0)):
        rest = _endings(int(_table()[state, byte]), count - 1, allowed)
        parts.append(np.column_stack([np.full(len(rest), byte, np.uint8), rest]))
    return np.concatenate(parts)


def extensions(beginning: Bytes, count: int, allowed: BoolArray = ALL) -> Bytes:
    """``beginning`` (length,) with all ``count`` bytes that may follow it; shape (n, length + count).

    A text has one character at least, and its last one here may be cut by the end of the row. With ``allowed`` (256,)
    only those in which no other byte follows.
    """
    more = _endings(_state_after(beginning), count, allowed.tobytes())
    return np.concatenate([np.broadcast_to(beginning, (len(more), len(beginning))), more], axis=1)


def count_extensions(beginning: Bytes, count: int, allowed: BoolArray = ALL) -> int:
    """How many ``extensions`` there are; but of the very first byte of a text all are counted."""
    state = _state_after(beginning)
    ways = np.eye(len(_table()), dtype=np.int64)[state]
    for step in range(count):
        ways = ways @ _steps((ALL if state == _START and step == 0 else allowed).tobytes())
    return int(ways.sum())


@lru_cache(maxsize=64)
def _steps(allowed: bytes) -> npt.NDArray[np.int64]:
    """How many allowed bytes lead from one state to another; shape (states, states)."""
    steps = np.zeros((len(_table()), len(_table())), np.int64)
    for state, row in enumerate(_table()):
        after = row[(row != _NONE) & (np.frombuffer(allowed, np.uint8) > 0)]
        steps[state] = np.bincount(after, minlength=len(steps))
    return steps


def _state_after(beginning: Bytes) -> int:
    state = _START
    for byte in beginning:
        state = int(_table()[state, byte])
    return state


def bytes_in_use(rows: Bytes) -> BoolArray:
    """The bytes behind the first of ``rows``, and the ends; of letters and digits all of a kind; shape (256,)."""
    seen = np.zeros(256, np.bool_)
    seen[rows[:, 1:]] = True
    for kind in (string.ascii_lowercase, string.ascii_uppercase, string.digits):
        alike = list(kind.encode())
        seen[alike] = seen[alike].any()
    seen[END] = True
    return seen


def bytes_of(alphabet: str | None) -> BoolArray:
    """The bytes that texts over an alphabet are made of, and the ends; all where there is none; shape (256,)."""
    if alphabet is None:
        return ALL
    made = np.zeros(256, np.bool_)
    made[[*unicodedata.normalize("NFC", alphabet).encode(), END]] = True
    return made


def has_ended(rows: Bytes) -> BoolArray:
    """Which of ``rows`` hold the end of their text; shape (n,)."""
    return np.asarray(rows[:, -1] == END)
