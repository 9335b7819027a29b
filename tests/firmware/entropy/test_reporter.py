from __future__ import annotations

import pytest

from hubbub_client import MemoryStorage, Reporter
from hubbub_client.errors import EntropyError
from hubbub_firmware.trouble import Troubles

from tests.client.reporter.reporting import DAY, NOW, Collector, sketch_plan
from tests.firmware.entropy.noise import Noise, opened, stuck_from
from tests.firmware.entropy.test_generator import BOOT


def test_a_reporter_records_with_it() -> None:
    """Secret, noise, ids: all of a Reporter's random bytes come from the board's source, and reports arrive."""
    storage, collector = MemoryStorage(), Collector()
    entropy = opened(Noise(1), storage)
    reporter = Reporter(sketch_plan(reports=9), storage, collector, clock=lambda: NOW, source=entropy)
    assert all(reporter.record("m", "a") for _ in range(9))
    assert reporter.flush().sent == 9
    assert len(set(collector.records(reporter.plan.metrics["m"].record_bytes))) == 9
    assert reporter.counts == {}


def test_a_dead_source_records_nothing_and_is_counted() -> None:
    """When the noise dies, no report is made, no budget is spent, what was made before still leaves, and both counts,
    the Reporter's and the board's, say so.
    """
    storage, collector = MemoryStorage(), Collector()
    entropy = opened(Noise(1, change=stuck_from(BOOT)), storage)
    now = NOW
    reporter = Reporter(sketch_plan(reports=9), storage, collector, clock=lambda: now, source=entropy)
    assert reporter.record("m", "a")
    spent = reporter.spent()
    with pytest.raises(EntropyError):
        entropy.fresh(1)
    for _ in range(3):
        now += DAY
        assert not reporter.record("m", "a")
    assert reporter.counts == {"entropy": 3}
    assert "stuck" in str(reporter.problem)
    assert reporter.spent() == spent
    assert len([state for state, _ in reporter.log() if state == "pending"]) == 1
    assert Troubles(storage).counts() == {"entropy": 1}


def test_a_generator_that_is_never_opened_leaves_no_reporter_to_guess() -> None:
    """A boot that refuses gives no source at all, so there is nothing that a Reporter could be made with."""
    storage = MemoryStorage()
    with pytest.raises(EntropyError, match="no random bytes on this boot"):
        opened(Noise(1, change=stuck_from(0)), storage)
    assert Troubles(storage).counts() == {"entropy": 1}
    assert list(storage.files) == ["troubles"]
