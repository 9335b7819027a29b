from __future__ import annotations

import struct
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.frames import OVERHEAD, Report, frame, parse, room_for

INTEGERS = st.integers(0, 2**64 - 1)
NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789_", min_size=1, max_size=64)
REPORTS = st.lists(
    st.builds(
        Report, NAMES, st.binary(min_size=8, max_size=8), INTEGERS, INTEGERS, INTEGERS, st.binary(max_size=40)
    ),
    max_size=6,
)  # fmt: skip


def size(report: Report) -> int:
    return OVERHEAD + len(report.name) + len(report.record)


@given(REPORTS)
def test_frames_give_the_reports_back(reports: list[Report]) -> None:
    """Reports that were framed one after another are parsed as they were, and fill the file."""
    data = b"".join(map(frame, reports))
    found, whole = parse(data)
    assert whole
    assert [vars(report) for report in found] == [vars(report) for report in reports]
    assert len(data) == sum(map(size, reports))


@given(REPORTS)
def test_a_tail_torn_at_any_byte_loses_the_last_report_only(reports: list[Report]) -> None:
    """Cut at any byte, a file gives every report that was whole, and says whether there is a torn one."""
    data = b""
    for whole, report in enumerate(reports):
        added = frame(report)
        for cut in range(1, len(added)):
            assert parse(data + added[:cut]) == (reports[:whole], False)
        data += added
        assert parse(data) == (reports[: whole + 1], True)


@given(REPORTS, st.data())
def test_a_changed_byte_never_makes_another_report(reports: list[Report], data: st.DataObject) -> None:
    """Where one byte of a file was changed, what is parsed is the reports before it."""
    framed = b"".join(map(frame, reports))
    if framed:
        at = data.draw(st.integers(0, len(framed) - 1))
        changed = bytearray(framed)
        changed[at] ^= data.draw(st.integers(1, 255))
        found, clean = parse(bytes(changed))
        assert not clean
        assert found == reports[: len(found)]
        assert sum(map(size, found)) <= at


def test_zeros_that_a_power_cut_left_are_no_reports() -> None:
    """A file system that lengthened a file and wrote nothing into it added no report."""
    report = Report("m", b"f" * 8, 7, 1, 2, b"record")
    for zeros in range(1, 64):
        assert parse(frame(report) + bytes(zeros)) == ([report], False)


def test_a_frame_is_what_its_description_says() -> None:
    """State outlives the code that wrote it: each field has its place and width, with a payment or without."""
    report = Report("name", b"fprint78", 3, 5, 7, b"record")
    body = b"fprint78" + struct.pack(">QQQB", 3, 5, 7, 4) + b"name" + b"record"
    plain = struct.pack(">I", len(body)) + body
    assert frame(report) == plain + sha256(plain).digest()[:4]
    assert OVERHEAD == 4 + 8 + 24 + 1 + 4
    report.journal = b"[1,2]"
    body = struct.pack(">I", 5) + b"[1,2]" + body
    paid = struct.pack(">I", len(body) | 1 << 31) + body
    assert frame(report) == paid + sha256(paid).digest()[:4]
    (found,), whole = parse(frame(report))
    assert (found.journal, found.record, whole) == (b"[1,2]", b"record", True)
    assert room_for("name", 6, False) == len(plain) + 4
    assert room_for("name", 6, True) == len(plain) + 4 + 136


def test_reports_are_equal_where_their_frames_are() -> None:
    """A report equals another of the same content, and neither one that differs nor anything else."""
    one, same, other = (Report("m", b"f" * 8, period, 1, 2, b"record") for period in (7, 7, 8))
    assert one == same
    assert one != other
    assert other != one
    assert one != frame(one)


@pytest.mark.parametrize("flag", [0, 1 << 31])
def test_a_frame_too_short_for_a_report_is_none(flag: int) -> None:
    """Bytes that pass their check, but have no room for the fields of a report, end the reading."""
    for length in range(33):
        body = struct.pack(">I", length | flag) + bytes(length)
        assert parse(body + sha256(body).digest()[:4]) == ([], False)
    body = struct.pack(">I", 33) + b"f" * 8 + struct.pack(">QQQB", 3, 5, 7, 0)
    assert parse(body + sha256(body).digest()[:4]) == ([Report("", b"f" * 8, 3, 5, 7, b"")], True)
