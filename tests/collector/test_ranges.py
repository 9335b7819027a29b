"""The check of records against their fields' domains."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.records import pack, unpack, width
from hubbub_collector.ranges import range_check

Fields = list[tuple[str, int, int]]


@st.composite
def fields_of(draw: st.DrawFn) -> Fields:
    """One to four fields of up to 20 bits, of any domain that fits."""
    sizes = draw(st.lists(st.integers(1, 20), min_size=1, max_size=4))
    return [
        (f"f{i}", bits, draw(st.sampled_from([0, 1 << bits]) | st.integers(1, 1 << bits)))
        for i, bits in enumerate(sizes)
    ]


def valid(fields: Fields, record: bytes) -> bool:
    """The definition, spelled out: every field below its domain, and nothing above the fields."""
    values = unpack(fields, record)
    return pack(fields, values) == record and all(
        value < (domain or 1 << bits) for value, (_, bits, domain) in zip(values, fields, strict=True)
    )


@given(fields_of(), st.integers(1, 40), st.data())
def test_the_check_is_the_definition(fields: Fields, count: int, data: st.DataObject) -> None:
    """For few records and for many, the check holds exactly where every record meets the definition."""
    size = width(fields)
    good = b"".join(
        pack(fields, [data.draw(st.integers(0, (domain or 1 << bits) - 1)) for _, bits, domain in fields])
        for _ in range(count)
    )
    check = range_check(fields, size)
    assert check is None or check(good)
    at = data.draw(st.integers(0, count - 1)) * size
    any_record = data.draw(st.binary(min_size=size, max_size=size))
    mixed = good[:at] + any_record + good[at + size :]
    assert (check is None or check(mixed)) == valid(fields, any_record)


def test_every_byte_of_a_small_record_is_judged_right() -> None:
    """All 256 records of one byte: five values in three bits, five bits of padding."""
    fields = [("value", 3, 5)]
    check = range_check(fields, 1)
    assert check is not None
    for byte in range(256):
        record = bytes([byte])
        assert check(record) == check(record * 100) == (byte < 5)


def test_full_records_need_no_check() -> None:
    """Where every bit string is a record there is nothing to check, so nothing is done."""
    assert range_check([("hash", 10, 1024), ("row", 13, 0), ("bit", 1, 2)], 3) is None


@pytest.mark.parametrize("offset", range(8))
def test_the_widest_field_is_checked_at_any_offset(offset: int) -> None:
    """A bounded field of 56 bits is read right wherever in a byte it begins."""
    fields: Fields = [("before", offset, 0)] * bool(offset) + [("wide", 56, (1 << 56) - 1)]
    size = width(fields)
    check = range_check(fields, size)
    assert check is not None
    most = pack(fields, [0] * bool(offset) + [(1 << 56) - 2])
    over = pack(fields, [0] * bool(offset) + [(1 << 56) - 1])
    assert check(most * 100)
    assert not check(most * 50 + over + most * 50)
    assert check(most)
    assert not check(over)
