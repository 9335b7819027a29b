from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hubbub_client import Answer, FileStorage

from tests.client.reporter.reporting import Collector, reporter_of, sketch_plan


class Hanging(Collector):
    """Says that a body has entered, and waits until it may leave."""

    def __init__(self) -> None:
        super().__init__()
        self.entered, self.leave = threading.Event(), threading.Event()

    def send(self, body: bytes) -> Answer:
        self.entered.set()
        assert self.leave.wait(30)
        return super().send(body)


def test_recording_does_not_wait_for_an_upload() -> None:
    """While a flush hangs in the network, record returns, and a second flush leaves the work to the first."""
    collector = Hanging()
    reporter = reporter_of(sketch_plan(reports=3), transport=collector)
    assert reporter.record("m", "a")
    with ThreadPoolExecutor() as pool:
        first = pool.submit(reporter.flush)
        assert collector.entered.wait(30)
        assert reporter.record("m", "b")
        second = reporter.flush()
        assert (second.sent, second.kept, second.problem) == (0, 2, "another flush is running")
        collector.leave.set()
        assert first.result().sent == 1
    assert reporter.flush().sent == 1
    assert len(collector.uploads()) == 2


def test_threads_that_record_together_get_no_more_than_the_budget() -> None:
    """Eight threads that record and flush at once make exactly the reports that the period allows, each sent once."""
    plan = sketch_plan(reports=100)
    collector = Collector()
    reporter = reporter_of(plan, transport=collector)
    start = threading.Barrier(8)

    def work(_: int) -> int:
        start.wait(30)
        made = 0
        for number in range(40):
            made += reporter.record("m", "a")
            if number % 10 == 0:
                reporter.flush()
        return made

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(8))) == 100
    reporter.flush()
    records = collector.records(plan.metric("m").record_bytes)
    assert len(records) == len(set(records)) == 100
    assert len(collector.bodies) == len(collector.uploads())
    assert reporter.counts == {"period-used-up": 220}


def test_closing_during_a_flush_gives_the_state_free(tmp_path: Path) -> None:
    """A flush that is in the network when the reporter is closed takes nothing up again; its upload counts once."""
    collector = Hanging()
    reporter = reporter_of(sketch_plan(), FileStorage(str(tmp_path / "state")), collector)
    assert reporter.record("m", "a")
    with ThreadPoolExecutor() as pool:
        flushing = pool.submit(reporter.flush)
        assert collector.entered.wait(30)
        reporter.close()
        collector.leave.set()
        assert "was closed" in str(flushing.result().problem)
    with reporter_of(sketch_plan(), FileStorage(str(tmp_path / "state")), collector) as following:
        assert following.flush().sent == 1
    assert len(collector.uploads()) == 1  # sent twice, under one id
    assert len(collector.bodies) == 2
