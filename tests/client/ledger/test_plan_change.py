from __future__ import annotations

import copy
import datetime
import json
from typing import Any

import msgpack
import pytest

from hubbub_client import MemoryStorage, Plan, PlanError
from hubbub_client.errors import PlanChangeError
from hubbub_client.plan import definition_fingerprint
from hubbub_client.plan_change import REASONS, charges_raised
from hubbub_client.reporter import Reporter

from tests.client.reporter.reporting import DAY, NOW, Collector, plan_of, reporter_of
from tests.registries import registry_of

BASE: dict[str, Any] = {"reports_per_period": 3, "period": "7d", "lifetime_epsilon": 50}
SKETCH = {**BASE, "mechanism": "count-mean-sketch", "epsilon": 2}
RAPPOR = {**BASE, "mechanism": "rappor"}


@pytest.fixture
def document(tmp_path: Any) -> dict[str, Any]:
    return copy.deepcopy(dict(registry_of(tmp_path, m=SKETCH, r=RAPPOR).document))


def of(tmp_path: Any, **metrics: dict[str, Any]) -> Plan:
    return registry_of(tmp_path, **metrics).plan


RAISES: list[tuple[str, dict[str, Any]]] = [
    ("new-metric", {"m": SKETCH, "r": RAPPOR, "new": SKETCH}),
    ("epsilon", {"m": {**SKETCH, "epsilon": 2.5}}),
    ("epsilon", {"r": {**RAPPOR, "epsilon": 1.2}}),  # the declared bound, with the same noise
    ("charges", {"r": {**RAPPOR, "reports": "one-time", "p": None, "q": None, "f": 0.9, "hashes": 1}}),
    ("charges", {"r": {**RAPPOR, "f": 0.4, "p": 0.5, "q": 0.7}}),
    ("lifetime", {"m": {**SKETCH, "lifetime_epsilon": 51}}),
    ("lifetime", {"m": {**SKETCH, "lifetime_epsilon": "unbounded", "unbounded_justification": "a test of it"}}),
    ("reports", {"m": {**SKETCH, "reports_per_period": 4}}),
    ("period", {"m": {**SKETCH, "period": "6d"}}),
    ("expires", {"m": {**SKETCH, "expires": datetime.date(2099, 1, 2)}}),
    ("cohorts", {"r": {**RAPPOR, "cohorts": 9}}),
    ("dimension", {"m": {**SKETCH, "dimension": {"name": "version", "values": ["1.0", "1.1"]}}}),
]


@pytest.mark.parametrize(("reason", "metrics"), RAISES)
def test_a_remote_plan_that_asks_for_more_is_refused(
    tmp_path: Any, document: dict[str, Any], reason: str, metrics: dict[str, Any]
) -> None:
    """Each bound that would rise or fall away has a reason of its own, is counted, and leaves the old plan in force."""
    new = of(tmp_path, **metrics)
    old = Plan(document)
    with pytest.raises(PlanChangeError) as caught:
        old.replaced_by(new)
    assert caught.value.reason == reason
    reporter = reporter_of(old)
    assert not reporter.replace_plan(new)
    assert reporter.counts == {"plan-refused": 1}
    assert reporter.problem == str(caught.value)
    assert reporter.plan is old


def test_the_last_of_the_longest_charges_counts() -> None:
    """Charges that rise at the sixty-fourth report alone are more, and so are those that fall away."""
    old = plan_of(m={**RAPPOR, "f": 0.5, "p": 0.49, "q": 0.51}).metric("m")
    assert len(old.charges) == 64
    for charges in ([*old.charges[:-1], old.charges[-1] + 1], []):
        new = copy.copy(old)
        new.charges = charges
        assert charges_raised(old, new)


def test_cohorts_where_there_were_none_are_more(tmp_path: Any) -> None:
    """A mechanism that sends no cohort is one cohort: two of them tell devices apart that were alike."""
    old = of(tmp_path, m={**SKETCH, "epsilon": 8})
    new = of(tmp_path, m={**RAPPOR, "epsilon": 4.5, "cohorts": 2})
    assert "cohorts" not in old.metric("m").parameters
    new.metric("m").charges = []
    with pytest.raises(PlanChangeError) as caught:
        old.replaced_by(new)
    assert caught.value.reason == "cohorts"


@pytest.mark.parametrize("namespace", ["org.example.another", "org.example.zebra"])
def test_another_namespace_is_refused(document: dict[str, Any], namespace: str) -> None:
    """A plan of another namespace, before or after in the alphabet, is another app's."""
    other = copy.deepcopy(document)
    other["namespace"] = namespace
    for entry in other["metrics"]:
        entry["fingerprint"] = definition_fingerprint(other["namespace"], entry).hex()
    with pytest.raises(PlanChangeError) as caught:
        Plan(document).replaced_by(other)
    assert caught.value.reason == "namespace"
    assert {reason for reason, _ in RAISES} | {"namespace"} == set(REASONS)


@pytest.mark.parametrize(
    "metrics",
    [
        {"m": SKETCH, "r": RAPPOR},
        {"m": SKETCH},
        {"m": {**SKETCH, "epsilon": 1}},
        {"m": {**SKETCH, "lifetime_epsilon": 49, "reports_per_period": 2, "period": "30d"}},
        {"r": {**RAPPOR, "f": 0.6}, "m": {**SKETCH, "width": 256, "hashes": 8}},
        {"r": {**RAPPOR, "cohorts": 4}},
        {"m": {**SKETCH, "expires": datetime.date(2098, 1, 1)}},
    ],
)
def test_a_remote_plan_that_asks_for_no_more_is_taken(
    tmp_path: Any, document: dict[str, Any], metrics: dict[str, Any]
) -> None:
    """Less epsilon, fewer metrics, rarer reports or another sketch are taken, and reports go under the new plan."""
    new = of(tmp_path, **metrics)
    reporter = reporter_of(Plan(document))
    assert reporter.record("m", "a")
    assert reporter.replace_plan(new)
    assert reporter.plan is new
    for name in new.metrics:
        assert reporter.record(name, "a")
        assert reporter.log()[-1][1].fingerprint == new.metric(name).fingerprint


def test_a_chain_of_remote_plans_never_climbs(tmp_path: Any, document: dict[str, Any]) -> None:
    """A metric that one remote plan left out cannot come back by another, and epsilon that fell cannot rise again."""
    plan = Plan(document)
    lower = plan.replaced_by(of(tmp_path, m={**SKETCH, "epsilon": 1}))
    for back in (document, of(tmp_path, m=SKETCH), of(tmp_path, r=RAPPOR)):
        with pytest.raises(PlanChangeError):
            lower.replaced_by(back)
    assert plan.replaced_by(document).metrics.keys() == plan.metrics.keys()


def test_a_remote_plan_comes_in_either_form_and_is_checked_like_any(document: dict[str, Any]) -> None:
    """JSON and msgpack bytes are taken; what is no plan, or understates its epsilon, is refused and counted."""
    plan = Plan(document)
    for data in (json.dumps(document).encode(), msgpack.packb(document)):
        assert plan.replaced_by(data).metrics.keys() == plan.metrics.keys()
    understated = copy.deepcopy(document)
    entry = understated["metrics"][0]
    entry["epsilon_nano"] -= 2
    entry["fingerprint"] = definition_fingerprint(understated["namespace"], entry).hex()
    reporter = reporter_of(plan)
    for bad in (b"", b"[]", b"{", {}, understated):
        assert not reporter.replace_plan(bad)
        with pytest.raises(PlanError):
            plan.replaced_by(bad)
    assert reporter.counts == {"plan-refused": 5}


def test_what_was_spent_stays_spent_under_a_remote_plan(tmp_path: Any, document: dict[str, Any]) -> None:
    """A remote plan that lowers a lifetime below what was spent silences the metric."""
    storage = MemoryStorage()
    now = [NOW]
    reporter = Reporter(Plan(document), storage, Collector(), clock=lambda: now[0])
    for _ in range(3):
        assert reporter.record("m", "a")
    assert reporter.replace_plan(of(tmp_path, m={**SKETCH, "lifetime_epsilon": 6}))
    now[0] += 7 * DAY
    assert not reporter.record("m", "a")
    assert reporter.counts == {"lifetime-used-up": 1}
