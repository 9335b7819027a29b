"""The byte of a public dimension on its way over a tiny link: passed on as it is, checked as the collector would."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.transport import TransportError
from hubbub_client.upload import batches_of
from hubbub_firmware.gateway.frames import FrameError, FrameReader, FrameReport
from hubbub_firmware.transports.frames import FrameTransport, port_of

from tests.client.reporter.reporting import NOW, plan_of, reporter_of

COUNTRIES = {"name": "country", "values": ["CH", "DE", "FR"]}
PLAN = plan_of(
    a={"mechanism": "randomized-response", "dimension": COUNTRIES, "reports_per_period": 3},
    b={"mechanism": "rappor", "dimension": COUNTRIES, "reports_per_period": 3},
)


def test_frames_carry_the_byte_unchanged() -> None:
    """What a Reporter sends as frames, byte of the dimension and all, is what a gateway puts into an upload."""
    sent: list[bytes] = []
    reporter = reporter_of(PLAN, transport=FrameTransport(PLAN, sent.append, 31))
    for name in ("a", "b"):
        for country in COUNTRIES["values"]:
            assert reporter.record(name, "a", country)
    kept = [(report.fingerprint, report.period, report.record) for _, report in reporter.log()]
    assert reporter.flush().sent == 6
    reader = FrameReader(PLAN)
    read = [reader.read(frame, port_of(PLAN), NOW) for frame in sent]
    reports = [(one.fingerprint, one.period, one.record) for one in read if isinstance(one, FrameReport)]
    assert batches_of(reports) == batches_of(kept)
    assert sorted(record[0] for _, _, record in reports) == [0, 0, 1, 1, 2, 2]


@given(st.integers(0, 255), st.integers(0, 255))
def test_a_frame_is_taken_where_the_collector_would_take_it(cell: int, own: int) -> None:
    """A byte past the list, and a field of the mechanism past its domain, are frames that no sensor makes."""
    frame = bytes([0, cell, own])
    if cell < 3 and own < 5:
        said = FrameReader(PLAN).read(frame, None, NOW)
        assert isinstance(said, FrameReport)
        assert said.record == frame[1:]
    else:
        with pytest.raises(FrameError) as caught:
            FrameReader(PLAN).read(frame, None, NOW)
        assert caught.value.reason == "range"


def test_the_byte_counts_where_frames_are_too_small() -> None:
    """A link whose frames would hold the mechanism's record, and not the byte besides, is refused at the start."""
    width = PLAN.metrics["b"].record_bytes
    FrameTransport(PLAN, print, 1 + width)
    with pytest.raises(TransportError):
        FrameTransport(PLAN, print, width)
