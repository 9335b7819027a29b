from __future__ import annotations

import pytest

from hubbub_client.errors import RejectedValueError
from hubbub_client.values import MAX_VALUE_BYTES, to_bytes


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ("é", b"\xc3\xa9"),
        ("e\u0301", b"\xc3\xa9"),
        (b"\xc3\xa9", b"\xc3\xa9"),
        (True, b"true"),
        (False, b"false"),
        (-7, b"-7"),
        ("", b""),
    ],
)
def test_a_value_has_one_form(value: object, data: bytes) -> None:
    """Text in any normal form, its bytes, booleans and integers become the documented UTF-8 bytes."""
    assert to_bytes(value) == data


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (1.5, "type"),
        (object(), "type"),
        (("secret",), "type"),
        (b"\xff", "not-utf-8"),
        ("\ud800", "not-utf-8"),
        ("x" * (MAX_VALUE_BYTES + 1), "too-long"),
        pytest.param(10**MAX_VALUE_BYTES, "too-long", id="large"),
        pytest.param(-(10 ** (MAX_VALUE_BYTES - 1)), "too-long", id="negative"),
        pytest.param(10**5000, "too-long", id="huge"),
    ],
)
def test_another_value_is_rejected_with_its_reason_and_never_repeated(value: object, reason: str) -> None:
    """A value of the wrong type, not UTF-8 or too long raises, and the error does not hold the value."""
    with pytest.raises(RejectedValueError) as caught:
        to_bytes(value)
    assert caught.value.reason == reason
    if not isinstance(value, int):
        assert str(value) not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_the_longest_value_is_taken() -> None:
    """A value of exactly the limit passes."""
    assert len(to_bytes("x" * MAX_VALUE_BYTES)) == MAX_VALUE_BYTES
