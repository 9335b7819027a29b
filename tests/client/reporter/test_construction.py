from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hubbub_client import Answer, MemoryStorage, Plan, PlanError, Reporter, StateError, TransportError
from hubbub_client.errors import EntropyError
from hubbub_client.frames import room_for
from hubbub_client.making import default_source

from tests.client.reporter.reporting import Collector, FailingStorage, PowerCut, plan_of, reporter_of, sketch_plan
from tests.registries import registry_of


def test_a_reporter_takes_a_path_to_a_plan_a_directory_and_a_url(tmp_path: Path) -> None:
    """Text and path objects stand for a plan, a directory and an address, as well as the objects themselves."""
    registry = registry_of(tmp_path, m={"mechanism": "hadamard-response"})
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(registry.document))
    for plan, state in ((path, tmp_path / "one"), (str(path), str(tmp_path / "two")), (registry.plan, MemoryStorage())):
        with Reporter(plan, state=state, transport="https://collector.example.org") as reporter:  # type: ignore[arg-type]
            assert reporter.record("m", "a")
    assert (tmp_path / "one" / "secret").exists()


@pytest.mark.parametrize(
    ("plan", "state", "transport", "error"),
    [
        ("no/such/plan.json", MemoryStorage(), Collector(), OSError),
        (__file__, MemoryStorage(), Collector(), PlanError),
        (None, "", Collector(), StateError),
        (None, "/", Collector(), StateError),
        (None, None, Collector(), StateError),
        (None, b"directory", Collector(), StateError),
        (None, MemoryStorage(), None, TransportError),
        (None, MemoryStorage(), "collector.example.org", TransportError),
    ],
)
def test_what_an_app_passes_wrongly_is_a_typed_error_at_once(
    plan: Any, state: Any, transport: Any, error: type[Exception]
) -> None:
    """A mistake in the program shows when the Reporter is made, and not as silence later."""
    good: Plan = sketch_plan()
    with pytest.raises(error):
        Reporter(good if plan is None else plan, state=state, transport=transport)


def test_making_a_reporter_touches_no_state(tmp_path: Path) -> None:
    """Nothing is made on disk before the first record or flush."""
    Reporter(sketch_plan(), state=str(tmp_path / "state"), transport=Collector())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("joined", [False, True])
def test_a_limit_that_holds_no_report_is_refused_at_once(joined: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the least limit, and with it one report is kept."""
    monkeypatch.setattr(MemoryStorage, "journal", joined, raising=False)
    plan = plan_of(m={"mechanism": "count-mean-sketch"}, r={"mechanism": "rappor"})
    with pytest.raises(StateError, match=r"give at least [0-9]+$") as refused:
        reporter_of(plan, limit=20)
    least = int(str(refused.value).rpartition(" ")[2])
    with pytest.raises(StateError, match=f"a limit of {least - 1} bytes"):
        reporter_of(plan, limit=least - 1)
    reporter = reporter_of(plan, limit=least)
    assert reporter.record("m", "a")
    assert reporter.record("r", "a")
    assert reporter.flush().sent == 1


def test_nothing_is_dropped_for_a_report_that_does_not_fit() -> None:
    """A report that would not fit beside what is being sent, though all else gave way, is refused and drops nothing."""
    plan = sketch_plan(reports=100)
    storage = FailingStorage(0, "", PowerCut, {})
    generous = reporter_of(plan, storage)
    for _ in range(6):
        assert generous.record("m", "a")
    assert generous.flush().sent == 6

    class Slow(Collector):
        def send(self, body: bytes) -> Answer:
            if not self.bodies:
                frugal._session.open_pending()._limit = 300
                assert not frugal.record("m", "a")
            return super().send(body)

    for _ in range(6):
        assert generous.record("m", "a")
    generous._session.open_pending().close(lambda: None)
    assert generous.record("m", "a")
    frugal = reporter_of(plan, storage, Slow())
    assert frugal.flush().sent == 7
    assert frugal.counts == {"full": 1}


BOARDS = ("rp2", "pyboard", "nrf52", "esp32", "esp8266", "samd", "mimxrt", "webassembly", "unknown")


@pytest.mark.parametrize("implementation", ["micropython", "circuitpython"])
@pytest.mark.parametrize("platform", BOARDS)
def test_a_board_has_no_source_of_its_own(platform: str, implementation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where os.urandom may be anything, nothing is recorded without a source, and that is counted; with one, it is."""
    with monkeypatch.context() as patched:
        patched.setattr(sys, "implementation", SimpleNamespace(name=implementation))
        patched.setattr(sys, "platform", platform)
        patched.setattr(os, "urandom", bytes)
        reporter = Reporter(sketch_plan(), MemoryStorage(), Collector(), clock=lambda: 1_800_000_000)
    assert not reporter.record("m", "a")
    assert reporter.counts == {"entropy": 1}
    assert "pass a source" in (reporter.problem or "")
    assert reporter_of(sketch_plan()).record("m", "a")


@pytest.mark.parametrize(
    ("implementation", "platform"),
    [
        ("cpython", "linux"),
        ("cpython", "win32"),
        ("cpython", "freebsd14"),
        ("micropython", "linux"),
        ("micropython", "darwin"),
    ],
)
def test_an_operating_system_is_a_source(implementation: str, platform: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under CPython, and on MicroPython over an operating system, its generator is the source."""
    monkeypatch.setattr(sys, "implementation", SimpleNamespace(name=implementation))
    monkeypatch.setattr(sys, "platform", platform)
    assert default_source() is os.urandom


def test_a_port_without_urandom_has_no_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the interpreter has no os.urandom at all, a source is made that gives nothing."""
    monkeypatch.delattr(os, "urandom")
    with pytest.raises(EntropyError, match="pass a source"):
        default_source()(16)


def test_a_limit_that_just_holds_a_report_is_enough_for_plain_storage() -> None:
    """Storage that does not journal needs no room for a payment beside a report."""
    plan = sketch_plan()
    (metric,) = plan.metrics.values()
    least = room_for(metric.name, metric.record_bytes, False)
    assert reporter_of(plan, MemoryStorage(), limit=least).record("m", "a")
