from __future__ import annotations

from collections.abc import Iterator

import pytest

from hubbub_client import FileStorage, MemoryStorage
from hubbub_client.report_files import PENDING, SETTLED, fate_of

from tests.client.reporter.reporting import (
    DAY,
    NOW,
    Collector,
    FailingStorage,
    PowerCut,
    plan_of,
    reporter_of,
    sketch_plan,
)

PLAN = sketch_plan(reports=100)
ROLLED_BACK = {"state-rolled-back": 1}


class Counter:
    """A counter that only counts up, outside of the state."""

    def __init__(self, failure: type[BaseException] | None = None) -> None:
        self.shown = 0
        self._failure = failure

    def read(self) -> int:
        return self.shown

    def advance(self, to: int) -> None:
        if self._failure:
            raise self._failure
        self.shown = max(self.shown, to)


def history(storage: MemoryStorage, reports: int, flush: bool) -> Iterator[dict[str, bytes]]:
    """The files after each of ``reports`` reports."""
    reporter = reporter_of(PLAN, storage)
    for _ in range(reports):
        assert reporter.record("m", "a")
        if flush:
            assert reporter.flush().sent == 1
        yield dict(storage.files)


def refused(files: dict[str, bytes], **keys: object) -> dict[str, int]:
    """What a new Reporter on these files counts when it is asked to record; it must leave the files as they are."""
    storage = MemoryStorage()
    storage.files = dict(files)
    for key in keys:
        setattr(storage, key, keys[key])
    reporter = reporter_of(PLAN, storage)
    assert not reporter.record("m", "a")
    assert storage.files == files
    return reporter.counts


@pytest.mark.parametrize("flush", [False, True])
def test_an_older_ledger_beside_newer_reports_is_noticed(flush: bool) -> None:
    """A ledger put back from any earlier moment is refused, whether what it did not pay for waits or was sent."""
    states = list(history(MemoryStorage(), 6, flush))
    for older in states[:-1]:
        mixed = {**states[-1], "ledger": older["ledger"]}
        assert refused(mixed) == ROLLED_BACK
        assert refused({**mixed, "secret": older["secret"]}) == ROLLED_BACK


@pytest.mark.parametrize("flush", [False, True])
def test_an_older_copy_laid_over_newer_files_is_noticed(flush: bool) -> None:
    """A backup that is copied back over the directory leaves the newer files of reports, which betray it."""
    states = list(history(MemoryStorage(), 4, True))
    storage = MemoryStorage()
    storage.files = dict(states[-1])
    states += history(storage, 3, flush)
    for older in states[:3]:
        assert refused({**states[-1], **older}) == ROLLED_BACK


def test_only_the_newest_ledger_is_accepted_with_any_of_the_reports() -> None:
    """Reports that were lost, or that came back, beside the newest ledger stop nothing: they were paid for."""
    states = list(history(MemoryStorage(), 4, True))
    newest = {name: states[-1][name] for name in ("ledger", "secret")}
    for older in states:
        reports = {name: older[name] for name in older if fate_of(name)}
        storage = MemoryStorage()
        storage.files = {**reports, **newest}
        assert reporter_of(PLAN, storage).record("m", "a")


def test_what_was_paid_for_is_delivered_though_the_ledger_was_rolled_back() -> None:
    """Reports that wait beside an older ledger are still sent: a newer one had paid for them."""
    states = list(history(MemoryStorage(), 3, False))
    storage = MemoryStorage()
    storage.files = {**states[-1], "ledger": states[0]["ledger"]}
    assert reporter_of(PLAN, storage, Collector()).flush().sent == 3


def test_a_secret_of_another_time_is_noticed() -> None:
    """A ledger goes with the secret it was bound to, and with no other."""
    (one,) = history(MemoryStorage(), 1, True)
    other = MemoryStorage()
    assert reporter_of(PLAN, other, source=lambda count: b"o" * count).record("m", "a")
    assert refused({**one, "secret": other.files["secret"]}) == {"state-damaged": 1}


def test_a_counter_tells_a_whole_directory_that_was_rolled_back_or_removed() -> None:
    """With a counter outside of the state, any older whole state is refused, and so is none at all."""
    storage = MemoryStorage()
    counter = Counter()
    storage.counter = counter
    states = list(history(storage, 5, True))
    for older in states[:-1]:
        assert refused(older, counter=counter) == ROLLED_BACK
    assert refused({}, counter=counter) == {"state-damaged": 1}
    assert counter.shown == 7  # the empty ledger, the bound one, and five reports
    assert reporter_of(PLAN, storage).record("m", "a")


def test_without_a_counter_a_whole_directory_that_was_rolled_back_is_not_noticed() -> None:
    """The documented limit: nothing inside a directory tells its older copy from itself."""
    storage = MemoryStorage()
    storage.files = dict(next(history(MemoryStorage(), 2, True)))
    assert reporter_of(PLAN, storage).record("m", "a")


def test_a_counter_that_fails_stops_the_report_and_costs_it() -> None:
    """Where the counter cannot be advanced nothing is encoded; the ledger is then ahead of it, which is no fault."""
    storage = MemoryStorage()
    good = storage.counter = Counter()
    assert reporter_of(PLAN, storage).record("m", "a")
    storage.counter = Counter(OSError)
    reporter = reporter_of(PLAN, storage)
    assert not reporter.record("m", "a")
    assert reporter.counts == {"storage": 1}
    storage.counter = good
    after = reporter_of(PLAN, storage)
    assert after.record("m", "a")
    assert after.spent() == 3 * PLAN.metric("m").epsilon_nano


@pytest.mark.parametrize("how", ["before", "half", "after"])
def test_no_crash_looks_like_a_rollback(how: str) -> None:
    """Cut at any storage operation, what is left is never taken for rolled back, with a counter or without."""
    for counted in (False, True):
        at = 0
        while True:
            at += 1
            storage = FailingStorage(at, how, PowerCut, {})
            if counted:
                storage.counter = Counter()
            reporter = reporter_of(PLAN, storage)
            try:
                for _ in range(2):
                    reporter.record("m", "a")
                    reporter.flush()
            except PowerCut:
                pass
            else:
                break
            left = MemoryStorage()
            left.files = storage.files
            if counted:
                left.counter = storage.counter
            assert reporter_of(PLAN, left).record("m", "a")


def test_file_storage_takes_a_counter(tmp_path: object) -> None:
    """A counter is given to FileStorage, and goes up with each report."""
    counter = Counter()
    state = FileStorage(str(tmp_path), counter)
    with reporter_of(PLAN, state) as reporter:
        assert reporter.record("m", "a")
    assert counter.shown == 3


def test_state_of_another_device_is_noticed() -> None:
    """A copy of a state is refused by a device with another identity, or with none, and serves its own device on."""
    storage = MemoryStorage()
    assert reporter_of(PLAN, storage, device=b"one").record("m", "a")
    for device in (b"two", b"", None):
        reporter = reporter_of(PLAN, storage, device=device)
        assert not reporter.record("m", "a")
        assert reporter.counts == {"state-of-another-device": 1}
    assert reporter_of(PLAN, storage, device=b"one").record("m", "a")
    assert b"one" not in b"".join(storage.files.values())


def test_state_that_was_bound_to_no_device_is_bound_when_one_is_first_given() -> None:
    """An app that begins to give an identity binds the state it has."""
    storage = MemoryStorage()
    assert reporter_of(PLAN, storage).record("m", "a")
    assert reporter_of(PLAN, storage, device=b"one").record("m", "a")
    assert not reporter_of(PLAN, storage, device=b"two").record("m", "a")


def test_a_clock_that_jumps_back_is_refused_for_each_metric_that_reported() -> None:
    """No period before the last one reported in gets a report, and the ledger is not changed by asking."""
    plan = plan_of(m={"mechanism": "count-mean-sketch", "reports_per_period": 9})
    storage = MemoryStorage()
    assert reporter_of(plan, storage).record("m", "a")
    before = storage.files["ledger"]
    for days in (1, 2, 300):
        reporter = reporter_of(plan, storage, clock=lambda days=days: NOW - days * DAY)
        assert not reporter.record("m", "a")
        assert reporter.counts == {"clock-went-back": 1}
    assert storage.files["ledger"] == before


def test_the_two_kinds_of_fate_are_told_from_strangers() -> None:
    """Only names that hubbub makes are files of reports."""
    tail = "-00000001-" + 32 * "a"
    assert [fate_of(fate + tail) for fate in PENDING + SETTLED] == list(PENDING + SETTLED)
    assert [fate_of(name) for name in ("log" + tail, "sent-x-" + 32 * "a", "sent-1-" + 31 * "a", "ledger")] == [
        None
    ] * 4
