from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.canonical import bencode, fingerprint

THINGS = st.recursive(
    st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def decode(data: bytes) -> object:
    """A bencoding decoder, to show that nothing is lost."""
    thing, end = _decode(data, 0)
    assert end == len(data)
    return thing


def _decode(data: bytes, at: int) -> tuple[object, int]:
    kind = data[at : at + 1]
    if kind == b"i":
        end = data.index(b"e", at)
        return int(data[at + 1 : end]), end + 1
    if kind in (b"l", b"d"):
        parts: list[object] = []
        at += 1
        while data[at : at + 1] != b"e":
            part, at = _decode(data, at)
            parts.append(part)
        return (parts if kind == b"l" else dict(zip(parts[::2], parts[1::2], strict=True))), at + 1
    colon = data.index(b":", at)
    end = colon + 1 + int(data[at:colon])
    return data[colon + 1 : end].decode(), end


def test_the_specifications_examples() -> None:
    """The examples of BEP 3 come out to the letter."""
    assert bencode("spam") == b"4:spam"
    assert bencode(-3) == b"i-3e"
    assert bencode(["spam", "eggs"]) == b"l4:spam4:eggse"
    assert bencode({"spam": "eggs", "cow": "moo"}) == b"d3:cow3:moo4:spam4:eggse"


@given(THINGS)
def test_no_two_things_share_an_encoding(thing: object) -> None:
    """Decoding gives back the very thing, so different definitions have different canonical forms."""
    assert decode(bencode(thing)) == thing


@given(st.dictionaries(st.text(max_size=4), st.integers(), max_size=6))
def test_the_order_of_a_map_plays_no_part(pairs: dict[str, int]) -> None:
    """A map built in another order has the same canonical form (dict order is arbitrary on boards)."""
    assert bencode(dict(reversed(list(pairs.items())))) == bencode(pairs)


@pytest.mark.parametrize("thing", [0.5, True, None, {"a": 0.5}, [b"bytes"]])
def test_what_has_no_canonical_form_is_refused(thing: object) -> None:
    """Floats, booleans, None and bytes raise instead of being guessed at."""
    with pytest.raises(TypeError, match="a canonical definition holds"):
        bencode(thing)


def test_a_fingerprint_is_eight_bytes_of_sha256() -> None:
    """The fingerprint is the first 8 bytes of SHA-256 over the canonical form."""
    assert fingerprint({"a": 1}) == hashlib.sha256(b"d1:ai1ee").digest()[:8]
