"""What may follow the beginning of a text: all that any text goes on with, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_decoder.discovery import utf8
from hubbub_decoder.discovery.utf8 import END

TEXTS = st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=12)
NOTHING = np.zeros(0, np.uint8)


def row_of(data: bytes) -> utf8.Bytes:
    return np.frombuffer(data, np.uint8)


def can_be_cut(data: bytes) -> bool:
    """Whether ``data`` is valid up to a last character that goes on."""
    for missing in range(4):
        for tail in (b"", b"\x80", b"\x90", b"\xa0"):
            try:
                (data + (tail + b"\x80" * (missing - 1) if missing else b"")).decode()
            except UnicodeDecodeError:
                continue
            return True
    return False


@given(text=TEXTS, first=st.integers(1, 3), more=st.integers(1, 2))
def test_every_text_is_gone_through(text: str, first: int, more: int) -> None:
    """Whatever the text, its padded beginning is among the first ones, and each longer one among its extensions."""
    data = text.encode()
    padded = data.ljust(len(data) + 4, bytes([END]))
    known = utf8.extensions(NOTHING, min(first, 2))
    assert (known == row_of(padded[: min(first, 2)])).all(axis=1).any()
    for length in range(first, len(data) + 2 - more + 1):
        longer = utf8.extensions(row_of(padded[:length]), more)
        assert (longer == row_of(padded[: length + more])).all(axis=1).sum() == 1
        assert len(longer) == utf8.count_extensions(row_of(padded[:length]), more)


@pytest.mark.parametrize("beginning", [b"", b"a", b"\xc3", b"\xc2", b"\xe0", b"\xed", b"\xf0", b"\xf4", b"\xf1\x80"])
def test_nothing_else_is(beginning: bytes) -> None:
    """Every extension is the beginning of a text without control characters, ended or not, and comes once."""
    rows = utf8.extensions(row_of(beginning), 2)
    every = [bytes(row) for row in rows]
    assert len(set(every)) == len(every)
    for data in every[:: max(1, len(every) // 3000)]:
        text = data.rstrip(bytes([END]))
        assert text
        assert END not in text
        assert can_be_cut(text)
        if text != data:  # it has ended, and so at the end of a character
            assert text.decode().isprintable() or not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in text.decode())


def test_an_end_goes_on_with_nothing_but_itself() -> None:
    """A text that has ended has one extension, and is seen to have."""
    rows = utf8.extensions(row_of(b"ab\xff"), 2)
    assert [bytes(row) for row in rows] == [b"ab\xff\xff\xff"]
    assert utf8.has_ended(rows).all()
    assert not utf8.has_ended(utf8.extensions(row_of(b"\xf0"), 2)).any()


def test_what_is_in_use_comes_in_kinds() -> None:
    """A small letter, a capital or a digit behind the first byte stands for all of its kind; other bytes do not."""
    used = utf8.bytes_in_use(np.stack([row_of(b"Xa."), row_of(b"9q\xff")]))
    assert set(np.flatnonzero(used).tolist()) == {*b"abcdefghijklmnopqrstuvwxyz.", END}
    assert utf8.count_extensions(row_of(b"ab"), 1, used) == 28
