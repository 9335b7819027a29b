"""A ledger that is stored with the reports it pays for holds what one with its own file does, at one write each."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from hubbub_client import MemoryStorage, Reporter
from hubbub_client.frames import JOURNAL_BYTES, parse
from hubbub_client.ledger import Entry, Ledger
from hubbub_client.report_files import OPEN, fate_of, number_of, report_files

from tests.client.ledger import test_model as model
from tests.client.reporter import test_crashes as crashes
from tests.client.reporter.reporting import DAY, NOW, Collector, FailingStorage, PowerCut, plan_of, reporter_of

PLAN = plan_of(
    m={"mechanism": "count-mean-sketch", "reports_per_period": 40, "lifetime_epsilon": 1000, "epsilon": 1},
    r={"mechanism": "rappor", "reports_per_period": 40, "lifetime_epsilon": 1000},
)


@pytest.fixture(autouse=True)
def joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every storage in memory is one that wears; the log of what was sent still overflows in the crash tests."""
    monkeypatch.setattr(MemoryStorage, "journal", True, raising=False)
    monkeypatch.setattr(crashes, "LIMIT", 700)


def test_the_crash_tests_reach_every_operation() -> None:
    """The life that is cut short below records, sends and forgets, as the one with a ledger file does."""
    log = crashes.operations()
    assert [log.count(kind) for kind in ("write", "append")] == [6, 3]
    assert all(log.count(kind) > 1 for kind in ("read", "rename", "remove", "names"))


def recorded(reports: int, storage: MemoryStorage, **keys: Any) -> Reporter:
    """A reporter that recorded so many reports of two metrics."""
    reporter = reporter_of(PLAN, storage, **keys)
    for at in range(reports):
        assert reporter.record("mr"[at % 2], "abc"[at % 3]), reporter.problem
    return reporter


def newest(storage: MemoryStorage) -> str:
    return report_files(storage)[-1]


def test_a_report_is_one_write() -> None:
    """A report costs one append, and an upload one write, through files that fill, flushes and restarts."""
    storage = FailingStorage(0, "", PowerCut, {})
    recorded(1, storage, limit=6000)
    begun = len(storage.log)
    collector = Collector()
    for _ in range(3):
        recorded(20, storage, limit=6000, transport=collector).flush()
    assert 3 < len(collector.bodies) < 20
    assert [storage.log[begun:].count(kind) for kind in ("write", "append")] == [len(collector.bodies), 60]


def test_the_ledger_read_again_is_the_ledger_in_use() -> None:
    """After any number of reports, and a flush in between, what is read back is what the reporter holds, tag by tag."""
    for reports in range(1, 16):
        storage = MemoryStorage()
        reporter = recorded(reports, storage, limit=3000)
        if reports % 3 == 0:
            reporter.flush()
        in_use = reporter._session.ledger()
        again = Ledger.load(storage)
        assert in_use is not None
        assert again is not None
        assert again._text() == in_use._text()
        assert again.generation == reports + 2


@pytest.mark.parametrize("how", ["before", "half", "after"])
def test_a_power_cut_at_any_storage_operation_never_undercounts(how: str) -> None:
    """Cut before, in the middle of or after any operation, spent budget covers every report; none goes twice."""
    for at in range(1, len(crashes.operations()) + 1):
        storage = FailingStorage(at, how, PowerCut, {})
        crashes.run(storage, Collector(), Collector(), crashes.live)
        assert storage.operations == at


@pytest.mark.parametrize("how", ["before", "half", "after"])
def test_a_failing_storage_operation_never_undercounts_and_never_raises(how: str) -> None:
    """After an OSError from any operation, the Reporter goes on with what storage really holds."""
    for at in range(1, len(crashes.operations()) + 1):
        storage = FailingStorage(at, how, lambda: OSError(28, "no space left"), {})
        crashes.run(storage, Collector(), Collector(), crashes.live)
        assert storage.operations >= at


@given(model.STEPS)
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_charged_is_never_less_than_what_it_cost(steps: list[tuple[Any, ...]]) -> None:
    """Through values, clocks, crashes, plans and opt-outs, charged >= true cost, and never above the lifetime."""
    life = model.Life()
    for step in steps:
        life.step(*step)


def unspent(ledger: Ledger, name: str, tag: str) -> bytes:
    entry = ledger.entries[name]
    return json.dumps([entry.start, entry.end, entry.reports, entry.spent - 1, entry.lifetime, tag]).encode()


@pytest.mark.parametrize("journal", [unspent, lambda ledger, name, tag: b""])
def test_a_report_that_does_not_say_all_it_cost_is_caught(
    journal: Callable[[Ledger, str, str], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model fails on reports that store less than was spent, or nothing."""
    monkeypatch.setattr(Ledger, "journal", journal)
    with pytest.raises(AssertionError):
        model.live(8)


@pytest.mark.parametrize("fate", ["sent", "closed", "open"])
def test_any_changed_byte_gives_nothing_back_that_was_sent(fate: str) -> None:
    """Every byte of the newest file, changed, leaves all paid that may have left; if it is open, none leaves unpaid."""
    storage = MemoryStorage()
    reporter = recorded(5, storage, transport=Collector(*[OSError()] * 4 if fate == "closed" else []))
    if fate != "open":
        assert reporter.flush().kept == (5 if fate == "closed" else 0)
    name = newest(storage)
    data = storage.files[name]
    for at in range(len(data)):
        changed = MemoryStorage()
        changed.files = {**storage.files, name: data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]}
        again = reporter_of(PLAN, changed, clock=lambda: NOW + DAY)
        if fate == "open":
            assert again.record("m", "a")
            assert again.flush().sent == 1 + len(paid(changed, name))
            ledger = Ledger.load(changed)
            assert ledger is not None
            assert ledger.generation == 2 + sum(len(parse(d)[0]) for n, d in changed.files.items() if fate_of(n))
            continue
        assert again.record("m", "a")
        assert again._session.open_state()[1].generation == 2 + 5 + 1
        assert again.flush().sent == 1 + (len(paid(changed, name)) if fate == "closed" else 0)


def paid(storage: MemoryStorage, name: str) -> list[Any]:
    """The reports of a file that was open as ``name``, whatever it is called by now."""
    upload_id = name.split("-")[2]
    return [report for n, data in storage.files.items() if upload_id in n for report in parse(data)[0]]


def test_an_older_ledger_put_back_is_brought_up_to_date_or_refused() -> None:
    """What the open file adds is added to an older ledger file, too; a gap between the two is refused, not skipped."""
    storage = MemoryStorage()
    recorded(2, storage).close()
    old = storage.files["ledger"]
    recorded(1, storage).close()
    spent = reporter_of(PLAN, storage).spent()
    storage.files["ledger"] = old
    assert reporter_of(PLAN, storage).spent() == spent
    assert recorded(1, storage).flush().sent == 4
    recorded(2, storage)
    storage.files["ledger"] = old
    assert [fate_of(name) for name in report_files(storage)] == ["sent", OPEN]
    for name in (report_files(storage)[0], report_files(storage)[1]):  # either one tells
        left = MemoryStorage()
        left.files = {each: storage.files[each] for each in storage.files if each != name}
        broken = reporter_of(PLAN, left)
        assert broken.spent() is None
        assert broken.counts == {"state-rolled-back": 1}


def test_a_full_ledger_drops_no_paid_report() -> None:
    """With 32 tags in each of six metrics, 6 KB hold 40 reports as they hold them with none."""
    plan = plan_of(
        **{
            f"metric{number}": {"mechanism": "rappor", "reports_per_period": 1000, "lifetime_epsilon": 100000}
            for number in range(6)
        }
    )
    reporter = reporter_of(plan, limit=6144)
    for at in range(6 * 32):
        assert reporter.record(f"metric{at % 6}", f"value {at // 6}")
        if at % 20 == 19:
            assert reporter.flush().kept == 0
    assert reporter.flush().kept == 0
    assert all(len(entry.tags) == 32 for entry in reporter._session.open_state()[1].entries.values())
    for at in range(40):
        assert reporter.record(f"metric{at % 6}", f"value {at % 32}")
    assert reporter.counts == {}
    assert reporter.flush().sent == 40


def test_what_a_report_journals_is_bounded() -> None:
    """JOURNAL_BYTES is enough for a report of the largest integers, with a tag."""
    ledger = Ledger(MemoryStorage())
    most = (1 << 63) - 1
    ledger.entries["m"] = Entry(most, most, most, most, most, [])
    assert 4 + len(ledger.journal("m", "f" * 16)) <= JOURNAL_BYTES


def test_state_moves_between_storages(monkeypatch: pytest.MonkeyPatch) -> None:
    """State that was begun with a ledger in its own file goes on joined, and the other way round, in the same files."""
    storage = MemoryStorage()
    for turn in range(6):
        monkeypatch.setattr(MemoryStorage, "journal", turn % 2 == 1)
        recorded(2, storage).close()
        ledger = Ledger.load(storage)
        assert ledger is not None
        assert ledger.generation == 2 + 2 * (turn + 1)
        assert len(report_files(storage)) == 1
    assert reporter_of(PLAN, storage).flush().sent == 12
    monkeypatch.setattr(MemoryStorage, "journal", True)
    recorded(2, storage).close()
    monkeypatch.setattr(MemoryStorage, "journal", False)
    assert reporter_of(PLAN, storage).flush().sent == 2  # by a client that has recorded nothing itself
    storage.remove(newest(storage))
    ledger = Ledger.load(storage)
    assert ledger is not None
    assert ledger.generation == 2 + 14


def test_a_counter_never_runs_ahead() -> None:
    """Cut at any operation of storage or counter, the counter is not above the stored ledger."""

    class Counter:
        value = 0
        left = 0

        def read(self) -> int:
            return self.value

        def advance(self, to: int) -> None:
            self.left -= 1
            if self.left == 0:
                raise PowerCut
            self.value = to

    for at in range(1, len(crashes.operations()) + 1):
        for storage_fails in (True, False):
            storage = FailingStorage(at if storage_fails else 0, "half", PowerCut, {})
            counter = Counter()
            counter.left = 0 if storage_fails else at
            storage.counter = counter
            with suppress(PowerCut):
                crashes.live(reporter_of(crashes.PLAN, storage, source=os.urandom))
            left = crashes.MemoryStorageOf(storage.files)
            left.counter = counter
            counter.left = 0
            again = reporter_of(crashes.PLAN, left, source=os.urandom, clock=lambda: NOW + 3 * DAY)
            assert again.record("m", "a"), again.problem
            assert counter.value == number_of(newest(left)) or fate_of(newest(left)) == OPEN


def test_generations_of_any_size_follow_on_each_other() -> None:
    """After a thousand generations, reports in an open file are paid for as after the first ones."""
    storage = MemoryStorage()
    recorded(2, storage).close()
    ledger = Ledger.load(storage)
    assert ledger is not None
    ledger.generation = 1000
    ledger.save()
    reporter = recorded(3, storage)
    again = Ledger.load(storage)
    assert again is not None
    assert (again.generation, again.total()) == (1004, reporter.spent())
