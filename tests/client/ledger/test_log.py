from __future__ import annotations

import gc
import os

import pytest

from hubbub_client import Answer, MemoryStorage
from hubbub_client.report_files import SETTLED, fate_of
from hubbub_client.sent_log import MOST_FILES

from tests.client.reporter.reporting import NOW, Collector, FailingStorage, plan_of, reporter_of, sketch_plan

PLAN = sketch_plan(reports=10_000)
METRIC = PLAN.metric("m")


def test_the_log_shows_exactly_what_was_sent() -> None:
    """For each report that arrived the log holds its very bytes, metric, period and cost, and no value."""
    collector = Collector()
    plan = plan_of(m={"mechanism": "count-mean-sketch"}, r={"mechanism": "rappor", "reports_per_period": 2})
    reporter = reporter_of(plan, transport=collector)
    for name in "mrr":
        assert reporter.record(name, "a value of one's own")
    assert [state for state, _ in reporter.log()] == ["pending"] * 3
    assert reporter.flush().sent == 3
    log = reporter.log()
    assert [state for state, _ in log] == ["sent"] * 3
    assert [report.name for _, report in log] == ["m", "r", "r"]
    charges = plan.metric("r").charges
    assert [report.charge for _, report in log] == [
        plan.metric("m").epsilon_nano, charges[0], charges[1] - charges[0],
    ]  # fmt: skip
    assert sum(report.charge for _, report in log) == reporter.spent()
    assert [report.serial for _, report in log] == [3, 4, 5]
    (batches,) = collector.uploads().values()
    for fingerprint, period, joined in batches:
        records = [r.record for _, r in log if (r.fingerprint, r.period) == (fingerprint, period)]
        assert joined == b"".join(sorted(records))


def test_the_log_says_what_was_refused_and_what_gave_way() -> None:
    """Every report ends up as pending, sent, refused or dropped, in the order in which it was made."""
    collector = Collector(Answer(400))
    reporter = reporter_of(PLAN, transport=collector, limit=1024)
    assert reporter.record("m", "a")
    assert reporter.flush().refused == 1
    for _ in range(19):
        assert reporter.record("m", "a")
    states = [state for state, _ in reporter.log()]
    assert states[:3] == ["refused", "dropped", "dropped"]
    assert states.count("dropped") == reporter.counts["dropped"]
    kept = states.count("pending")
    assert reporter.flush().sent == kept
    serials = [report.serial for _, report in reporter.log()]
    assert serials == sorted(set(serials))


def test_the_log_is_bounded() -> None:
    """It takes no more than a quarter of the limit, or the newest upload, and no more than MOST_FILES files."""
    for limit, reports, each in ((4096, 300, 1), (1 << 20, 2 * MOST_FILES, 1), (8192, 400, 20)):
        storage = MemoryStorage()
        reporter = reporter_of(PLAN, storage, limit=limit, source=os.urandom)
        for number in range(reports):
            assert reporter.record("m", "a")
            if number % each == 0:
                reporter.flush()
            settled = [data for name, data in storage.files.items() if fate_of(name) in SETTLED]
            assert len(settled) <= MOST_FILES
            assert len(settled) <= 1 or sum(map(len, settled)) <= limit // 4
        assert reporter.flush().problem is None
        assert reporter.log()[-1][0] == "sent"


def test_a_log_that_is_too_long_is_cut_after_a_restart_too() -> None:
    """A Reporter that finds more than it may keep forgets the oldest when it next adds to the log."""
    storage = MemoryStorage()
    generous = reporter_of(PLAN, storage)
    for _ in range(30):
        assert generous.record("m", "a")
        assert generous.flush().sent == 1
    frugal = reporter_of(PLAN, storage, limit=1024)
    assert frugal.record("m", "a")
    assert frugal.flush().sent == 1
    serials = [report.serial for _, report in frugal.log()]
    assert serials == list(range(33 - len(serials) + 1, 34))
    assert len(serials) < 10


def test_a_damaged_state_directory_gives_an_empty_log() -> None:
    """Where storage fails the log is empty and the failure counted."""
    reporter = reporter_of(PLAN, FailingStorage(1, "before", lambda: OSError(5, "io"), {}))
    assert reporter.log() == []
    assert reporter.counts == {"storage": 1}


@pytest.mark.parametrize("value", ["a value that nobody else has"])
def test_the_log_holds_no_value(value: str) -> None:
    """Nothing that a logged report holds is the value, or has it inside."""
    reporter = reporter_of(plan_of(r={"mechanism": "rappor"}), clock=lambda: NOW)
    assert reporter.record("r", value)
    for _, report in reporter.log():
        for thing in gc.get_referents(vars(report)):
            assert value not in str(thing)
