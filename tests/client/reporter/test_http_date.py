from __future__ import annotations

import datetime
import email.utils

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.http_date import unix_time_of

SECONDS = st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(3000, 1, 1), timezones=st.just(datetime.UTC))  # noqa: DTZ001


@given(SECONDS)
def test_every_date_is_read_as_the_standard_library_writes_it(moment: datetime.datetime) -> None:
    """A date in the form of RFC 9110 gives its Unix time, in leap years and out of them."""
    assert unix_time_of(email.utils.format_datetime(moment, usegmt=True)) == int(
        moment.replace(microsecond=0).timestamp()
    )


def test_the_end_of_february_is_right_in_every_year() -> None:
    """The second before 1 March is in 28 or 29 February, as the calendar has it."""
    for year in range(1896, 2110):
        first = datetime.datetime(year, 3, 1, tzinfo=datetime.UTC)
        for moment in (first, first - datetime.timedelta(seconds=1)):
            assert unix_time_of(email.utils.format_datetime(moment, usegmt=True)) == int(moment.timestamp())


@given(st.text())
def test_anything_else_is_no_date(text: str) -> None:
    """Text that is no date gives None, and never an exception."""
    assert unix_time_of(text) is None


@pytest.mark.parametrize(
    "text",
    ["Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994",
     "Sun, 06 nov 1994 08:49:37 GMT", "Sun, six Nov 1994 08:49:37 GMT"],
)  # fmt: skip
def test_forms_that_no_server_may_send_any_more_are_not_read(text: str) -> None:
    """The obsolete forms, and near misses, give None."""
    assert unix_time_of(text) is None
