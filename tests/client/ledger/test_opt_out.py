from __future__ import annotations

from contextlib import suppress

import pytest

from hubbub_client import Answer, MemoryStorage
from hubbub_client.ledger import Ledger

from tests.client.reporter.reporting import (
    DAY,
    NOW,
    Collector,
    FailingStorage,
    Noise,
    PowerCut,
    plan_of,
    reporter_of,
    sketch_plan,
)

PLAN = sketch_plan(reports=100, lifetime=10)
COST = PLAN.metric("m").epsilon_nano


def used(reports: int = 3) -> MemoryStorage:
    """State with one report sent and the others waiting."""
    storage = MemoryStorage()
    reporter = reporter_of(PLAN, storage)
    assert reporter.record("m", "a")
    assert reporter.flush().sent == 1
    for _ in range(reports - 1):
        assert reporter.record("m", "a")
    return storage


def test_opting_out_wipes_everything_but_what_was_spent() -> None:
    """Secret, pending reports and log are gone, nothing is recorded or sent, and the spent budget is kept."""
    storage = used()
    collector = Collector()
    reporter = reporter_of(PLAN, storage, collector)
    assert reporter.set_enabled(False)
    assert list(storage.files) == ["ledger"]
    assert not reporter.record("m", "a")
    assert (reporter.flush().sent, collector.bodies, reporter.log()) == (0, [], [])
    assert reporter.counts == {"opted-out": 1}
    assert reporter.spent() == 3 * COST


def test_an_opt_out_holds_in_all_later_runs() -> None:
    """A new Reporter on the state is off, and says so when it is asked to record or to send."""
    storage = used()
    assert reporter_of(PLAN, storage).set_enabled(False)
    before = dict(storage.files)
    for day in range(3):
        reporter = reporter_of(PLAN, storage, clock=lambda day=day: NOW + day * DAY)
        assert not reporter.record("m", "a")
        assert reporter.flush().problem == "this device opted out; nothing is sent"
        assert reporter.counts == {"opted-out": 1}
        assert reporter.set_enabled(False)
    assert storage.files.keys() == before.keys()


def test_a_flush_says_that_the_device_is_off_before_anything_else_was_asked() -> None:
    """The first call on state that is off may be a flush: it sends nothing and gives the reason."""
    storage = used()
    assert reporter_of(PLAN, storage).set_enabled(False)
    assert reporter_of(PLAN, storage).flush().problem == "this device opted out; nothing is sent"


def test_a_device_can_opt_out_before_it_ever_reported() -> None:
    """Off from the start is off: no secret is made, and nothing is recorded."""
    storage = MemoryStorage()
    assert reporter_of(PLAN, storage).set_enabled(False)
    assert not reporter_of(PLAN, storage).record("m", "a")
    assert list(storage.files) == ["ledger"]


def test_opting_in_begins_with_a_new_secret_and_the_old_budget() -> None:
    """On again, the secret is another one; period, lifetime and generation go on where they were."""
    storage = used()
    secret, before = storage.files["secret"], Ledger.load(storage)
    reporter = reporter_of(PLAN, storage, source=Noise())
    assert reporter.set_enabled(False)
    reporter = reporter_of(PLAN, storage, source=lambda count: b"n" * count)
    assert reporter.set_enabled(True)
    assert storage.files["secret"] != secret
    made = 0
    while reporter.record("m", "a"):
        made += 1
    assert made == 7
    assert reporter.counts == {"lifetime-used-up": 1}
    after = Ledger.load(storage)
    assert before is not None
    assert after is not None
    assert after.generation > before.generation
    assert after.total() == 10 * COST


def test_after_opting_in_every_value_is_charged_as_new() -> None:
    """New permanent noise costs anew: the same value pays eps(1) again."""
    plan = plan_of(m={"mechanism": "rappor", "reports_per_period": 9})
    charges = plan.metric("m").charges
    storage = MemoryStorage()
    reporter = reporter_of(plan, storage)
    for expected in (charges[1], charges[1] + charges[1]):
        assert reporter.record("m", "a")
        assert reporter.record("m", "a")
        assert reporter.spent() == expected
        assert reporter.set_enabled(False)
        assert reporter.set_enabled(True)
        ledger = Ledger.load(storage)
        assert ledger is not None
        assert ledger.entries["m"].tags == []


def test_switching_to_what_already_is_changes_nothing() -> None:
    """Opting in where nobody opted out keeps secret, budget and what waits, and makes no state."""
    storage = used()
    before = dict(storage.files)
    assert reporter_of(PLAN, storage).set_enabled(True)
    assert storage.files == before
    fresh = MemoryStorage()
    assert reporter_of(PLAN, fresh).set_enabled(True)
    assert fresh.files == {}


def test_an_upload_under_way_is_not_tried_again() -> None:
    """Opting out while an upload is being sent ends its retries, and whatever comes after it."""
    storage = used(5)

    class Slow(Collector):
        def send(self, body: bytes) -> Answer:
            super().send(body)
            assert reporter.set_enabled(False)
            assert reporter.set_enabled(True)
            return Answer(503)

    collector = Slow()
    reporter = reporter_of(PLAN, storage, collector)
    result = reporter.flush()
    assert (result.sent, result.kept, len(collector.bodies)) == (0, 0, 1)
    assert reporter.flush().sent == 0


@pytest.mark.parametrize("how", ["before", "half", "after"])
@pytest.mark.parametrize("on", [False, True])
def test_a_crash_while_switching_neither_sends_nor_refills(how: str, on: bool) -> None:
    """Cut at any operation, a device is on as before or off; off, it is wiped by the next run; it never pays less."""
    at = 0
    while True:
        at += 1
        files = dict(used().files)
        if on:
            storage = MemoryStorage()
            storage.files = files
            assert reporter_of(PLAN, storage).set_enabled(False)
        cut = FailingStorage(at, how, PowerCut, files)
        reporter = reporter_of(PLAN, cut, source=lambda count: b"x" * count)
        with suppress(PowerCut):
            reporter.set_enabled(on)
        if cut.operations < at:
            break
        left = MemoryStorage()
        left.files = cut.files
        collector = Collector()
        after = reporter_of(PLAN, left, collector)
        assert after.spent() == 3 * COST
        off = not after.record("m", "a")
        if off:
            assert after.counts == {"opted-out": 1}
            assert list(left.files) == ["ledger"]
            assert after.flush().sent == 0
            assert after.set_enabled(True)
            assert after.record("m", "a")
        assert after.spent() == 4 * COST


@pytest.mark.parametrize("fault", ["damaged", "lost", "rolled back"])
def test_opting_out_never_launders_a_ledger_that_is_not_known(fault: str) -> None:
    """Where what was spent is not known, opting out wipes all the same, and opting in again gives no new budget."""
    storage = used(1)
    older = storage.files["ledger"]
    assert reporter_of(PLAN, storage).record("m", "a")
    if fault == "lost":
        del storage.files["ledger"]
    else:
        storage.files["ledger"] = {"damaged": b"x", "rolled back": older}[fault]
    reporter = reporter_of(PLAN, storage)
    assert reporter.set_enabled(False)
    assert list(storage.files) == ["ledger"]
    assert not reporter.record("m", "a")
    assert not reporter.set_enabled(True)
    assert not reporter_of(PLAN, storage).record("m", "a")
    assert reporter.counts == {"state-damaged": 2}


def test_a_ledger_from_before_an_opt_out_is_refused() -> None:
    """Putting back the ledger, or all but the ledger, from before an opt-out does not bring the device back."""
    storage = used()
    before = dict(storage.files)
    reporter = reporter_of(PLAN, storage, source=lambda count: b"x" * count)
    assert reporter.set_enabled(False)
    off = dict(storage.files)
    for mixed in ({**off, "ledger": before["ledger"]}, {**before, "ledger": off["ledger"]}):
        storage = MemoryStorage()
        storage.files = dict(mixed)
        assert not reporter_of(PLAN, storage).record("m", "a")


def test_an_opted_out_ledger_put_back_later_is_refused_and_wipes_nothing() -> None:
    """An older ledger that says off, beside newer reports, is a rollback like any other."""
    storage = used()
    reporter = reporter_of(PLAN, storage, source=lambda count: b"x" * count)
    assert reporter.set_enabled(False)
    off = storage.files["ledger"]
    assert reporter.set_enabled(True)
    assert reporter.record("m", "a")
    storage.files["ledger"] = off
    mixed = dict(storage.files)
    after = reporter_of(PLAN, storage)
    assert not after.record("m", "a")
    assert after.counts == {"state-rolled-back": 1}
    assert storage.files == mixed


def test_switching_that_fails_is_counted() -> None:
    """Where the switch cannot be stored, set_enabled gives False and says why, without raising."""
    reporter = reporter_of(PLAN, FailingStorage(1, "before", lambda: OSError(5, "io"), dict(used().files)))
    assert not reporter.set_enabled(False)
    assert reporter.counts == {"storage": 1}
