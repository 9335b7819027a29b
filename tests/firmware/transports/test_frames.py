from __future__ import annotations

import json
from pathlib import Path

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client import MemoryStorage, TransportError
from hubbub_client.mechanisms.names import NAMES
from hubbub_client.upload import batches_of, build
from hubbub_firmware.transports.frames import FrameTransport, metrics_in_order, port_of
from hubbub_firmware.transports.upload_batches import read_upload
from hubbub_firmware.trouble import REASONS

from tests.client.reporter.reporting import NOW, plan_of, reporter_of
from tests.firmware.transports.interpreters import INTERPRETERS, run
from tests.registries import registry_of

SMALL = ("hadamard-count-mean-sketch", "hadamard-response", "randomized-response", "one-bit-mean")


def small_plan(reports: int = 4):  # type: ignore[no-untyped-def]
    return plan_of(**{name.replace("-", "_"): {"mechanism": name, "reports_per_period": reports} for name in SMALL})


class Link:
    """A link of a few bytes that fails when it is told to."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.failing_after: int | None = None

    def __call__(self, data: bytes) -> None:
        if self.failing_after is not None and len(self.frames) >= self.failing_after:
            raise OSError(110, "no acknowledgement")
        self.frames.append(data)


BATCHES = st.lists(
    st.tuples(st.binary(min_size=8, max_size=8), st.integers(0, 2**53 - 1), st.binary(min_size=1, max_size=70_000)),
    max_size=20,
)


@given(st.binary(min_size=16, max_size=16), BATCHES)
def test_an_upload_is_read_back_as_it_was_built(upload_id: bytes, batches: list[tuple[bytes, int, bytes]]) -> None:
    """Whatever the client's builder writes, the frames' reader gives back; it agrees with msgpack."""
    body = build(upload_id, batches)
    assert read_upload(body) == (upload_id, batches)
    assert [1, upload_id, [list(batch) for batch in batches]] == msgpack.unpackb(body)


@given(st.data())
def test_a_damaged_upload_is_a_transport_error(data: st.DataObject) -> None:
    """Cut at any byte, with bytes after it, or with a byte changed: TransportError, or an upload of the same form."""
    body = build(bytes(16), [(b"f" * 8, 20_000, b"records"), (b"g" * 8, 1, b"x" * 300)])
    for damaged in (body[: data.draw(st.integers(0, len(body) - 1))], body + b"\0"):
        with pytest.raises(TransportError):
            read_upload(damaged)
    at = data.draw(st.integers(0, len(body) - 1))
    changed = body[:at] + bytes([body[at] ^ data.draw(st.integers(1, 255))]) + body[at + 1 :]
    try:
        upload_id, _ = read_upload(changed)
    except TransportError:
        return
    assert len(upload_id) == 16


def test_each_report_is_one_frame_of_its_plan_index_and_record() -> None:
    """The Reporter's reports leave as frames that name the metric by its place, in 11 bytes, and count as sent."""
    plan, link, storage = small_plan(), Link(), MemoryStorage()
    reporter = reporter_of(plan, storage, FrameTransport(plan, link))
    for name in plan.metrics:
        for value in ("1", "2") if "one_bit" in name else ("a", "b"):
            assert reporter.record(name, value)
    expected = sorted(bytes([sorted(plan.metrics).index(report.name)]) + report.record for _, report in reporter.log())
    assert reporter.flush().sent == 8
    assert sorted(link.frames) == expected
    assert max(map(len, link.frames)) <= 11


def test_a_record_that_never_fits_is_refused_at_once() -> None:
    """A plan with one record too long for the link is refused when the transport is made, by the metric's name."""
    plan = plan_of(m={"mechanism": "hadamard-response"}, sketch={"mechanism": "count-mean-sketch"})
    size = 1 + plan.metrics["sketch"].record_bytes
    FrameTransport(plan, Link(), size)
    with pytest.raises(TransportError, match=f"metric sketch: a frame of {size} bytes"):
        FrameTransport(plan, Link(), size - 1)


@pytest.mark.parametrize("stored", [False, True])
def test_a_link_that_fails_in_the_middle_goes_on_where_it_stopped(stored: bool) -> None:
    """The frames that were handed over are not sent again by the next attempt, after a reboot neither where it is
    stored, and all the others are."""
    plan, link, storage = small_plan(), Link(), MemoryStorage()
    transport = FrameTransport(plan, link, storage=storage if stored else None)
    reporter = reporter_of(plan, storage, transport)
    for value in ("a", "b", "c", "a"):
        assert reporter.record("hadamard_response", value)
    every = sorted(b"\x01" + report.record for _, report in reporter.log())
    link.failing_after = 3
    assert reporter.flush().kept == 4
    link.failing_after = None
    if stored:
        reporter = reporter_of(plan, storage, FrameTransport(plan, link, storage=storage))
    assert reporter.flush().sent == 4
    assert sorted(link.frames) == every


def test_reports_of_an_earlier_plan_do_not_hold_up_the_others() -> None:
    """An upload with a metric that the plan no longer has sends the rest and is answered with 400, so it is counted."""
    plan, link = small_plan(), Link()
    metric = plan.metrics["hadamard_response"]
    body = build(bytes(16), batches_of([(b"f" * 8, 1, b"x"), (metric.fingerprint, 1, bytes(metric.record_bytes))]))
    answer = FrameTransport(plan, link).send(body)
    assert answer.status == 400
    assert "1 batches" in answer.text
    assert link.frames == [b"\x01" + bytes(metric.record_bytes)]


def test_a_new_plan_in_the_middle_of_an_upload_loses_no_frame() -> None:
    """Cut off after some frames, an upload goes on with the next record under a plan of fewer, or more, metrics."""
    other = {"mechanism": "hadamard-response"}
    both, one = plan_of(a=other, b=other), plan_of(b=other)
    first, second = both.metrics["a"], both.metrics["b"]
    records = [bytes([n]) * second.record_bytes for n in (1, 2, 3)]
    body = build(
        bytes(16),
        batches_of([(first.fingerprint, 1, bytes(first.record_bytes)) for _ in range(2)])
        + batches_of([(second.fingerprint, 1, record) for record in records]),
    )
    for before, after in ((both, one), (one, both)):
        link, storage = Link(), MemoryStorage()
        link.failing_after = 3 if before is both else 1  # one of b's, the others being a's
        with pytest.raises(OSError, match="no acknowledgement"):
            FrameTransport(before, link, storage=storage).send(body)
        link.failing_after = None
        sent = FrameTransport(after, link, storage=storage).send(body)
        assert sent.status == (400 if after is one else 200)
        assert sorted(frame[1:] for frame in link.frames if frame[1:] in records) == records


def test_a_trouble_is_a_frame_with_its_code_and_its_count() -> None:
    """255, the place of the reason, and the count in 4 bytes; what did not happen is not sent, and counts stop at
    2^32 - 1."""
    link = Link()
    FrameTransport(small_plan(), link).send_troubles({"clock": 2, "entropy": 2**40, "storage": 0, "unknown": 9})
    assert link.frames == [b"\xff\x00\xff\xff\xff\xff", b"\xff\x05\x02\x00\x00\x00"]
    assert REASONS == ("entropy", "entropy-repeat", "state-damaged", "state-rolled-back", "storage", "clock")


def test_the_port_changes_with_the_plan_and_not_with_the_order_of_its_dict() -> None:
    """Same metrics, same port, within 1 to 223; of 40 changed plans hardly any has it too."""
    ports = [port_of(plan_of(m={"mechanism": "randomized-response", "period": f"{n}d"})) for n in range(1, 41)]
    assert all(1 <= port <= 223 for port in ports)
    assert len(set(ports)) > 30
    plan = small_plan()
    before = port_of(plan)
    plan.metrics = dict(reversed(list(plan.metrics.items())))
    assert port_of(plan) == before
    assert [metric.name for metric in metrics_in_order(plan)] == sorted(plan.metrics)


def test_the_plan_index_is_the_place_in_the_compiled_plan(tmp_path: Path) -> None:
    """What ``hubbub compile`` lists is in the order of the names, whatever the registry's order: the place is one."""
    registry = registry_of(
        tmp_path, **{name: {"mechanism": "randomized-response"} for name in ("z", "a_b", "ab", "a1")}
    )
    names = [entry["name"] for entry in registry.document["metrics"]]
    assert names == [metric.name for metric in metrics_in_order(registry.plan)] == sorted(names)


def test_more_metrics_than_a_byte_tells_apart_are_refused() -> None:
    """255 metrics have a plan index each; one more is an error."""
    plan = small_plan()
    plan.metrics = {f"m{n}": plan.metrics["hadamard_response"] for n in range(256)}
    with pytest.raises(TransportError, match="256 metrics"):
        FrameTransport(plan, Link())


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_frames_leave_real_micropython(interpreter: str, tmp_path: Path) -> None:
    """On both interpreters the same plan gives the same port, and every report of every small mechanism one frame."""
    registry = registry_of(tmp_path, **{name.replace("-", "_"): {"mechanism": name} for name in NAMES if name in SMALL})
    (tmp_path / "plan.json").write_text(json.dumps(registry.document))
    program = """
import json
from hubbub_client import MemoryStorage, Plan, Reporter
from hubbub_firmware.transports.frames import FrameTransport
sent = []
plan = Plan.load("plan.json")
transport = FrameTransport(plan, sent.append)
reporter = Reporter(plan, MemoryStorage(), transport, clock=lambda: int(sys.argv[1]), sleep=lambda _: None)
for name in plan.metrics:
    assert reporter.record(name, "37" if name == "one_bit_mean" else "a"), reporter.problem
assert reporter.flush().sent == len(plan.metrics), reporter.problem
transport.send_troubles({"storage": 7})
print(json.dumps([transport.port, [list(frame) for frame in sent]]))
"""
    port, frames = json.loads(run(interpreter, program, str(NOW), heap="256k", cwd=tmp_path))
    assert port == port_of(registry.plan)
    widths = [1 + metric.record_bytes for metric in metrics_in_order(registry.plan)]
    assert sorted((frame[0], len(frame)) for frame in frames) == [*enumerate(widths), (255, 6)]
    assert frames[-1] == [255, 4, 7, 0, 0, 0]
