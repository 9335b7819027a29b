from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub_client import MemoryStorage
from hubbub_client.clock import EARLIEST
from hubbub_client.ledger import Ledger
from hubbub_client.reasons import RefusalError
from hubbub_firmware.slow_clock import NAME, SlowClock

from tests.client.reporter.reporting import plan_of
from tests.firmware.transports.interpreters import INTERPRETERS, run

WRAP = 1 << 30
FLOOR = 1_800_000_000
HOUR = 3_600_000
DAY = 86_400


def diff(later: int, earlier: int) -> int:
    """time.ticks_diff of a 32-bit port: right below half the wrap-around, and of the wrong sign above it."""
    return ((later - earlier + WRAP // 2) % WRAP) - WRAP // 2


class Board:
    """A board in simulated real time (milliseconds), whose ticks run ``fast`` 1024ths too fast."""

    def __init__(self, clock_class: Any = SlowClock, slack: int = 1024, fast: int = 1) -> None:
        self.real = 1000 * FLOOR
        self.storage = MemoryStorage()
        self.writes = 0
        self.write = self.storage.write
        self.storage.write = self._write  # type: ignore[method-assign]
        self._class = clock_class
        self._slack = slack
        self._fast = fast
        self.boot(0)

    def _write(self, name: str, data: bytes) -> None:
        self.writes += 1
        self.write(name, data)

    def boot(self, ticks: int) -> None:
        self._booted, self._ticks = self.real, ticks
        self.clock = self._class(self.storage, FLOOR, slack=self._slack, ticks=self.ticks, diff=diff)

    def ticks(self) -> int:
        passed = self.real - self._booted
        return (self._ticks + passed + self._fast * passed // 1024) % WRAP


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("run"), st.integers(0, 3 * HOUR)),
        st.tuples(st.just("run"), st.integers(0, 3 * WRAP)),
        st.tuples(st.just("off"), st.integers(0, 400 * HOUR)),
        st.tuples(st.just("boot"), st.integers(0, WRAP - 1)),
        st.tuples(st.just("date"), st.integers(-40 * DAY, 0)),
        st.tuples(st.just("sleep"), st.integers(0, 30 * HOUR)),
    ),
    max_size=60,
)


def never_ahead(board: Board, steps: list[tuple[str, int]]) -> None:
    """Lives through the steps and fails where the clock is ahead of real time, or goes back without a reboot."""
    before = board.clock()
    for kind, amount in steps:
        if kind == "run":
            board.real += amount
        elif kind in ("boot", "off"):
            board.real += amount if kind == "off" else 0
            board.boot(amount % WRAP)
            before = FLOOR
        elif kind == "date":
            board.clock.learn(board.real // 1000 + amount)
        else:
            board.real += amount
            board.boot(amount % WRAP)  # a deep sleep starts anew, and the ticks with it
            board.clock.slept(amount)
            before = FLOOR
        now = board.clock()
        assert before <= now, "it went back"
        assert now * 1000 <= board.real, "it is ahead of real time"
        before = now


@settings(max_examples=300, deadline=None)
@given(STEPS, st.integers(0, 1))
def test_the_clock_is_never_ahead_of_real_time(steps: list[tuple[str, int]], fast: int) -> None:
    """Whatever reboots, sleeps, wrap-arounds, honest dates and ticks up to 1/1024 too fast: never ahead, never back
    within a boot."""
    never_ahead(Board(fast=fast), steps)


class CountsEveryTick(SlowClock):
    """Broken: it leaves nothing out of the uptime."""

    def _now(self) -> int:
        return self._base + self._uptime // 1000


class TakesWrapForTime(SlowClock):
    """Broken: it takes the distance of two ticks modulo the wrap-around, plus one turn where it was negative."""

    def __call__(self) -> int:
        tick = self._ticks()
        passed = self._diff(tick, self._last)
        self._last = tick
        self._uptime += passed if passed > 0 else passed + 2 * WRAP
        return self._now()


@pytest.mark.parametrize("broken", [CountsEveryTick, TakesWrapForTime])
def test_the_check_notices_a_clock_that_runs_ahead(broken: type[SlowClock]) -> None:
    """A clock that counts all of a fast tick, or adds a turn that did not happen, fails the same check."""
    with pytest.raises(AssertionError, match="ahead"):
        never_ahead(Board(broken, fast=1), [("run", 100 * HOUR), ("run", 200 * HOUR)])


@settings(max_examples=150, deadline=None)
@given(STEPS.map(lambda steps: [step for step in steps if step[0] in ("run", "off", "boot")]), st.integers(1, 3))
def test_no_allowance_comes_early(steps: list[tuple[str, int]], reports: int) -> None:
    """With the real ledger, spending at each step: in a stretch of T there are at most floor(T / period) + 2 periods'
    reports, and up to any moment at most those of the periods that began since the floor."""
    metric = plan_of(
        m={
            "mechanism": "randomized-response",
            "period": "1d",
            "reports_per_period": reports,
            "lifetime_epsilon": 10_000,
        }
    ).metrics["m"]
    board = Board()
    ledger = Ledger(board.storage)
    spent: list[int] = []
    for kind, amount in steps:
        board.real += 0 if kind == "boot" else amount
        if kind != "run":
            board.boot(amount % WRAP)
        for _ in range(reports + 1):
            try:
                ledger.spend(metric, board.clock(), "")
            except RefusalError:
                break
            spent.append(board.real)
    for i in range(len(spent)):
        assert i + 1 <= reports * (spent[i] // 1000 // DAY - FLOOR // DAY + 1)
        for j in range(i, len(spent)):
            assert j - i + 1 <= reports * ((spent[j] - spent[i]) // (1000 * DAY) + 2)


def test_a_tick_is_no_write() -> None:
    """A week of one reading a second stores the time once an hour, and a reboot loses at most that hour."""
    board = Board(fast=0)
    for _ in range(7 * 24 * 60):
        board.real += 60_000
        board.clock()
    assert 160 <= board.writes <= 168
    before = board.clock()
    board.boot(5)
    assert before - 3600 <= board.clock() <= before


def test_a_wrap_around_is_seen_and_a_missed_one_only_loses_time() -> None:
    """Steps below half a wrap-around all count, past 2^30 ms too; of a longer one no more counts than passed."""
    board = Board(fast=0)
    board.boot(WRAP - 5_000)
    for _ in range(40):
        board.real += HOUR * 24
        board.clock()
    assert board.clock() - FLOOR == 40 * DAY * 1023 // 1024
    board.real += WRAP * 3 // 4
    assert board.clock() - FLOOR == 40 * DAY * 1023 // 1024


def test_a_date_that_goes_back_or_is_useless_is_not_taken() -> None:
    """1970, 2000, the past, and what is beyond the last expiry change nothing; a later date is taken at once."""
    clock = SlowClock(MemoryStorage(), FLOOR, latest=FLOOR + 1000, ticks=lambda: 0, diff=diff)
    for date in (0, 946_684_800, EARLIEST - 1, FLOOR + 1001, 2**40):
        assert not clock.learn(date)
        assert not clock.learnt
    assert not clock.learn(FLOOR - 5)
    assert (clock(), clock.learnt) == (FLOOR, True)
    assert clock.learn(FLOOR + 10)
    assert not clock.learn(FLOOR + 9)
    assert clock() == FLOOR + 10


def test_one_date_far_ahead_is_not_believed() -> None:
    """A date more than 30 days ahead counts once another agrees within an hour, uptime apart; a near one forgets it."""
    board = Board(fast=0)
    far = FLOOR + 400 * DAY
    clock = board.clock
    assert not clock.learn(far)
    assert (clock(), clock.learnt) == (FLOOR, False)
    assert not clock.learn(far + 2 * 3600)  # does not agree
    assert clock.learn(FLOOR + 30 * DAY)
    assert not clock.learn(far)
    board.real += 24 * HOUR
    assert not clock.learn(far)  # stood still for a day
    board.boot(0)
    assert board.clock() <= FLOOR + 31 * DAY
    assert not board.clock.learn(far)
    board.real += 24 * HOUR
    assert board.clock.learn(far + DAY)
    assert (board.clock(), board.clock.learnt) == (far + DAY, True)


def test_damaged_unreadable_or_full_storage_is_a_slower_clock() -> None:
    """What is stored damaged is not taken, a storage that fails stops nothing, and the floor holds."""
    board = Board(fast=0)
    board.real += 24 * HOUR
    board.clock()
    board.clock.save()
    good = board.storage.files[NAME]
    for damaged in (good[:-1] + b"9", good[:3], b"", b"\0" * 20, good + b"0"):
        board.storage.files[NAME] = damaged
        board.boot(0)
        assert board.clock() == FLOOR

    class Failing(MemoryStorage):
        def read(self, name: str) -> bytes | None:
            raise OSError(5)

        def write(self, name: str, data: bytes) -> None:
            raise OSError(28)

    ticks = [0]
    clock = SlowClock(Failing(), FLOOR, ticks=lambda: ticks[0], diff=diff)
    ticks[0] += 24 * HOUR
    assert clock() == FLOOR + 24 * 3600 * 1023 // 1024


@pytest.mark.parametrize("wrong", [0, 946_684_800])
def test_the_system_s_clock_does_not_matter(wrong: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system's clock shows 1970 or 2000, this one shows its floor."""
    monkeypatch.setattr("time.time", lambda: wrong)
    assert datetime.datetime.now(datetime.UTC).year > 2024  # only Python's own time is set back
    assert FLOOR <= SlowClock(MemoryStorage(), FLOOR)() <= FLOOR + 60


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_the_clock_runs_on_both_interpreters(interpreter: str) -> None:
    """With the interpreter's own ticks it goes on, is stored, and begins there next time."""
    program = """
import time
from hubbub_client import MemoryStorage
from hubbub_client.clock import sleep_ms
from hubbub_firmware.slow_clock import SlowClock
storage = MemoryStorage()
clock = SlowClock(storage, 1800000000)
sleep_ms(1200)
assert 1800000001 <= clock() <= 1800000060, clock()
assert not clock.learn(1900000000) and clock() <= 1800000060
assert clock.learn(1900000000) and 1900000000 <= clock() <= 1900000060
assert 1900000000 <= SlowClock(storage, 1800000000)() <= 1900000060
clock.slept(5000)
assert clock() >= 1900000004
"""
    run(interpreter, program)
