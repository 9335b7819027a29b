from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client import MemoryStorage, StateError
from hubbub_client.ledger import Entry, Ledger
from hubbub_client.reasons import RefusalError

from tests.client.reporter.reporting import DAY, NOW, FailingStorage, plan_of, reporter_of, sketch_plan

START = NOW - NOW % DAY


def sketch(**keys: object) -> dict[str, object]:
    return {"mechanism": "count-mean-sketch", "epsilon": 1, "lifetime_epsilon": 10_000, **keys}


def entry_of(storage: MemoryStorage, name: str = "m") -> Entry:
    ledger = Ledger.load(storage)
    assert ledger is not None
    return ledger.entries[name]


def test_a_period_gives_as_many_reports_as_it_declares() -> None:
    """In each period exactly reports_per_period reports are made, up to its last second, and again in the next."""
    now = [START]
    reporter = reporter_of(sketch_plan(reports=3), clock=lambda: now[0])
    for _ in range(3):
        assert [reporter.record("m", "a") for _ in range(4)] == [True, True, True, False]
        now[0] += DAY - 1
        assert not reporter.record("m", "a")
        now[0] += 1


def test_a_lifetime_is_never_exceeded_and_never_refilled() -> None:
    """The sum of epsilon_nano over all reports stays within lifetime_nano, however long one waits."""
    plan = sketch_plan(reports=2, lifetime=5)
    metric = plan.metric("m")
    storage = MemoryStorage()
    now = [START]
    made = 0
    for _ in range(20):
        made += reporter_of(plan, storage, clock=lambda: now[0]).record("m", "a")
        now[0] += 500 * DAY
    assert metric.lifetime_nano is not None
    assert made == metric.lifetime_nano // metric.epsilon_nano == 5
    assert entry_of(storage).spent == made * metric.epsilon_nano


def test_a_lifetime_can_be_spent_to_the_last_billionth() -> None:
    """A report that costs just what is left is made; with one billionth less left, it is not."""
    for short, made in ((0, 2), (1, 1)):
        metric = copy.copy(sketch_plan(reports=9).metric("m"))
        metric.lifetime_nano = 2 * metric.epsilon_nano - short
        ledger = Ledger(MemoryStorage())
        for _ in range(made):
            ledger.spend(metric, NOW, "")
        with pytest.raises(RefusalError, match="lifetime-used-up"):
            ledger.spend(metric, NOW, "")


def test_an_unbounded_lifetime_is_still_counted() -> None:
    """A metric without a bound reports on, and what it spends is on record for a plan that brings a bound."""
    plan = plan_of(m=sketch(lifetime_epsilon="unbounded", unbounded_justification="a test of one"))
    assert plan.metric("m").lifetime_nano is None
    storage = MemoryStorage()
    for day in range(10):
        assert reporter_of(plan, storage, clock=lambda day=day: NOW + day * DAY).record("m", "a")
    assert entry_of(storage).spent == 10 * plan.metric("m").epsilon_nano
    bounded = sketch_plan(lifetime=10)
    reporter = reporter_of(bounded, storage, clock=lambda: NOW + 10 * DAY)
    assert not reporter.record("m", "a")
    assert reporter.counts == {"lifetime-used-up": 1}


def test_a_new_version_of_a_plan_does_not_refill_anything() -> None:
    """The ledger goes by the metric's name: another fingerprint finds the period used and the lifetime spent."""
    first = plan_of(m=sketch(width=128, lifetime_epsilon=2))
    second = plan_of(m=sketch(width=256, lifetime_epsilon=2))
    assert first.metric("m").fingerprint != second.metric("m").fingerprint
    storage = MemoryStorage()
    assert reporter_of(first, storage).record("m", "a")
    reporter = reporter_of(second, storage)
    assert not reporter.record("m", "a")
    later = reporter_of(second, storage, clock=lambda: NOW + DAY)
    assert later.record("m", "a")
    last = reporter_of(second, storage, clock=lambda: NOW + 2 * DAY)
    assert not last.record("m", "a")
    assert (reporter.counts, last.counts) == ({"period-used-up": 1}, {"lifetime-used-up": 1})


def test_a_plan_that_lowers_the_reports_of_a_period_holds_in_the_period_itself() -> None:
    """Where more were made already than the new plan allows, none is made until the next period."""
    storage = MemoryStorage()
    assert [reporter_of(sketch_plan(reports=5), storage).record("m", "a") for _ in range(3)] == [True] * 3
    assert not reporter_of(sketch_plan(reports=2), storage).record("m", "a")
    assert reporter_of(sketch_plan(reports=2), storage, clock=lambda: NOW + DAY).record("m", "a")


@pytest.mark.parametrize(("before", "after"), [("7d", "1d"), ("1d", "7d")])
def test_a_plan_that_changes_the_period_shares_the_overlapping_one(before: str, after: str) -> None:
    """A period of a new length that overlaps the last one used shares its reports, and the next one is free."""
    week = NOW - NOW % (7 * DAY)
    storage = MemoryStorage()
    first = reporter_of(plan_of(m=sketch(period=before)), storage, clock=lambda: week + DAY)
    assert first.record("m", "a")
    for hour in range(24, 7 * 24):
        second = reporter_of(plan_of(m=sketch(period=after)), storage, clock=lambda hour=hour: week + 3600 * hour)
        assert not second.record("m", "a")
        assert second.counts == {"period-used-up": 1}
    assert reporter_of(plan_of(m=sketch(period=after)), storage, clock=lambda: week + 7 * DAY).record("m", "a")


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(1, 5)), max_size=30))
def test_no_walk_of_the_clock_gives_more_than_a_period_allows(steps: list[tuple[int, int]]) -> None:
    """However the clock jumps, no period gets more than its reports, and none before the last one used gets any."""
    day = 0
    made: dict[int, int] = {}
    reporter = reporter_of(sketch_plan(reports=2), clock=lambda: NOW + day * DAY)
    for step, tries in steps:
        day += step
        for _ in range(tries):
            latest = max(made, default=day)
            if reporter.record("m", "a"):
                assert day >= latest
                made[day] = made.get(day, 0) + 1
    assert all(count <= 2 for count in made.values())


def test_metrics_have_budgets_of_their_own() -> None:
    """A metric that is used up leaves another one what it has."""
    reporter = reporter_of(plan_of(m=sketch(), n=sketch(reports_per_period=2)))
    assert [reporter.record(name, "a") for name in "mmnnn"] == [True, False, True, True, False]


def test_every_damage_to_a_stored_ledger_is_noticed() -> None:
    """A ledger cut at any byte, or with any one bit changed, is refused, and is never begun afresh."""
    storage = MemoryStorage()
    assert reporter_of(sketch_plan(), storage).record("m", "a")
    good = storage.files["ledger"]
    damaged = [good[:cut] for cut in range(len(good))]
    for at in range(8 * len(good)):
        changed = bytearray(good)
        changed[at // 8] ^= 1 << at % 8
        damaged.append(bytes(changed))
    for data in damaged:
        storage.files["ledger"] = data
        with pytest.raises(StateError, match="damaged"):
            Ledger.load(storage)
    reporter = reporter_of(sketch_plan(), storage, clock=lambda: NOW + DAY)
    for tries in range(1, 4):
        assert not reporter.record("m", "a")
        assert reporter.counts == {"state-damaged": tries}
        assert storage.files["ledger"] == damaged[-1]


def test_nothing_is_encoded_when_the_ledger_cannot_be_stored() -> None:
    """Where the write of the ledger fails the encoder is not asked, and nothing is queued."""
    plan = sketch_plan()
    files: dict[str, bytes] = {}
    assert not reporter_of(plan, MemoryStorage()).record("m", 1.5)
    storage = FailingStorage(0, "", OSError, files)
    reporter = reporter_of(plan, storage)
    assert reporter.record("m", "a")
    writes_until_append = storage.operations
    for at in range(1, writes_until_append):
        for how in ("before", "after"):
            storage = FailingStorage(at, how, lambda: OSError(28, "full"), {})
            reporter = reporter_of(plan, storage)
            assert not reporter.record("m", "a")
            assert reporter.counts == {"storage": 1}
            assert not [name for name in storage.files if name.startswith("open-")]


def test_the_stored_ledger_says_what_was_spent_and_nothing_of_values() -> None:
    """The file is a SHA-256 and lines of JSON: the device, then name, period, reports, spent, lifetime, tags."""
    storage = MemoryStorage()
    plan = plan_of(m=sketch(), r={"mechanism": "rappor"})
    reporter = reporter_of(plan, storage)
    assert reporter.record("m", "a")
    assert reporter.record("r", "a")
    sketched, rappor = plan.metric("m"), plan.metric("r")
    head, *entries = [json.loads(line) for line in storage.files["ledger"][32:].decode().split("\n")]
    assert sorted(head) == ["device", "enabled", "generation", "secret"]
    assert (head["enabled"], head["generation"], head["device"]) == (True, 4, "")
    ((tag, count),) = entries[1].pop()
    assert (len(tag), count) == (16, 1)
    assert entries == [
        ["m", START, START + DAY, 1, sketched.epsilon_nano, sketched.lifetime_nano, []],
        ["r", START, START + DAY, 1, rappor.charges[0], rappor.lifetime_nano],
    ]
    assert len(head["secret"]) == 16
    for name, metric in (("m", sketched), ("r", rappor)):
        stored = entry_of(storage, name)
        assert (stored.start, stored.end, stored.reports) == (START, START + DAY, 1)
        assert (stored.spent, stored.lifetime) == (reporter.spent(name), metric.lifetime_nano)
    assert entry_of(storage, "r").tags == [[tag, 1]]
    assert reporter.spent("m") == sketched.epsilon_nano
    assert reporter.spent() == sketched.epsilon_nano + rappor.charges[0]
    assert reporter.spent("nothing") == 0


def test_what_metrics_of_earlier_plans_spent_stays_in_the_total() -> None:
    """The total over the namespace holds metrics that the plan no longer has, and it reads without making state."""
    storage = MemoryStorage()
    assert reporter_of(sketch_plan(), storage).spent() == 0
    assert storage.files == {}
    assert reporter_of(sketch_plan(), storage).record("m", "a")
    other = reporter_of(plan_of(n=sketch()), storage)
    assert other.record("n", "a")
    assert other.spent() == entry_of(storage).spent + entry_of(storage, "n").spent
    storage.files["ledger"] = b"damaged"
    last = reporter_of(sketch_plan(), storage)
    assert last.spent() is None
    assert last.counts == {"state-damaged": 1}
