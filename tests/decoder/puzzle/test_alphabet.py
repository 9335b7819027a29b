"""The fragments that are tried are those that strings over the alphabet have, and no others."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.mechanisms.sequence_fragment_puzzle import PAD, fragment_at
from hubbub_decoder.puzzle.alphabet import USUAL, fragments_of

ALPHABETS = ["a", "ab", "aß", "a€", "ß€😀", "abcß"]


@pytest.mark.parametrize("alphabet", ALPHABETS)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_they_are_what_any_string_has(alphabet: str, size: int) -> None:
    """Cutting all short strings anywhere gives the full fragments, and their ends the others, padding only the last."""
    strings = [
        "".join(characters).encode()
        for length in range(size + 2)
        for characters in itertools.product(alphabet, repeat=length)
    ]
    full = {data[i : i + size] for data in strings for i in range(len(data) - size + 1)}
    ends = {(data[i:] + PAD * size)[:size] for data in strings for i in range(len(data) + 1) if len(data) - i < size}
    found = fragments_of(alphabet, size)
    assert set(found.full) == full
    assert set(found.ended) == ends
    assert len(found.full) + len(found.ended) == len(full) + len(ends)
    assert found.ended[-1] == PAD * size


@given(st.text("ab-é€", max_size=9), st.integers(1, 3))
def test_every_string_is_made_of_them(text: str, size: int) -> None:
    """A string's fragments are full ones, then one that ends it, then padding only."""
    found = fragments_of("ab-é€", size)
    data = text.encode()
    last = len(data) // size
    for position in range(last + 3):
        fragment = fragment_at(data, position, size)
        assert fragment in (found.full if position < last else found.ended)
        assert position <= last or fragment == found.ended[-1]


def test_an_alphabet_is_normalised() -> None:
    """A letter and its accent are the one character that a device sends, and the usual alphabet has 41."""
    assert fragments_of("e\u0301", 2) == fragments_of("\u00e9", 2)
    assert len(set(USUAL)) == 41
