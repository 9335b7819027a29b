"""One file of a device's state is lost, or is an older one again, and nothing is told that is not paid for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hubbub_client import MemoryStorage, Reporter
from hubbub_client.pending import Pending
from hubbub_client.report_files import OPEN, fate_of, report_files

from tests.client.ledger import test_model as model
from tests.client.ledger.tampered import TamperedLife
from tests.client.reporter.reporting import Collector, reporter_of, sketch_plan

PLAN = sketch_plan(reports=100)
TAMPERED = st.one_of(
    st.tuples(st.just("lose"), st.integers(0, 9)),
    st.tuples(st.just("back"), st.integers(0, 9), st.integers(0, 99)),
)


@pytest.fixture(autouse=True, params=[False, True], ids=["apart", "joined"])
def joined(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """With the ledger in a file of its own, and joined with the reports."""
    monkeypatch.setattr(MemoryStorage, "journal", request.param, raising=False)
    return bool(request.param)


def recorded(reports: int, storage: MemoryStorage, **keys: Any) -> Reporter:
    """A reporter that recorded so many reports."""
    reporter = reporter_of(PLAN, storage, **keys)
    for _ in range(reports):
        assert reporter.record("m", "a"), reporter.problem
    return reporter


@given(model.STEPS, TAMPERED, model.STEPS)
@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
def test_one_file_that_is_lost_or_old_gives_nothing_back(
    before: list[tuple[Any, ...]], tampered: tuple[Any, ...], after: list[tuple[Any, ...]]
) -> None:
    """Whichever file is removed or an older one, whenever: refused, or all that left is charged; none opted in."""
    life = TamperedLife()
    for step in [*before, tampered, *after]:
        life.step(*step)


def fixed_lives() -> None:
    """Each file lost, and each older one put back, after each step of a life that records, sends, and opts out."""
    steps: list[tuple[Any, ...]] = [
        ("record", "m", "a"), ("record", "r", "a"), ("flush",), ("record", "m", "b"), ("days", 1), ("flush",),
        ("record", "r", "b"), ("enabled", False), ("enabled", True), ("record", "m", "a"), ("enabled", False),
    ]  # fmt: skip
    tampered = [("lose", which) for which in range(4)]
    tampered += [("back", which, when) for which in range(3) for when in range(4)]  # type: ignore[misc]
    for at in range(1, len(steps) + 1):
        for tamper in tampered:
            life = TamperedLife()
            for step in [*steps[:at], tamper, ("record", "m", "a"), ("flush",), ("record", "r", "a")]:
                life.step(*step)


def test_each_file_lost_or_put_back_after_each_step() -> None:
    """In a fixed life, too, at every moment, and for every file."""
    fixed_lives()


def test_a_client_whose_reports_hold_the_only_ledger_is_caught(joined: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lives above find a client that does not store the ledger before a file may be sent."""
    close: Callable[..., None] = Pending._close
    monkeypatch.setattr(Pending, "_close", lambda self, name, _: close(self, name, lambda: None))
    if joined:
        with pytest.raises(AssertionError):
            fixed_lives()
    else:
        fixed_lives()


@pytest.mark.parametrize("waits", [False, True])
def test_a_file_of_reports_that_is_lost_gives_nothing_back(waits: bool) -> None:
    """Whichever closed file of reports is removed, or all of them, what they cost stays spent."""
    storage = MemoryStorage()
    for _ in range(3):
        reporter = recorded(4, storage, limit=16384, transport=Collector(*[OSError()] * 4 if waits else []))
        reporter.flush()
    spent = reporter.spent()
    names = [name for name in report_files(storage) if fate_of(name) != OPEN]
    assert names
    for lost in [[name] for name in names] + [names]:
        left = MemoryStorage()
        left.files = {name: data for name, data in storage.files.items() if name not in lost}
        assert reporter_of(PLAN, left).spent() == spent
        assert reporter_of(PLAN, left).record("m", "a")


def test_an_open_file_that_is_lost_was_told_to_nobody(joined: bool) -> None:
    """Its reports are charged, or, where the ledger is joined, neither charged nor missed, but by a counter."""
    for counter in (None, Counting()):
        storage = MemoryStorage()
        storage.counter = counter
        assert recorded(4, storage).flush().sent == 4
        reporter = reporter_of(PLAN, storage)
        spent = reporter.spent()
        assert reporter.record("m", "a")
        storage.remove(report_files(storage)[-1])
        again = reporter_of(PLAN, storage)
        assert spent is not None
        if joined and counter:
            assert not again.record("m", "a")
            assert again.counts == {"state-rolled-back": 1}
        else:
            assert again.record("m", "a")
            assert again.spent() == spent + (1 if joined else 2) * PLAN.metric("m").epsilon_nano


class Counting:
    """A counter outside of the state."""

    value = 0

    def read(self) -> int:
        return self.value

    def advance(self, to: int) -> None:
        self.value = to


def test_a_ledger_of_before_an_opt_out_does_not_undo_it() -> None:
    """The ledger of the first report, put back after an opt-out, or an opt-in, is refused; opting in cures nothing."""
    for enabled in ([False], [False, True]):
        storage = MemoryStorage()
        reporter = recorded(1, storage)
        old = storage.files["ledger"]
        recorded(4, storage)
        for each in enabled:
            assert reporter.set_enabled(each)
        storage.files["ledger"] = old
        again = reporter_of(PLAN, storage, source=lambda count: b"s" * count)
        for change in ([], [False], [True]):
            for each in change:
                again.set_enabled(each)
            assert not again.record("m", "a")
            assert again.counts.pop("state-damaged")


def test_a_ledger_is_bound_before_anything_is_paid() -> None:
    """The secret removed after first use, with nothing recorded yet, is missed."""
    storage = MemoryStorage()
    assert not reporter_of(PLAN, storage, source=Failing()).record("m", "a")
    storage.remove("secret")
    reporter = reporter_of(PLAN, storage)
    assert not reporter.record("m", "a")
    assert reporter.counts == {"state-damaged": 1}


class Failing:
    """A source that fails once the secret is drawn."""

    drawn = 0

    def __call__(self, count: int) -> bytes:
        self.drawn += 1
        return b"s" * (count if self.drawn == 1 else 0)
