from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hubbub_client import Answer, MemoryStorage, Reporter, StateInUseError
from hubbub_client.reasons import REASONS

from tests.client.reporter.reporting import (
    DAY,
    NOW,
    Collector,
    FailingStorage,
    Noise,
    plan_of,
    reporter_of,
    sketch_plan,
)

CLOSED = {"mechanism": "randomized-response", "epsilon": 1, "lifetime_epsilon": 3}
EXPIRES = 4_070_908_800  # 2099-01-01, as tests.registries says


def fails(error: Exception) -> Callable[..., Any]:
    def failing(*_: object) -> Any:
        raise error

    return failing


class Busy(MemoryStorage):
    def read(self, name: str) -> bytes | None:
        raise StateInUseError("busy")


def damaged() -> MemoryStorage:
    storage = MemoryStorage()
    reporter = reporter_of(plan_of(m=CLOSED), storage)
    assert reporter.record("m", "a")
    assert reporter.flush().sent == 1
    storage.files["ledger"] = storage.files["ledger"][:-1]
    return storage


def wider_plan() -> Reporter:
    """A reporter whose plan was replaced by one whose reports are larger than its limit."""
    wide = {"mechanism": "count-mean-sketch", "epsilon": 0.5, "lifetime_epsilon": 3}
    reporter = reporter_of(plan_of(m=CLOSED), limit=43)
    assert reporter.replace_plan(plan_of(m=wide)), reporter.problem
    return reporter


REFUSED_AT_ONCE: dict[str, Callable[[], tuple[Reporter, str, object]]] = {
    "unknown-metric": lambda: (reporter_of(plan_of(m=CLOSED)), "n", "a"),
    "expired": lambda: (reporter_of(plan_of(m=CLOSED), clock=lambda: EXPIRES), "m", "a"),
    "type": lambda: (reporter_of(plan_of(m=CLOSED)), "m", 1.5),
    "too-long": lambda: (reporter_of(sketch_plan()), "m", "a" * 257),
    "not-utf-8": lambda: (reporter_of(plan_of(m=CLOSED)), "m", b"\xff"),
    "not-in-values": lambda: (reporter_of(plan_of(m=CLOSED)), "m", "z"),
    "clock": lambda: (reporter_of(plan_of(m=CLOSED), clock=lambda: 946_684_800), "m", "a"),
    "entropy": lambda: (reporter_of(plan_of(m=CLOSED), source=lambda count: bytes(count - 1)), "m", "a"),
    "state-damaged": lambda: (reporter_of(plan_of(m=CLOSED), damaged()), "m", "a"),
    "state-in-use": lambda: (reporter_of(plan_of(m=CLOSED), Busy()), "m", "a"),
    "storage": lambda: (
        reporter_of(plan_of(m=CLOSED), FailingStorage(3, "before", lambda: OSError(28, "full"), {})),
        "m",
        "a",
    ),
    "full": lambda: (wider_plan(), "m", "a"),
    "internal": lambda: (
        reporter_of(plan_of(m=CLOSED), FailingStorage(3, "before", lambda: MemoryError(), {})),
        "m",
        "a",
    ),
}


@pytest.mark.parametrize("reason", REFUSED_AT_ONCE)
def test_a_value_that_is_not_reported_is_counted_under_its_reason(reason: str) -> None:
    """What keeps a report from being made gives False, never an exception, and one count under one reason."""
    reporter, metric, value = REFUSED_AT_ONCE[reason]()
    assert reporter.record(metric, value) is False
    assert reporter.counts == {reason: 1}
    assert reporter.problem
    assert reporter.flush().sent == 0


def test_a_used_up_period_lifetime_and_a_clock_that_goes_back_are_counted() -> None:
    """The budget's three refusals each have a reason of their own."""
    now = [NOW]
    reporter = reporter_of(plan_of(m=CLOSED), clock=lambda: now[0])
    assert reporter.record("m", "a")
    assert not reporter.record("m", "a")
    assert reporter.counts == {"period-used-up": 1}
    now[0] -= DAY
    assert not reporter.record("m", "a")
    assert reporter.counts == {"period-used-up": 1, "clock-went-back": 1}
    for _ in range(2):
        now[0] += 2 * DAY
        assert reporter.record("m", "a")
    now[0] += 365 * DAY
    assert not reporter.record("m", "a")
    assert reporter.counts == {"period-used-up": 1, "clock-went-back": 1, "lifetime-used-up": 1}


def test_what_is_lost_after_recording_is_counted_in_reports() -> None:
    """Reports that the collector refuses, that give way to newer ones, and torn files are counted."""
    collector = Collector(*[Answer(400)] * 3)
    storage = MemoryStorage()
    reporter = reporter_of(sketch_plan(reports=1000), storage, collector, limit=1000)
    for _ in range(3):
        assert reporter.record("m", "a")
    assert reporter.flush().refused == 3
    assert reporter.counts == {"refused": 3}
    for _ in range(60):
        assert reporter.record("m", "a")
    dropped = reporter.counts["dropped"]
    assert dropped > 0
    name = next(name for name in storage.files if name.startswith("open-"))
    storage.files[name] += b"torn"
    result = reporter.flush()
    assert (result.sent, result.dropped) == (60 - dropped, dropped)
    assert reporter.flush().dropped == 0
    assert reporter.counts == {"refused": 3, "dropped": dropped, "torn": 1}


def test_the_documentation_explains_every_reason() -> None:
    """docs/client.md has one row for each reason and none for any other."""
    text = (Path(__file__).parents[3] / "docs" / "client.md").read_text(encoding="utf-8")
    table = text[text.index("| reason |") :]
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", table[: table.index("\n\n")], re.MULTILINE)
    assert rows == list(REASONS)


@pytest.mark.parametrize("error", [OSError(5, "io"), NotImplementedError("no source"), ValueError("x")])
def test_a_random_source_that_raises_costs_no_budget(error: Exception) -> None:
    """Where there are no random bytes nothing is encoded, and the budget is there when the source is back."""
    source: list[Callable[[int], bytes]] = [Noise()]
    storage = MemoryStorage()
    reporter = reporter_of(sketch_plan(), storage, source=lambda count: source[0](count))
    assert not reporter.record("m", 1.5)
    source[0] = fails(error)
    assert not reporter.record("m", "a")
    source[0] = lambda _: b""
    assert not reporter.record("m", "a")
    assert reporter.counts == {"type": 1, "entropy": 2}
    source[0] = Noise()
    assert reporter.record("m", "a")


@pytest.mark.parametrize("clock", [fails(OSError("no clock")), lambda: None, lambda: float("nan"), lambda: 0])
def test_a_clock_that_gives_no_time_records_nothing(clock: Callable[[], Any]) -> None:
    """A clock that raises, gives no number or was never set is a reason not to report, with nothing stored."""
    storage = MemoryStorage()
    reporter = reporter_of(sketch_plan(), storage, clock=clock)
    assert not reporter.record("m", "a")
    assert reporter.counts == {"clock": 1}
    assert storage.files == {}
