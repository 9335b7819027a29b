from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.frames import OVERHEAD, frame, parse

REPORTS = st.lists(
    st.tuples(st.binary(min_size=8, max_size=8), st.integers(0, 2**64 - 1), st.binary(max_size=40)), max_size=6
)


@given(REPORTS)
def test_frames_give_the_reports_back(reports: list[tuple[bytes, int, bytes]]) -> None:
    """Reports that were framed one after another are parsed as they were, and fill the file."""
    data = b"".join(frame(*report) for report in reports)
    assert parse(data) == (reports, True)
    assert len(data) == sum(OVERHEAD + len(record) for _, _, record in reports)


@given(REPORTS)
def test_a_tail_torn_at_any_byte_loses_the_last_report_only(reports: list[tuple[bytes, int, bytes]]) -> None:
    """Cut at any byte, a file gives every report that was whole, and says whether there is a torn one."""
    data = b""
    for whole, report in enumerate(reports):
        added = frame(*report)
        for cut in range(1, len(added)):
            assert parse(data + added[:cut]) == (reports[:whole], False)
        data += added
        assert parse(data) == (reports[: whole + 1], True)


@given(REPORTS, st.data())
def test_a_changed_byte_never_makes_another_report(
    reports: list[tuple[bytes, int, bytes]], data: st.DataObject
) -> None:
    """Where one byte of a file was changed, what is parsed is the reports before it."""
    framed = b"".join(frame(*report) for report in reports)
    if framed:
        at = data.draw(st.integers(0, len(framed) - 1))
        changed = bytearray(framed)
        changed[at] ^= data.draw(st.integers(1, 255))
        found, clean = parse(bytes(changed))
        assert not clean
        assert found == reports[: len(found)]
        assert sum(OVERHEAD + len(record) for _, _, record in found) <= at


def test_zeros_that_a_power_cut_left_are_no_reports() -> None:
    """A file system that lengthened a file and wrote nothing into it added no report."""
    good = frame(b"f" * 8, 7, b"record")
    for zeros in range(1, 64):
        assert parse(good + bytes(zeros)) == ([(b"f" * 8, 7, b"record")], False)
