"""What stops a report between its payment and its place in a file leaves no gap in the ledger."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hubbub_client import MemoryStorage, Plan, Reporter
from hubbub_client.plan_check import fingerprint_of

from tests.client.reporter.reporting import reporter_of, sketch_plan
from tests.registries import registry_of

MEANS: dict[str, dict[str, Any]] = {
    "one-bit-mean": {"mechanism": "one-bit-mean", "reports_per_period": 100, "lifetime_epsilon": 1000},
    "d-bit-flip": {"mechanism": "d-bit-flip", "reports_per_period": 100, "lifetime_epsilon": 1000},
}


class Interrupted(BaseException):
    """Ctrl-C, or what else ends a report and is no Exception."""


@pytest.fixture(autouse=True, params=[False, True], ids=["apart", "joined"])
def joined(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the ledger in a file of its own, and joined with the reports."""
    monkeypatch.setattr(MemoryStorage, "journal", request.param, raising=False)


def plan_of(folder: Path, charges: bool, **metrics: dict[str, Any]) -> Plan:
    """A plan, as a registry that lists ``charges`` makes it, or as one that does not."""
    registry = registry_of(folder, **metrics)
    if charges:
        return registry.plan
    document = copy.deepcopy(dict(registry.document))
    for metric in document["metrics"]:
        assert metric.pop("charges")
        metric["fingerprint"] = fingerprint_of(document["namespace"], metric, 1).hex()
    return Plan(document)


@pytest.mark.parametrize("charges", [True, False])
@pytest.mark.parametrize("mechanism", MEANS)
def test_a_value_that_is_rejected_costs_nothing(mechanism: str, charges: bool, tmp_path: Path) -> None:
    """A number out of range is refused before anything is spent on it, and the next run goes on."""
    plan = plan_of(tmp_path, charges, b=MEANS[mechanism])
    storage = MemoryStorage()
    reporter = reporter_of(plan, storage)
    assert reporter.record("b", 0)
    spent, generation = reporter.spent(), reporter._session.open_state()[1].generation
    for value in (-(10**6), 10**6, "one"):
        assert not reporter.record("b", value)
    assert reporter.counts == {"not-in-values": 3}
    assert reporter.spent() == spent
    assert reporter._session.open_state()[1].generation == generation
    assert reporter.record("b", 0)
    again = reporter_of(plan, storage)
    assert again.record("b", 0)
    assert again.counts == {}


@pytest.mark.parametrize("failure", [Interrupted, ValueError])
def test_an_interruption_after_the_payment_leaves_no_gap(failure: type[BaseException]) -> None:
    """Whatever is raised while a report is encoded, this run goes on with what is stored, and so does the next one."""
    storage = MemoryStorage()
    plan = sketch_plan(reports=100)
    reporter = reporter_of(plan, storage)
    assert reporter.record("m", "a")
    interrupt(reporter, failure)
    with suppress(Interrupted):
        assert not reporter.record("m", "a")
    for _ in range(2):
        assert reporter.record("m", "a"), reporter.problem
        reporter = reporter_of(plan, storage)
    assert reporter.record("m", "a"), reporter.problem
    assert reporter.flush().sent == 4


def interrupt(reporter: Reporter, failure: type[BaseException]) -> None:
    """The next report of ``m`` is interrupted once it is paid for."""

    def encode(data: bytes, source: Callable[[int], bytes]) -> bytes:
        raise failure

    reporter._session.encoders["m"].encode = encode
