from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.upload import batches_of
from hubbub_firmware.gateway.frames import FRAME_REASONS, ClockError, FrameError, FrameReader, FrameReport, FrameTrouble
from hubbub_firmware.transports.frames import BLE_BYTES, FrameTransport, port_of
from hubbub_firmware.trouble import REASONS

from tests.client.reporter.reporting import NOW, plan_of, reporter_of
from tests.firmware.gateway.gateways import small_plan
from tests.registries import MECHANISMS, values_of


def test_what_a_sensor_sends_is_what_a_gateway_reads() -> None:
    """Of every mechanism: the frames of a Reporter's upload give its very batches back, with the gateway's period."""
    names = {name.replace("-", "_"): name for name in MECHANISMS}
    plan = plan_of(**{key: {"mechanism": name, "reports_per_period": 3} for key, name in names.items()})
    sent: list[bytes] = []
    widest = 1 + max(metric.record_bytes for metric in plan.metrics.values())
    assert widest <= BLE_BYTES
    reporter = reporter_of(plan, transport=FrameTransport(plan, sent.append, widest))
    for key, name in names.items():
        for value in values_of(name):
            assert reporter.record(key, value), reporter.problem
    kept = [(report.fingerprint, report.period, report.record) for _, report in reporter.log()]
    assert reporter.flush().sent == len(kept) == 3 * len(names)
    reader = FrameReader(plan)
    read = [reader.read(frame, port_of(plan), NOW) for frame in sent]
    reports = [(one.fingerprint, one.period, one.record) for one in read if isinstance(one, FrameReport)]
    assert batches_of(reports) == batches_of(kept)


BAD = [
    (b"", "empty"), (b"\x02\x00", "index"), (b"\xfe\x00", "index"), (b"\x00", "length"), (b"\x00\x00\x00", "length"),
    (b"\x00\x05", "range"), (b"\x00\x08", "range"), (b"\x00\xff", "range"), (b"\xff", "trouble"),
    (b"\xff\x06\x01\x00\x00\x00", "trouble"), (b"\xff\x00\x01\x00\x00", "trouble"), (b"\xff" * 7, "trouble"),
]  # fmt: skip


@pytest.mark.parametrize(("frame", "reason"), BAD)
def test_a_bad_frame_has_a_reason(frame: bytes, reason: str) -> None:
    """Nothing, an index or a reason that there is none of, another length, a value outside its domain, a padding bit
    of 1: each is refused, since one of them would have the collector refuse the whole upload."""
    with pytest.raises(FrameError) as caught:
        FrameReader(small_plan()).read(frame, None, NOW)
    assert caught.value.reason == reason
    assert reason in FRAME_REASONS


@given(st.binary(max_size=12))
def test_any_bytes_are_a_report_a_trouble_or_an_error(frame: bytes) -> None:
    """Whatever arrives, the reader gives one of three, and a report is one that the collector would take."""
    plan = small_plan()
    try:
        said = FrameReader(plan).read(frame, None, NOW)
    except FrameError:
        return
    if isinstance(said, FrameReport):
        metric = plan.metrics["ab"[frame[0]]]
        assert (said.fingerprint, said.period) == (metric.fingerprint, NOW // metric.period)
        assert int.from_bytes(said.record, "little") < (5 if metric.name == "a" else 1 << 14)


def test_another_plan_s_port_is_refused_unless_any_is_taken() -> None:
    """A frame on another LoRaWAN port, so of another plan, is not read as this one's; a link without ports has none."""
    plan = small_plan()
    other = 1 + port_of(plan) % 223
    with pytest.raises(FrameError, match=f"send on port {port_of(plan)}"):
        FrameReader(plan).read(b"\x00\x01", other, NOW)
    expected = FrameReader(plan).read(b"\x00\x01", port_of(plan), NOW)
    assert FrameReader(plan, any_port=True).read(b"\x00\x01", other, NOW) == expected
    assert FrameReader(plan).read(b"\x00\x01", None, NOW) == expected


def test_an_expired_metric_and_a_clock_that_was_never_set() -> None:
    """After the expiry a frame is refused for good; in 1970 or 2000 none is, as none can be stamped."""
    plan = small_plan()
    with pytest.raises(FrameError, match="expired"):
        FrameReader(plan).read(b"\x00\x01", None, plan.metrics["a"].expires)
    for wrong in (0, 946_684_800):
        for frame in (b"\x00\x01", b"", b"\x09"):
            with pytest.raises(ClockError, match="never set"):
                FrameReader(plan).read(frame, None, wrong)


def test_troubles_are_read_back() -> None:
    """Each trouble that a sensor sends is its reason and its count here."""
    plan = small_plan()
    sent: list[bytes] = []
    FrameTransport(plan, sent.append).send_troubles({reason: n + 1 for n, reason in enumerate(REASONS)})
    assert [FrameReader(plan).read(frame, None, NOW) for frame in sent] == [
        FrameTrouble(reason, n + 1) for n, reason in enumerate(REASONS)
    ]
