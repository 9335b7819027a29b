from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

import pytest

from hubbub_client import Answer, MemoryStorage, Reporter, upload
from hubbub_client.frames import parse
from hubbub_client.ledger import Ledger
from hubbub_client.report_files import PENDING, fate_of

from tests.client.reporter.reporting import (
    DAY,
    NOW,
    Collector,
    FailingStorage,
    PowerCut,
    reporter_of,
    sketch_plan,
)

PER_PERIOD = 3
LIFETIME = 7
PLAN = sketch_plan(reports=PER_PERIOD, lifetime=LIFETIME)
WIDTH = PLAN.metric("m").record_bytes
LIMIT = 256  # so little that the log of what was sent overflows


class DyingCollector(Collector):
    """A collector in whose reach the device dies, before or after send number ``at`` arrived."""

    def __init__(self, at: int, arrives: bool) -> None:
        super().__init__()
        self._at = at
        self._arrives = arrives
        self.sends = 0

    def send(self, body: bytes) -> Answer:
        self.sends += 1
        if self.sends == self._at:
            if self._arrives:
                super().send(body)
            raise PowerCut
        return super().send(body)


def live(reporter: Reporter) -> None:
    """What a device does in a day or two: more than it may, a flush in the middle, and some left over."""
    for _ in range(2):
        reporter.record("m", "a")
    reporter.flush()
    for _ in range(PER_PERIOD):
        reporter.record("m", "b")
    reporter.flush()
    reporter.record("m", "c")


def check(storage: MemoryStorage, collector: Collector) -> None:
    """No report left the device, or waits to, that was not paid for; none left under two ids, or one id with two."""
    storage = MemoryStorageOf(storage.files)
    ledger = Ledger.load(storage)
    spent = ledger.total() if ledger else 0
    delivered = collector.records(WIDTH)
    assert len(set(delivered)) == len(delivered)
    waiting = [
        record
        for name, data in storage.files.items()
        if fate_of(name) in PENDING
        for record in [report.record for report in parse(data)[0]]
    ]
    left = set(delivered) | set(waiting)
    metric = PLAN.metric("m")
    assert spent % metric.epsilon_nano == 0
    assert len(left) <= spent // metric.epsilon_nano <= LIFETIME
    periods = [period for batches in collector.uploads().values() for _, period, r in batches for _ in r[::WIDTH]]
    assert all(periods.count(period) <= PER_PERIOD for period in periods)


class MemoryStorageOf(MemoryStorage):
    """What a power cut left."""

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__()
        self.files = files


def run(storage: MemoryStorage, collector: Collector, second: Collector, life: Callable[[Reporter], None]) -> None:
    """A life that may end early, then two more days on what is left, to the same collector in the end."""
    with suppress(PowerCut):
        life(reporter_of(PLAN, storage, collector, source=os.urandom, limit=LIMIT))
    check(storage, collector)
    second.bodies = collector.bodies
    for day in (0, 1, 2):
        left = MemoryStorageOf(storage.files)
        clock = lambda day=day: NOW + day * DAY  # noqa: E731
        life(reporter_of(PLAN, left, second, source=os.urandom, clock=clock, limit=LIMIT))
        check(left, second)
    last = reporter_of(PLAN, MemoryStorageOf(storage.files), second, source=os.urandom)
    assert last.flush().kept == 0
    assert set(last.counts) <= {"torn"}
    check(storage, second)


def operations() -> list[str]:
    storage = FailingStorage(0, "", PowerCut, {})
    live(reporter_of(PLAN, storage, limit=LIMIT))
    return storage.log


def test_the_crash_tests_reach_every_operation() -> None:
    """The life that is cut short below uses every kind of storage operation, each more than once."""
    log = operations()
    assert all(log.count(kind) > 1 for kind in ("read", "write", "append", "rename", "remove", "names"))


@pytest.mark.parametrize("how", ["before", "half", "after"])
def test_a_power_cut_at_any_storage_operation_never_undercounts(how: str) -> None:
    """Cut before, in the middle of or after any operation, spent budget covers every report; none goes twice."""
    for at in range(1, len(operations()) + 1):
        storage = FailingStorage(at, how, PowerCut, {})
        run(storage, Collector(), Collector(), live)
        assert storage.operations == at


@pytest.mark.parametrize("how", ["before", "half", "after"])
def test_a_failing_storage_operation_never_undercounts_and_never_raises(how: str) -> None:
    """After an OSError from any operation, the Reporter goes on with what storage really holds."""
    for at in range(1, len(operations()) + 1):
        storage = FailingStorage(at, how, lambda: OSError(28, "no space left"), {})
        run(storage, Collector(), Collector(), live)
        assert storage.operations >= at


@pytest.mark.parametrize("arrives", [False, True])
@pytest.mark.parametrize("at", [1, 2])
def test_a_power_cut_while_sending_repeats_the_same_upload(at: int, arrives: bool) -> None:
    """Cut before or after an upload arrived, the next attempt carries the same id and the same content."""
    storage = MemoryStorage()
    collector = DyingCollector(at, arrives)
    run(storage, collector, Collector(), live)
    assert collector.sends == at


def test_a_ledger_that_spends_after_it_encodes_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The crash test fails on a ledger that is stored only after the report was queued."""
    honest = Ledger.spend
    delayed: list[Callable[[], None]] = []

    def spend(self: Ledger, metric: object, now: int, tag: str) -> int:
        save = self.save
        monkeypatch.setattr(self, "save", lambda: delayed.append(save), raising=False)
        return honest(self, metric, now, tag)  # type: ignore[arg-type]

    def late(reporter: Reporter) -> None:
        for _ in range(2):
            reporter.record("m", "a")
            while delayed:
                delayed.pop()()

    monkeypatch.setattr(Ledger, "spend", spend)
    caught = []
    for at in range(1, 20):
        delayed.clear()
        try:
            run(FailingStorage(at, "before", PowerCut, {}), Collector(), Collector(), late)
        except AssertionError:
            caught.append(at)
    assert caught


def test_an_id_drawn_for_each_attempt_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The crash test fails on a client that gives an upload a new id each time it is sent."""
    honest = upload.build
    monkeypatch.setattr("hubbub_client.pending.build", lambda _, batches: honest(os.urandom(16), batches))
    with pytest.raises(AssertionError):
        run(MemoryStorage(), DyingCollector(1, arrives=True), Collector(), live)
