"""A public dimension on the device: sent as it is, in front, and no part of what is private or paid for."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client import MemoryStorage, Plan, PlanError
from hubbub_client.dimension import record_fields
from hubbub_client.errors import PlanChangeError
from hubbub_client.mechanisms import rappor
from hubbub_client.plan import definition_fingerprint
from hubbub_client.prf import expand
from hubbub_client.records import unpack, width

from tests.client.reporter.reporting import Collector, plan_of, reporter_of
from tests.registries import MECHANISMS, values_of

CLOSED = {"name": "country", "values": ["CH", "DE", "FR"]}
OTHER = {"name": "version", "values": ["1.0", "1.1", "other"], "other": "other"}
ANYTHING = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.text(alphabet="\ud800\udfffa"), st.binary(),
    st.lists(st.integers()), st.dictionaries(st.text(), st.integers()), st.just(object()),
)  # fmt: skip


def plan(mechanism: str = "randomized-response", dimension: Any = CLOSED, **keys: Any) -> Plan:
    return plan_of(m={"mechanism": mechanism, "dimension": dimension, **keys})


def record_of(of: Plan, value: object, dimension: object = None) -> bytes:
    """The one record that a new device sends; every device here draws the same bytes."""
    collector = Collector()
    reporter = reporter_of(of, transport=collector)
    assert reporter.record("m", value, dimension), reporter.problem
    assert reporter.flush().sent == 1
    (record,) = collector.records(of.metric("m").record_bytes)
    return record


@pytest.mark.parametrize("mechanism", sorted(MECHANISMS))
def test_no_bit_of_the_mechanisms_record_depends_on_the_dimension(mechanism: str) -> None:
    """One device's report of one value differs between dimensions in its first byte alone, permanent noise and all."""
    of = plan(mechanism)
    for value in values_of(mechanism):
        sent = [record_of(of, value, cell) for cell in CLOSED["values"]]
        assert [record[0] for record in sent] == [0, 1, 2]
        assert len({record[1:] for record in sent}) == 1
        assert len(sent[0]) == of.metric("m").record_bytes


def test_noise_that_depended_on_the_dimension_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same comparison finds a permanent noise that is keyed by what is sent in front."""
    of = plan("rappor")
    drawn: list[bytes] = []

    def leaky(secret: bytes, label: bytes, context: bytes, count: int) -> bytes:
        drawn.append(context)
        return expand(secret, label, context + bytes([len(drawn)]), count)

    monkeypatch.setattr(rappor, "expand", leaky)
    sent = [record_of(of, "a", cell) for cell in CLOSED["values"]]
    assert len({record[1:] for record in sent}) > 1


def test_a_value_costs_the_same_whatever_the_dimension_says() -> None:
    """Reports of one value under two dimensions are charged as two reports of one value: an update renews nothing."""
    of = plan("rappor", OTHER, reports_per_period=3)
    metric = of.metric("m")
    reporter = reporter_of(of)
    for i, cell in enumerate(("1.0", "1.1", "2.0")):
        assert reporter.record("m", "a", cell)
        assert reporter.spent("m") == metric.charges[i]
    assert not reporter.record("m", "a", "1.0")
    assert reporter.counts == {"period-used-up": 1}


@pytest.mark.parametrize("dimension", [None, "AT", "ch", "", 1, 1.5, ["DE"], "x" * 300, b"\xff", "\ud800", object()])
def test_what_is_not_in_the_list_is_refused_and_costs_nothing(dimension: object) -> None:
    """Without a value, or with one that is not listed, nothing is spent or stored, and the problem holds no value."""
    storage = MemoryStorage()
    reporter = reporter_of(plan(), storage)
    assert not reporter.record("m", "a", dimension)
    assert reporter.counts == {"dimension": 1}
    assert storage.files == {}
    assert reporter.problem is not None
    if dimension:
        assert str(dimension) not in reporter.problem.replace("m: ", "")
    assert reporter.record("m", "a", "DE")


def test_swapped_arguments_send_no_value_in_the_clear() -> None:
    """A private value in the dimension's place is refused, also where the metric takes any value."""
    of = plan("count-mean-sketch", {**CLOSED, "values": ["CH", "DE"]})
    reporter = reporter_of(of)
    assert not reporter.record("m", "DE", "my private page")
    assert reporter.counts == {"dimension": 1}


def test_other_stands_for_what_is_not_listed_and_not_for_what_is_missing() -> None:
    """An unlisted text goes under ``other``; no value, or one that is no text, is still refused."""
    of = plan(dimension=OTHER)
    assert [record_of(of, "a", cell)[0] for cell in ("1.0", "1.1", "other", "7.3", "")] == [0, 1, 2, 2, 2]
    reporter = reporter_of(of)
    for missing in (None, 1.5, ["1.0"]):
        assert not reporter.record("m", "a", missing)
    assert reporter.counts == {"dimension": 3}


def test_a_metric_without_a_dimension_sends_none() -> None:
    """What an app says of a dimension that its plan does not have is not sent, and changes nothing."""
    of = plan_of(m={"mechanism": "randomized-response"})
    assert of.metric("m").dimension is None
    assert record_of(of, "a", "DE") == record_of(of, "a")


@given(ANYTHING, ANYTHING)
def test_nothing_that_is_passed_ever_raises(value: Any, dimension: Any) -> None:
    """Whatever an app passes as value and dimension, each refusal is one count under a reason, and never internal."""
    for of in (plan(), plan("count-mean-sketch", OTHER)):
        reporter = reporter_of(of)
        refused = not reporter.record("m", value, dimension)
        assert sum(reporter.counts.values()) == refused
        assert "internal" not in reporter.counts


@given(st.integers(2, 256), st.data())
def test_every_place_survives_packing(count: int, data: st.DataObject) -> None:
    """For lists of 2 to 256 values, the byte in front unpacks to the value's place by the fields that the plan says."""
    of = Plan(entry_of(count))
    metric = of.metric("m")
    place = data.draw(st.integers(0, count - 1))
    record = record_of(of, "a", f"v{place}")
    fields = record_fields(metric)
    assert fields[0] == ("dimension", 8, count % 256)
    assert width(fields) == metric.record_bytes == len(record)
    assert unpack(fields, record)[0] == place


def entry_of(count: int) -> dict[str, Any]:
    """A plan with that many values, made without reading a registry."""
    document = copy.deepcopy(DOCUMENT)
    entry = document["metrics"][0]
    entry["dimension"] = {"name": "country", "values": [f"v{i}" for i in range(count)]}
    entry["fields"][0] = ["dimension", 8, count % 256]
    return signed(document)


def signed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with its fingerprint made right again."""
    entry = document["metrics"][0]
    entry["fingerprint"] = definition_fingerprint(document["namespace"], entry).hex()
    return document


def _document() -> dict[str, Any]:
    import tempfile
    from pathlib import Path

    from tests.registries import registry_of

    with tempfile.TemporaryDirectory() as folder:
        made = registry_of(Path(folder), m={"mechanism": "randomized-response", "dimension": OTHER})
        return copy.deepcopy(dict(made.document))


DOCUMENT = _document()
DAMAGED: list[tuple[str, Any]] = [
    ("dimension", {"name": "v", "values": ["1.0"]}),
    ("dimension", {"name": "v", "values": ["1.0", "1.0", "other"]}),
    ("dimension", {"name": "v", "values": ["1.0", "1.1", 7]}),
    ("dimension", {"name": 7, "values": ["1.0", "1.1", "other"]}),
    ("dimension", {"values": ["1.0", "1.1", "other"]}),
    ("dimension", {"name": "v"}),
    ("dimension", {"name": "v", "values": "abc"}),
    ("dimension", {"name": "v", "values": ["1.0", "1.1", "other"], "other": 3}),
    ("dimension", {"name": "v", "values": ["1.0", "1.1", "other"], "other": 4}),
    ("dimension", {"name": "v", "values": ["1.0", "1.1", "other"], "other": -1}),
    ("dimension", {"name": "v", "values": ["1.0", "1.1", "other"], "other": "other"}),
    ("dimension", {"name": "v", "values": [f"v{i}" for i in range(257)]}),
    ("dimension", ["v"]),
    ("dimension", "v"),
    ("dimension", 7),
    ("fields", [["dimension", 8, 4], ["index", 3, 5]]),
    ("fields", [["dimension", 7, 3], ["index", 3, 5]]),
    ("fields", [["index", 3, 5]]),
    ("fields", [["index", 3, 5], ["dimension", 8, 3]]),
    ("fields", []),
]


@pytest.mark.parametrize(("key", "change"), DAMAGED)
def test_a_damaged_dimension_is_refused(key: str, change: Any) -> None:
    """A list that is none, too long or repeats itself, or a field that is not its own, is a PlanError when loaded."""
    document = copy.deepcopy(DOCUMENT)
    assert Plan(signed(document)).metric("m").dimension
    document["metrics"][0][key] = change
    if key == "dimension" and isinstance(change, dict) and isinstance(change.get("values"), list):
        document["metrics"][0]["fields"][0] = ["dimension", 8, len(change["values"]) % 256]  # so that this is right
    with pytest.raises(PlanError):
        Plan(signed(document))


def test_the_dimension_is_part_of_the_definition() -> None:
    """Another name, list, order or other gives another fingerprint, and a changed plan is noticed."""
    seen = set()
    for change in (
        {}, {"name": "w"}, {"values": ["1.0", "1.2", "other"]}, {"values": ["1.1", "1.0", "other"]}, {"other": 0},
    ):  # fmt: skip
        document = copy.deepcopy(DOCUMENT)
        document["metrics"][0]["dimension"].update(change)
        if change:
            with pytest.raises(PlanError, match="changed after it was compiled"):
                Plan(document)
        seen.add(Plan(signed(document)).metric("m").fingerprint)
    assert len(seen) == 5


@pytest.mark.parametrize(
    ("old", "new", "taken"),
    [
        (None, CLOSED, False),  # a dimension
        (CLOSED, None, True),
        (CLOSED, CLOSED, True),
        (CLOSED, {**CLOSED, "values": ["FR", "CH"]}, True),
        (CLOSED, {**CLOSED, "values": ["CH", "DE", "AT"]}, False),  # a value
        (CLOSED, {**CLOSED, "name": "city"}, False),
        (CLOSED, {**CLOSED, "name": "land"}, False),
        (CLOSED, {**CLOSED, "other": "FR"}, False),  # what was refused would be sent
        ({**CLOSED, "other": "FR"}, CLOSED, True),
        ({**CLOSED, "other": "FR"}, {**CLOSED, "values": ["CH", "FR"], "other": "FR"}, True),
        ({**CLOSED, "other": "FR"}, {**CLOSED, "other": "DE"}, False),
        ({**CLOSED, "other": "CH"}, {**CLOSED, "other": "DE"}, False),
    ],
)
def test_a_remote_plan_may_only_say_less(old: Any, new: Any, taken: bool) -> None:
    """A remote plan may drop a dimension or values of it, and never name, add or open one."""
    before, after = plan(dimension=old), plan(dimension=new)
    if taken:
        assert before.replaced_by(after) is after
    else:
        with pytest.raises(PlanChangeError) as caught:
            before.replaced_by(after)
        assert caught.value.reason == "dimension"
