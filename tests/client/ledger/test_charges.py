from __future__ import annotations

import copy
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub_client import MemoryStorage, Plan, PlanError
from hubbub_client.charges import MOST_CHARGES, charged_after
from hubbub_client.charges_check import check_shape
from hubbub_client.exponential import FRACTION_BITS, MOST_NANO, exp_lower_long
from hubbub_client.ledger import MOST_TAGS, Ledger
from hubbub_client.mechanisms import rappor
from hubbub_client.plan import Metric, definition_fingerprint
from hubbub_registry.exact import exp_lower, ln_upper, nano_up

from tests.client.reporter.reporting import DAY, NOW, plan_of, reporter_of
from tests.registries import MECHANISMS, registry_of

ONE_HOT = {
    "mechanism": "rappor", "encoding": "one-hot", "values": ["a", "b", "c"], "bits": None, "hashes": None,
    "cohorts": None, "f": 0.5, "p": 0.25, "q": 0.75, "epsilon": 4, "reports_per_period": 10**6,
}  # fmt: skip


def enumerated(metric: Metric, reports: int) -> Fraction:
    """The largest ratio over every output of ``reports`` reports of one value, and over every pair of values."""
    p = metric.parameters
    flip = Fraction(p["prr_threshold"], 1 << p["prr_precision"])
    shown = [Fraction(p["irr_p"], 1 << p["irr_precision"]), Fraction(p["irr_q"], 1 << p["irr_precision"])]

    def chances(held: int) -> list[Fraction]:
        found = []
        for output in product((0, 1), repeat=reports):
            chance = Fraction(0)
            for permanent in (0, 1):
                each = flip if permanent != held else 1 - flip
                for bit in output:
                    each *= shown[permanent] if bit else 1 - shown[permanent]
                chance += each
            found.append(chance)
        return found

    # Bits are independent, and two one-hot vectors differ in one bit of each kind.
    zero, one = chances(0), chances(1)
    pairs = list(zip(zero, one, strict=True))
    return max(b / a for a, b in pairs) * max(a / b for a, b in pairs)


@pytest.mark.parametrize("reports", [1, 2, 3, 5, 8])
def test_what_is_charged_is_what_enumerating_every_output_gives(reports: int) -> None:
    """After t reports of one value a device has spent ln of the worst ratio of all outputs, rounded up to 1e-9."""
    plan = plan_of(m=ONE_HOT)
    reporter = reporter_of(plan)
    for _ in range(reports):
        assert reporter.record("m", "b")
    assert reporter.spent() == nano_up(ln_upper(enumerated(plan.metric("m"), reports)))


def test_values_are_charged_apart_and_a_value_that_returns_goes_on() -> None:
    """A history of values costs eps(t1) + eps(t2) + ..., in whatever order they come."""
    plan = plan_of(m=ONE_HOT)
    metric = plan.metric("m")
    reporter = reporter_of(plan)
    for value in "abacabab":
        assert reporter.record("m", value)
    assert reporter.spent() == metric.charges[3] + metric.charges[2] + metric.charges[0]


def test_the_bound_is_charged_once_and_then_nothing() -> None:
    """However many reports of one value are made, they cost no more than the limit, and a used-up lifetime takes it."""
    bound = plan_of(m=ONE_HOT).metric("m").charges[-1]
    plan = plan_of(m={**ONE_HOT, "lifetime_epsilon": Fraction(bound + 1, 10**9).__ceil__()})
    reporter = reporter_of(plan)
    for _ in range(200):
        assert reporter.record("m", "a")
    assert reporter.spent() == bound
    assert not reporter.record("m", "b")
    assert reporter.counts == {"lifetime-used-up": 1}
    assert reporter.record("m", "a")
    assert reporter.spent() == bound


def test_charges_bound_the_exact_figures_for_any_number_of_reports() -> None:
    """Within the list the charge is eps(t) rounded up; from its last entry on it is eps_inf."""
    weak = {**MECHANISMS["rappor"], "mechanism": "rappor", "f": 0.5, "p": 0.49, "q": 0.51}
    for keys in (ONE_HOT, {"mechanism": "rappor"}, weak):
        metric = plan_of(m=keys).metric("m")
        bound = Fraction(*rappor.permanent_ratio(metric.parameters))
        before = 0
        for reports in range(1, 3 * MOST_CHARGES):
            pair = rappor.ratio_after(metric.parameters, reports)
            assert pair is not None
            exact, charged = Fraction(*pair), charged_after(metric, reports)
            assert max(before, nano_up(ln_upper(exact))) <= charged <= nano_up(ln_upper(bound))
            if reports < len(metric.charges):
                assert charged == nano_up(ln_upper(exact)) <= reports * metric.epsilon_nano
            before = charged
        assert len(metric.charges) <= MOST_CHARGES
        assert metric.charges[-1] == nano_up(ln_upper(bound))


def test_tags_are_bounded_and_a_forgotten_one_is_charged_as_new() -> None:
    """Of many values the latest are told apart; one that was forgotten costs eps(1) again, never less."""
    plan = plan_of(m={"mechanism": "rappor", "reports_per_period": 1000})
    one, two = plan.metric("m").charges[:2]
    storage = MemoryStorage()
    reporter = reporter_of(plan, storage)
    assert MOST_TAGS == 32
    for value in range(MOST_TAGS + 1):
        assert reporter.record("m", value)
    ledger = Ledger.load(storage)
    assert ledger is not None
    assert len(ledger.entries["m"].tags) == MOST_TAGS
    assert reporter.record("m", MOST_TAGS)
    assert reporter.record("m", 1)  # was the oldest one kept, is now the latest
    assert reporter.record("m", 0)
    assert reporter.record("m", 1)
    assert reporter.spent() == (MOST_TAGS + 2) * one + 2 * (two - one) + plan.metric("m").charges[2] - two


def test_a_tag_depends_on_secret_definition_and_value_and_shows_none(tmp_path: Path) -> None:
    """Two devices, two metrics and two values share no tag, and the value is not in the ledger."""
    plan = plan_of(m={"mechanism": "rappor", "reports_per_period": 9}, n={"mechanism": "rappor"})
    seen = set()
    for device in range(3):
        storage = MemoryStorage()
        reporter = reporter_of(plan, storage, source=lambda count, device=device: bytes([device]) * count)
        for name, value in (("m", "value"), ("m", "other"), ("n", "value")):
            assert reporter.record(name, value)
        ledger = Ledger.load(storage)
        assert ledger is not None
        seen |= {str(tag) for entry in ledger.entries.values() for tag, _ in entry.tags}
        assert b"value" not in storage.files["ledger"]
    assert len(seen) == 9


def test_another_definition_has_new_noise_and_is_charged_as_new() -> None:
    """After a plan changed the fingerprint the same value meets new permanent noise and costs eps(1) again."""
    storage = MemoryStorage()
    first = plan_of(m={"mechanism": "rappor", "reports_per_period": 9})
    second = plan_of(m={"mechanism": "rappor", "reports_per_period": 9, "cohorts": 4})
    assert reporter_of(first, storage).record("m", "a")
    reporter = reporter_of(second, storage)
    assert reporter.record("m", "a")
    assert reporter.spent() == first.metric("m").charges[0] + second.metric("m").charges[0]


def document_of(tmp_path: Path) -> dict[str, Any]:
    return copy.deepcopy(dict(registry_of(tmp_path, m={"mechanism": "rappor"}).document))


def resigned(document: dict[str, Any]) -> dict[str, Any]:
    entry = document["metrics"][0]
    entry["fingerprint"] = definition_fingerprint(document["namespace"], entry).hex()
    return document


def test_a_plan_whose_charges_are_too_low_is_refused(tmp_path: Path) -> None:
    """Each entry is held against the exact ratio: one below it by 2e-9, in a plan otherwise right, is refused."""
    document = document_of(tmp_path)
    charges = document["metrics"][0]["charges"]
    for place in range(1, len(charges)):
        changed = copy.deepcopy(document)
        changed["metrics"][0]["charges"][place] -= 2
        if changed["metrics"][0]["charges"][place] >= charges[place - 1]:
            with pytest.raises(PlanError, match="less privacy than the epsilon it states"):
                Plan(resigned(changed))
    short = copy.deepcopy(document)
    del short["metrics"][0]["charges"][-1]  # the last one must bound any number of reports
    with pytest.raises(PlanError, match="less privacy"):
        Plan(resigned(short))


@pytest.mark.parametrize(
    "change",
    [
        lambda c: [], lambda c: "x", lambda c: {}, lambda c: [c[0] + 1, *c[1:]], lambda c: c[1:],
        lambda c: [c[0], 1.5, *c[1:]], lambda c: [c[0], True, *c[1:]], lambda c: c[::-1], lambda c: [*c, MOST_NANO + 1],
        lambda c: c[:1] * MOST_CHARGES + c,
    ],
)  # fmt: skip
def test_charges_that_no_compiler_makes_are_refused(tmp_path: Path, change: Any) -> None:
    """No list, an empty or overlong one, one that falls, holds no integers, or begins with another cost."""
    document = document_of(tmp_path)
    entry = document["metrics"][0]
    entry["charges"] = change(entry["charges"])
    try:
        resigned(document)
    except TypeError:
        return  # a float cannot even be signed
    with pytest.raises(PlanError, match="is damaged"):
        Plan(document)


def test_a_list_of_64_charges_is_taken_and_one_of_65_is_not() -> None:
    """The bound on the list is 64, which a board can hold."""
    check_shape([7] * 64, 7)
    for charges in ([7] * 65, []):
        with pytest.raises(ValueError, match="none, or too many"):
            check_shape(charges, 7)


@pytest.mark.parametrize("charges", [[7, 9, 8], [7, 9.5], [7, True], [7, "9"]])
def test_charges_rise_and_are_integers(charges: list[Any]) -> None:
    """A list that falls anywhere, or holds anything but integers, is none that a compiler makes."""
    with pytest.raises((ValueError, TypeError)):
        check_shape(charges, 7)


def test_charges_without_permanent_noise_are_refused(tmp_path: Path) -> None:
    """A metric whose noise is new in every report cannot have its later reports charged less."""
    for keys in ({"mechanism": "unary-encoding"}, {"mechanism": "rappor", "reports": "one-time", "p": None, "q": None}):
        document = copy.deepcopy(dict(registry_of(tmp_path, m={**keys, "epsilon": 4.5}).document))
        entry = document["metrics"][0]
        assert "charges" not in entry
        entry["charges"] = [entry["epsilon_nano"]]
        with pytest.raises(PlanError, match="without permanent noise"):
            Plan(resigned(document))


def test_a_plan_without_charges_pays_for_each_report(tmp_path: Path) -> None:
    """Permanent noise without charges is charged by plain composition, which is more."""
    document = document_of(tmp_path)
    entry = document["metrics"][0]
    del entry["charges"]
    entry["reports_per_period"] = 9
    plan = Plan(resigned(document))
    reporter = reporter_of(plan)
    for _ in range(3):
        assert reporter.record("m", "a")
    assert reporter.spent() == 3 * entry["epsilon_nano"]


@given(st.integers(0, MOST_NANO))
@settings(max_examples=60, deadline=None)
def test_the_long_exponential_is_a_lower_bound_and_a_close_one(nano: int) -> None:
    """It never exceeds e^x, and falls short by less than one part in 2**59 of the host's own lower bound."""
    low = exp_lower(Fraction(nano, 10**9))
    found = Fraction(exp_lower_long(nano), 1 << FRACTION_BITS)
    assert ln_upper(found) <= Fraction(nano, 10**9) + Fraction(1, 10**49)
    assert found * (1 + Fraction(1, 1 << 59)) >= low


@pytest.mark.parametrize("nano", [-1, MOST_NANO + 1])
def test_outside_its_range_the_long_exponential_refuses(nano: int) -> None:
    """Below 0 or above 1024 it raises."""
    with pytest.raises(ValueError, match="between 0 and 1024"):
        exp_lower_long(nano)


def test_periods_hold_for_permanent_noise_too() -> None:
    """A report that costs nothing more still is one of the period's reports."""
    plan = plan_of(m={**ONE_HOT, "reports_per_period": 2})
    day = 0
    reporter = reporter_of(plan, clock=lambda: NOW + day * DAY)
    for day in range(40):  # noqa: B007 - the clock reads it
        assert [reporter.record("m", "a") for _ in range(3)] == [True, True, False]
