"""What a device reports of a string with the sequence fragment puzzle: which bytes, at which position."""

from __future__ import annotations

import pytest

from hubbub_client.hashing import bucket, item_key
from hubbub_client.mechanisms.sequence_fragment_puzzle import PAD, fragment_at, puzzle_piece
from hubbub_client.records import unpack

from tests.client.distribution import device_metric, encoder_of

PARAMETERS = {
    "hashes_bits": 3, "width_bits": 4, "threshold": 15, "precision": 4, "salt": 7, "positions_bits": 2,
    "fragment_bytes": 2, "piece_bits": 6, "fragment_hashes_bits": 3, "fragment_width_bits": 5, "fragment_threshold": 15,
    "fragment_precision": 4, "fragment_salt": 9 | 10 << 32,
}  # fmt: skip
FIELDS = [["hash", 3, 0], ["bucket", 4, 0], ["position", 2, 0], ["fragment_hash", 3, 0], ["fragment_bucket", 5, 0]]


@pytest.mark.parametrize(
    ("data", "size", "fragments"),
    [
        (b"abcdefg", 2, [b"ab", b"cd", b"ef", b"g\xff", b"\xff\xff"]),
        (b"abcdefgh", 3, [b"abc", b"def", b"gh\xff", b"\xff\xff\xff"]),
        (b"ab", 1, [b"a", b"b", b"\xff"]),
        (b"", 2, [b"\xff\xff", b"\xff\xff"]),
    ],
)
def test_a_string_is_cut_from_its_beginning(data: bytes, size: int, fragments: list[bytes]) -> None:
    """One fragment follows the other, and past the end there is a byte that no UTF-8 text has."""
    assert [fragment_at(data, position, size) for position in range(len(fragments))] == fragments
    with pytest.raises(UnicodeDecodeError):
        PAD.decode()


def test_the_piece_is_a_few_bits_of_the_hash_of_all() -> None:
    """It is the low bits of XXH32 of the whole string, under the low half of the fragments' salt."""
    for data in (b"", b"abc", b"x" * 300):
        assert puzzle_piece(data, PARAMETERS) == item_key(data, 9 | 10 << 32)[0] % 64


@pytest.mark.parametrize("position", range(4))
@pytest.mark.parametrize("j", [0, 3, 7])
def test_a_record_is_the_whole_and_the_fragment_at_the_drawn_position(position: int, j: int) -> None:
    """Without noise the buckets are those of the string, and of its piece and fragment there, each under its function.

    The random bits are, from the lowest up: keep, bucket and hash number of the whole, and in bytes of their own keep,
    bucket, position and hash number of the fragment.
    """
    metric = device_metric("sequence-fragment-puzzle", PARAMETERS, FIELDS)
    encoder = encoder_of(metric)
    noise = ((7 - j) << 8).to_bytes(2, "little") + (position << 9 | j << 11).to_bytes(2, "little")
    assert encoder.random_bytes == len(noise)
    data = b"abcdefg"
    record = encoder.encode(data, lambda _: noise)
    piece = (item_key(data, 9 | 10 << 32)[0] % 64).to_bytes(4, "little")
    fragment = [b"ab", b"cd", b"ef", b"g\xff"][position]
    salt = PARAMETERS["fragment_salt"]
    assert unpack(metric.fields, record) == [
        7 - j, bucket(item_key(data, 7), 7, 7 - j, 4),
        position, j, bucket(item_key(piece + fragment, salt), salt, position + 4 * j, 5),
    ]  # fmt: skip
