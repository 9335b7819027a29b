"""Pairs of values, as joint metrics take them: one string of bytes that holds both."""

from hubbub_client.errors import RejectedValueError
from hubbub_client.values import to_bytes

_LENGTH_BYTES = 2


def pair_bytes(value: object) -> bytes:
    """The bytes of a pair ``(first, second)``: the length of the first, then both. Raises RejectedValueError."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise RejectedValueError("type", "a joint metric takes a pair of values, (first, second)")
    first = to_bytes(value[0])
    return len(first).to_bytes(_LENGTH_BYTES, "big") + first + to_bytes(value[1])


def halves(data: bytes) -> "tuple[bytes, bytes]":
    """The inverse of ``pair_bytes``."""
    end = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "big")
    return data[_LENGTH_BYTES:end], data[end:]
