from __future__ import annotations

import hmac

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hubbub_client.errors import StateError
from hubbub_client.hmac_sha256 import hmac_sha256 as plain
from hubbub_client.prf import expand, hmac_sha256

# RFC 4231, test cases 1, 2 and 6.
RFC4231 = [
    (b"\x0b" * 20, b"Hi There", "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    (b"Jefe", b"what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    (
        b"\xaa" * 131,
        b"Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
    ),
]


@pytest.mark.parametrize(("key", "message", "digest"), RFC4231)
def test_both_macs_give_the_rfc_vectors(key: bytes, message: bytes, digest: str) -> None:
    """The board's HMAC and CPython's give RFC 4231's digests."""
    assert plain(key, message).hex() == digest
    assert hmac_sha256(key, message).hex() == digest


@given(st.binary(max_size=150), st.binary(max_size=150))
@example(b"k" * 64, b"a key of exactly one block")
@example(b"k" * 65, b"a key of one byte more")
def test_the_board_mac_is_cpythons(key: bytes, message: bytes) -> None:
    """The board's HMAC equals CPython's for any key and message."""
    assert plain(key, message) == hmac_sha256(key, message)


@given(st.binary(min_size=16, max_size=40), st.binary(max_size=60), st.integers(1, 300))
def test_expand_is_sp_800_108_counter_mode(secret: bytes, context: bytes, count: int) -> None:
    """``expand`` gives K(1) K(2) ... with K(i) = HMAC(secret, [i]_32 label 00 context [L]_32), cut to length."""
    whole = b"".join(
        hmac.digest(secret, i.to_bytes(4, "big") + b"label\x00" + context + (8 * count).to_bytes(4, "big"), "sha256")
        for i in range(1, 12)
    )
    assert expand(secret, b"label", context, count) == whole[:count]


def test_streams_of_other_labels_and_contexts_share_nothing() -> None:
    """Another secret, label or context gives another stream."""
    streams = {
        expand(b"s" * 32, b"a", b"c", 32),
        expand(b"t" * 32, b"a", b"c", 32),
        expand(b"s" * 32, b"b", b"c", 32),
        expand(b"s" * 32, b"a", b"d", 32),
    }
    assert len(streams) == 4


def test_a_secret_that_can_be_guessed_is_refused() -> None:
    """A secret of 15 bytes raises, with both lengths in the message; one of 16 is taken."""
    with pytest.raises(StateError, match="a device secret of 15 bytes can be guessed; give at least 16 random ones"):
        expand(b"s" * 15, b"label", b"context", 4)
    assert len(expand(b"s" * 16, b"label", b"context", 4)) == 4
