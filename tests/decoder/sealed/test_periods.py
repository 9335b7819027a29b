"""Periods by number and by date."""

from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_decoder import ArgumentError
from hubbub_decoder.sealed.periods import named, numbers_of

DAY = 86400


@given(
    day=st.dates(datetime.date(1970, 1, 1), datetime.date(2200, 1, 1)),
    seconds=st.sampled_from([3600, 5400, DAY, 36 * 3600, 7 * DAY]),
    within=st.integers(0, DAY - 1),
)
def test_a_date_stands_for_every_period_that_holds_part_of_it(day: datetime.date, seconds: int, within: int) -> None:
    """The period of each second of the day (UTC) is among them, and each of them has a second of the day."""
    numbers = numbers_of(day, seconds)
    start = int(datetime.datetime(day.year, day.month, day.day, tzinfo=datetime.UTC).timestamp())
    assert (start + within) // seconds in numbers
    assert all(number * seconds < start + DAY and (number + 1) * seconds > start for number in numbers)


def test_a_number_stands_for_itself() -> None:
    """A number is that period alone; text, a moment and a truth value are no periods."""
    assert list(numbers_of(20787, DAY)) == [20787]
    for wrong in ("20787", True, 1.0, datetime.datetime(2026, 11, 30, tzinfo=datetime.UTC), None):
        with pytest.raises(ArgumentError, match=r"datetime\.date"):
            numbers_of(wrong, DAY)


def test_names_of_periods() -> None:
    """Periods are named in order with the day, or the minute, at which they begin; no more than twelve of them."""
    assert named([20788, 20787], DAY) == "20787 (2026-11-30), 20788 (2026-12-01)"
    assert named([498901], 3600) == "498901 (2026-11-30T13:00Z)"
    assert named(range(100), DAY).endswith("11 (1970-01-12) and 88 more")
    assert named([10**12], DAY) == f"{10**12} (in no calendar)"
