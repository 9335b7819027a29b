from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.records import bits_for, pack, unpack, width

FIELDS = st.lists(st.integers(0, 70), min_size=1, max_size=5).map(
    lambda sizes: [(f"f{i}", b, 0) for i, b in enumerate(sizes)]
)


@given(FIELDS, st.data())
def test_unpack_inverts_pack(fields: list[tuple[str, int, int]], data: st.DataObject) -> None:
    """Any field values come back, from a record of the declared width."""
    values = [data.draw(st.integers(0, (1 << bits) - 1)) for _, bits, _ in fields]
    record = pack(fields, values)
    assert len(record) == width(fields)
    assert unpack(fields, record) == values


def test_the_first_field_sits_in_the_lowest_bits() -> None:
    """Fields fill a little-endian record from the lowest bit up, and padding is zero."""
    assert pack([("hash", 3, 0), ("row", 7, 0), ("bit", 1, 0)], [5, 0x41, 1]) == bytes([0b00001101, 0b110])


@given(st.integers(1, 1 << 40))
def test_bits_for_is_the_ceiling_of_the_logarithm(domain: int) -> None:
    """``bits_for`` holds every integer below the domain, and no bit less would."""
    assert bits_for(domain) == (domain - 1).bit_length()
