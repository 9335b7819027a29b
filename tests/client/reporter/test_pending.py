from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub_client import Answer, MemoryStorage
from hubbub_client.frames import OVERHEAD

from tests.client.reporter.reporting import DAY, NOW, Collector, Noise, plan_of, reporter_of, sketch_plan

WIDTH = sketch_plan().metric("m").record_bytes
FRAME = OVERHEAD + len("m") + WIDTH


def files(storage: MemoryStorage, kind: str) -> list[str]:
    return sorted(name for name in storage.files if name.startswith(kind))


def test_an_upload_s_id_is_in_its_name_and_in_its_body() -> None:
    """The id is drawn when the file is begun, survives the closing rename, and is the one that is sent."""
    storage = MemoryStorage()
    collector = Collector(*[Answer(503)] * 4)
    reporter = reporter_of(sketch_plan(reports=2), storage, collector)
    assert reporter.record("m", "a")
    (opened,) = files(storage, "open-")
    content = storage.files[opened]
    assert reporter.flush().kept == 1
    (closed,) = files(storage, "upload-")
    assert closed.removeprefix("upload-") == opened.removeprefix("open-")
    assert storage.files[closed] == content
    assert list(collector.uploads()) == [bytes.fromhex(closed.split("-")[2])]


def test_retries_by_later_reporters_are_identical_and_newer_reports_have_a_new_id() -> None:
    """Whoever retries an upload, its id and content are the same; what was recorded meanwhile goes in another one."""
    storage = MemoryStorage()
    collector = Collector(*[Answer(500)] * 4, OSError("gone"), *[Answer(429)] * 3)
    plan = sketch_plan(reports=10)
    assert reporter_of(plan, storage).record("m", "a")
    for expected in (1, 2):
        reporter = reporter_of(plan, storage, collector)
        assert reporter.flush().kept == expected
        assert reporter_of(plan, storage, source=os.urandom).record("m", "a")
    assert len(set(collector.bodies)) == 1
    assert reporter_of(plan, storage, collector).flush().sent == 3
    assert len(collector.uploads()) == 2
    assert len(set(collector.records(WIDTH))) == 3


def test_a_long_outage_does_not_make_many_small_uploads() -> None:
    """However often a device flushes in vain, what waits is in as few files as the limit's shares ask for."""
    storage = MemoryStorage()
    collector = Collector(*[Answer(503)] * 4 * 100)
    reporter = reporter_of(sketch_plan(reports=1000), storage, collector)
    for number in range(100):
        assert reporter.record("m", "a")
        assert reporter.flush().kept == number + 1
    assert len(files(storage, "open-") + files(storage, "upload-")) == 2
    collector.bodies.clear()
    assert reporter.flush().sent == 100
    assert len(collector.bodies) == 2


def test_a_restarted_device_goes_on_with_the_file_it_had_open() -> None:
    """A Reporter made anew appends to an open file that is whole, so a device that restarts often sends few uploads."""
    storage = MemoryStorage()
    for _ in range(5):
        assert reporter_of(sketch_plan(reports=10), storage, source=os.urandom).record("m", "a")
    assert len(files(storage, "open-")) == 1
    collector = Collector()
    assert reporter_of(sketch_plan(reports=10), storage, collector).flush().sent == 5
    assert len(collector.uploads()) == 1


@pytest.mark.parametrize("cut", range(1, FRAME))
def test_a_torn_tail_loses_one_report_and_nothing_after_it(cut: int) -> None:
    """After a crash in the middle of an append, the reports before it and those made later all arrive."""
    storage = MemoryStorage()
    plan = sketch_plan(reports=10)
    reporter = reporter_of(plan, storage)
    for _ in range(3):
        assert reporter.record("m", "a")
    (opened,) = files(storage, "open-")
    storage.files[opened] = storage.files[opened][:-cut]
    collector = Collector()
    after = reporter_of(plan, storage, collector, source=os.urandom)
    assert after.record("m", "a")
    assert after.flush().sent == 3
    assert after.counts == {"torn": 1}
    assert len(set(collector.records(WIDTH))) == 3
    assert files(storage, "upload-") == []


def test_a_file_that_holds_only_a_torn_report_is_removed_and_never_sent() -> None:
    """An upload with no report in it is not sent."""
    storage = MemoryStorage()
    reporter = reporter_of(sketch_plan(), storage)
    assert reporter.record("m", "a")
    (opened,) = files(storage, "open-")
    storage.files[opened] = storage.files[opened][:-1]
    collector = Collector()
    after = reporter_of(sketch_plan(), storage, collector)
    assert (after.flush().sent, after.counts, collector.bodies) == (0, {"torn": 1}, [])
    assert files(storage, "") == ["ledger", "secret"]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3)), min_size=1, max_size=12))
@settings(max_examples=30)
def test_one_upload_has_one_batch_for_each_metric_and_period(reports: list[tuple[str, int]]) -> None:
    """Reports of one metric and period travel together, in the order of their content and not of their making."""
    plan = plan_of(
        a={"mechanism": "count-mean-sketch", "reports_per_period": 100},
        b={"mechanism": "hadamard-response", "reports_per_period": 100},
    )
    reports = sorted(reports, key=lambda report: report[1])
    day = 0
    collector = Collector()
    reporter = reporter_of(plan, transport=collector, clock=lambda: NOW + day * DAY)
    for name, day in reports:  # noqa: B007 - the clock reads it
        assert reporter.record(name, "a")
    assert reporter.flush().sent == len(reports)
    (batches,) = collector.uploads().values()
    keys = [(fingerprint, period) for fingerprint, period, _ in batches]
    assert keys == sorted({(plan.metric(name).fingerprint, (NOW + day * DAY) // DAY) for name, day in reports})
    for fingerprint, _, joined in batches:
        width = next(m.record_bytes for m in plan.metrics.values() if m.fingerprint == fingerprint)
        records = [joined[at : at + width] for at in range(0, len(joined), width)]
        assert records == sorted(records)


def test_the_limit_holds_and_the_oldest_give_way() -> None:
    """Pending files never take more than the limit; what is dropped is the oldest, and is counted exactly."""
    limit = 4096
    storage = MemoryStorage()
    collector = Collector()
    plan = sketch_plan(reports=1000)
    reporter = reporter_of(plan, storage, collector, limit=limit)
    made: list[bytes] = []
    for _ in range(300):
        assert reporter.record("m", "a")
        pending = [storage.files[name] for name in storage.files if name.startswith(("open-", "upload-"))]
        assert sum(map(len, pending)) <= limit
        made.append(reporter.log()[-1][1].record)
    result = reporter.flush()
    assert result.sent + result.dropped == 300
    assert result.dropped == reporter.counts["dropped"]
    assert sorted(collector.records(WIDTH)) == sorted(made[result.dropped :])
    # No more than one upload's worth of room was wasted.
    assert result.sent * FRAME > limit - limit // 16 - FRAME


def test_a_limit_that_was_lowered_is_kept_at_the_next_report() -> None:
    """A Reporter with a smaller limit drops what is too much before it adds to it."""
    storage = MemoryStorage()
    plan = sketch_plan(reports=1000)
    generous = reporter_of(plan, storage, limit=8192)
    for _ in range(100):
        assert generous.record("m", "a")
    frugal = reporter_of(plan, storage, limit=1024, source=os.urandom)
    assert frugal.record("m", "a")
    assert sum(len(storage.files[name]) for name in files(storage, "open-") + files(storage, "upload-")) <= 1024


def test_the_upload_that_is_being_sent_is_not_dropped() -> None:
    """While a slow collector reads an upload, newer reports push out others and not that one."""
    storage = MemoryStorage()
    plan = sketch_plan(reports=1000)

    class Slow(Collector):
        def send(self, body: bytes) -> Answer:
            if not self.bodies:
                for _ in range(100):
                    assert reporter.record("m", "a")
            return super().send(body)

    collector = Slow()
    reporter = reporter_of(plan, storage, collector, limit=2048)
    for _ in range(10):
        assert reporter.record("m", "a")
    (first,) = (files(storage, "upload-") + files(storage, "open-"))[:1]
    result = reporter.flush()
    assert bytes.fromhex(first.split("-")[2]) in collector.uploads()
    result_after = reporter.flush()
    assert result.sent + result_after.sent + reporter.counts["dropped"] == 110


def test_files_lie_on_disk_under_the_names_the_documentation_gives(tmp_path: Path) -> None:
    """A state directory holds secret, ledger, lock, and open and closed uploads, and nothing else."""
    with reporter_of(sketch_plan(), str(tmp_path), source=Noise()) as reporter:
        assert reporter.record("m", "a")
    names = sorted(os.listdir(tmp_path))
    assert names[:2] == ["ledger", "lock"]
    assert names[2].startswith("open-00000001-")
    assert names[3:] == ["secret"]


@pytest.mark.parametrize(("width", "reports"), [(16384, 300), (2, 9000)])
def test_no_upload_is_larger_than_a_collector_takes(width: int, reports: int) -> None:
    """However large the limit, a body stays below 1 MiB and 4096 batches, so that no collector refuses it for good."""
    plan = plan_of(
        m={"mechanism": "count-mean-sketch", "reports_per_period": reports, "lifetime_epsilon": 10**6, "width": width}
    )
    collector = Collector()
    reporter = reporter_of(plan, MemoryStorage(), collector, limit=64 << 20)
    for _ in range(reports):
        assert reporter.record("m", "a")
    assert reporter.flush().sent == reports
    assert max(len(body) for body in collector.bodies) < 1 << 20
    assert len(collector.bodies) > 1
