from __future__ import annotations

import gc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client import MemoryStorage
from hubbub_client.mechanisms.names import NAMES
from hubbub_client.reasons import REASONS

from tests.client.reporter.reporting import Collector, plan_of, reporter_of, sketch_plan
from tests.registries import values_of

EVERY = plan_of(**{name.replace("-", "_"): {"mechanism": name, "reports_per_period": 1000} for name in NAMES})
ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.text(alphabet="\ud800\udfffa"),
    st.binary(),
    st.lists(st.integers()),
    st.dictionaries(st.text(), st.integers()),
    st.complex_numbers(),
    st.just(object()),
)


@given(ANYTHING, ANYTHING)
def test_no_value_and_no_name_ever_raises(name: Any, value: Any) -> None:
    """Whatever an app passes, record gives True or False, and each False is one count under a documented reason."""
    reporter = reporter_of(EVERY)
    tried = ["rappor", "randomized_response", "count_mean_sketch", name]
    refused = [metric for metric in tried if not reporter.record(metric, value)]
    assert sum(reporter.counts.values()) == len(refused)
    assert set(reporter.counts) <= set(REASONS) - {"internal"}
    assert reporter.flush().sent == len(tried) - len(refused)


@pytest.mark.parametrize("name", sorted(EVERY.metrics))
def test_every_mechanism_is_recorded_and_arrives(name: str) -> None:
    """Two reports of a metric arrive as two records of its width, under its fingerprint."""
    collector = Collector()
    reporter = reporter_of(EVERY, transport=collector)
    for value in values_of(EVERY.metric(name).mechanism)[:2]:
        assert reporter.record(name, value)
    assert reporter.flush().sent == 2
    ((fingerprint, _, records),) = next(iter(collector.uploads().values()))
    metric = EVERY.metric(name)
    assert fingerprint == metric.fingerprint
    assert len(records) == 2 * metric.record_bytes


@pytest.mark.parametrize("value", ["zz", "\ud800", b"\xff\xfe", "a" * 300, b"a" * 300, 1.5, ["a"], 7, True])
def test_a_value_that_is_refused_costs_nothing_and_is_stored_nowhere(value: object) -> None:
    """A bad value spends no budget, leaves nothing on storage, and does not appear in the problem."""
    storage = MemoryStorage()
    reporter = reporter_of(EVERY, storage)
    assert not reporter.record("randomized_response", value)
    assert storage.files == {}
    assert repr(value) not in str(reporter.problem)


@pytest.mark.parametrize(
    "value",
    [10**5000, -(10**5000), type("Number", (int,), {"__str__": None})(1)],
    ids=["long", "negative", "unprintable"],
)
def test_a_value_that_cannot_be_turned_into_bytes_is_refused(value: object) -> None:
    """An integer too long for Python to print, or of a class that cannot be printed, gives False and costs nothing."""
    storage = MemoryStorage()
    reporter = reporter_of(sketch_plan(), storage)
    assert not reporter.record("m", value)
    assert sum(reporter.counts.values()) == 1
    assert storage.files == {}


@pytest.mark.parametrize("value", [0, -1, 2**64, True, False, "", b"bytes", bytearray(b"bytes"), "e\u0301", "日本"])
def test_every_kind_of_value_is_taken_by_an_open_domain(value: object) -> None:
    """Integers, booleans, text and UTF-8 bytes are recorded where any value may be."""
    assert reporter_of(sketch_plan()).record("m", value)


def test_the_true_value_is_kept_nowhere() -> None:
    """After a report, no object that the reporter reaches and nothing on storage holds the value."""
    value = "a value that nobody else has"
    storage = MemoryStorage()
    reporter = reporter_of(sketch_plan(), storage)
    assert reporter.record("m", value)
    assert not reporter.record(value, "m")  # the arguments swapped
    assert value.encode() not in b"".join(storage.files.values())
    seen: set[int] = set()
    left: list[Any] = [vars(reporter)]
    while left:
        thing = left.pop()
        if id(thing) in seen or isinstance(thing, type) or callable(thing):
            continue
        seen.add(id(thing))
        assert thing != value
        assert thing != value.encode()
        left += gc.get_referents(thing)
