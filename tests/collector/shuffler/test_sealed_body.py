"""The body of ciphertexts: every shape that is not the one is refused, by its code."""

from __future__ import annotations

import os

import msgpack
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hubbub_collector.errors import Refusal
from hubbub_collector.shuffler.sealed_body import LEAST_BYTES, MOST, MOST_BYTES, pack, parse

ID, KEY, ONE = bytes(16), bytes(8), bytes(LEAST_BYTES)


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (b"", "not-msgpack"),
        (b"\xc1", "not-msgpack"),
        (pack(ID, KEY, [ONE])[:-1], "not-msgpack"),
        (pack(ID, KEY, [ONE]) + b"\x00", "not-msgpack"),
        ([1, ID, KEY, [ONE] * (MOST + 1)], "not-msgpack"),
        ([1, ID, "k", [ONE]], "not-msgpack"),
        ({}, "sealed-shape"),
        (7, "sealed-shape"),
        ([1, ID, [[ID, 1, ONE]]], "sealed-shape"),
        ([1, ID, KEY, [ONE], 0], "sealed-shape"),
        ([2, ID, KEY, [ONE]], "sealed-version"),
        ([True, ID, KEY, [ONE]], "sealed-version"),
        ([1, ID[1:], KEY, [ONE]], "sealed-id"),
        ([1, 1, KEY, [ONE]], "sealed-id"),
        ([1, ID, KEY + b"x", [ONE]], "sealed-key"),
        ([1, ID, 0, [ONE]], "sealed-key"),
        ([1, ID, KEY, []], "sealed-ciphertexts"),
        ([1, ID, KEY, ONE], "sealed-ciphertexts"),
        ([1, ID, KEY, [ONE, 1]], "sealed-ciphertexts"),
        ([1, ID, KEY, [ONE[1:]]], "ciphertext-size"),
        ([1, ID, KEY, [bytes(MOST_BYTES + 1)]], "ciphertext-size"),
        ([1, ID, KEY, [ONE, ONE + b"x"]], "ciphertext-size"),
    ],
)
def test_refused(document: object, code: str) -> None:
    """Each shape has its code, and all are permanent."""
    body = document if isinstance(document, bytes) else msgpack.packb(document)
    with pytest.raises(Refusal) as caught:
        parse(body)
    assert (caught.value.status, caught.value.code, caught.value.retry_after) == (400, code, None)


def test_taken() -> None:
    """The right shape is taken, at both ends of every bound."""
    for ciphertexts in ([ONE], [bytes(MOST_BYTES)], [os.urandom(90) for _ in range(MOST)]):
        sealed = parse(pack(ID, KEY, ciphertexts))
        assert sealed == (ID, KEY, ciphertexts)
        assert sealed.size == len(ciphertexts[0])


@given(st.binary(max_size=300))
@example(b"\x94" * 300)
@example(b"\xdd\xff\xff\xff\xff" * 50)
def test_any_bytes(body: bytes) -> None:
    """Whatever comes, it is taken or refused with 400; nothing else is raised."""
    refused = None
    try:
        parse(body)
    except Refusal as error:
        refused = error
    assert refused is None or refused.status == 400
