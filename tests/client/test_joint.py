from __future__ import annotations

import itertools
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.canonical import fingerprint
from hubbub_client.errors import PlanChangeError, PlanError, RejectedValueError
from hubbub_client.mechanisms.joint import PARTS as KINDS
from hubbub_client.mechanisms.joint import Encoder, Part, worst_ratio
from hubbub_client.pairs import halves, pair_bytes
from hubbub_client.plan import Plan, definition_fingerprint, mechanism
from hubbub_client.reporter import Reporter
from hubbub_client.storage import MemoryStorage
from hubbub_client.transport import Answer

from tests.decoder.reports import outputs
from tests.joints import BOOLEAN, LETTERS, PARTS, joint, part
from tests.registries import registry_of

SECRET = bytes(range(32))


class Nowhere:
    """A transport that nothing is to reach."""

    def send(self, body: bytes) -> Answer:
        raise AssertionError(body)


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_halves_of_a_pair_come_apart_as_they_went_in(first: str, second: str) -> None:
    """Whatever two texts make a pair, its halves are their bytes, and no other pair has the same bytes."""
    assert halves(pair_bytes((first, second))) == tuple(pair_bytes((text, ""))[2:] for text in (first, second))


@pytest.mark.parametrize("value", ["ab", b"ab", ("a",), ("a", "b", "c"), 7, None, {"a": 1, "b": 2}])
def test_what_is_no_pair_is_refused(value: object) -> None:
    """A joint metric takes two values, and says so of anything else without repeating it."""
    with pytest.raises(RejectedValueError, match="a pair of values") as caught:
        pair_bytes(value)
    assert caught.value.reason == "type"


def test_a_value_of_either_half_is_checked_as_any_other() -> None:
    """A half that is too long or has no text form is refused for that."""
    for bad, reason in (("x" * 257, "too-long"), (b"\xff", "not-utf-8"), (None, "type")):
        for pair in ((bad, "a"), ("a", bad)):
            with pytest.raises(RejectedValueError) as caught:
                pair_bytes(pair)
            assert caught.value.reason == reason


@pytest.mark.parametrize("second", PARTS)
def test_a_record_is_that_of_either_part_and_their_noise_is_apart(tmp_path: Path, second: str) -> None:
    """A record is the first part's of the first bytes of the source, and the second part's of the bytes after them."""
    metric = joint(tmp_path, part("hadamard-count-mean-sketch"), part(second, share=0.75), epsilon=12).device
    encoder = Encoder(metric, SECRET)
    parts = [Part(metric, side) for side in range(2)]
    alone = [mechanism(each.mechanism).Encoder(each, SECRET) for each in parts]
    assert encoder.random_bytes == sum(each.random_bytes for each in alone)
    noise = bytes(i * 37 % 251 for i in range(encoder.random_bytes))
    cut = alone[0].random_bytes
    for first_value, second_value in itertools.product(["a", "zz"], LETTERS):
        record = encoder.encode(pair_bytes((first_value, second_value)), lambda _: noise)
        one = alone[0].encode(first_value.encode(), lambda _: noise[:cut])
        other = alone[1].encode(second_value.encode(), lambda _: noise[cut:])
        assert record == one + other
        assert len(record) == metric.record_bytes


@pytest.mark.parametrize("first", [name for name in PARTS if not name.startswith("rappor")])
def test_the_exact_ratio_is_that_of_all_outputs(tmp_path: Path, first: str) -> None:
    """Going through the outputs of both parts, the largest ratio of a pair's chances is the one that is stated."""
    metric = joint(tmp_path, part(first, share=0.75), part("randomized-response", share=0.25), epsilon=6)
    worst = Fraction(1)
    for each in metric.parts:
        chances = [dict(outputs(each, value)) for value in LETTERS]
        ratios = [a[out] / b[out] for a, b in itertools.permutations(chances, 2) for out in a if b.get(out)]
        worst *= max(ratios)
    stated = Fraction(*worst_ratio(metric.device.parameters))
    assert metric.ratio == stated
    # Uniform draws of so many bits are off by less than one part in 2**48; hash functions may keep values apart less.
    assert worst <= stated
    if metric.parts[0].closed:
        assert stated - worst <= stated / (1 << 48)


def test_two_sides_of_one_mechanism_share_neither_cohort_nor_buckets(tmp_path: Path) -> None:
    """A device's cohorts on the two sides are drawn apart, and one value falls into unrelated buckets on them."""
    filters = part("rappor, bloom", cohorts=1024)
    metric = joint(tmp_path, filters, filters, epsilon=10).device
    one, other = (Part(metric, side) for side in range(2))
    assert one.parameters["salt"] != other.parameters["salt"]
    assert one.fingerprint != other.fingerprint
    cohorts = {tuple(mechanism("rappor").cohort_of(each, bytes([i]) * 32) for each in (one, other)) for i in range(20)}
    assert sum(a == b for a, b in cohorts) <= 1


def test_a_reporter_records_pairs_and_nothing_else(tmp_path: Path) -> None:
    """A pair is queued and charged once; a text, a pair with an unlisted half, or a pair for another metric is not."""
    registry = registry_of(
        tmp_path,
        pair={"mechanism": "joint", "epsilon": 3, "first": part("local-hashing"), "second": BOOLEAN},
        plain={"mechanism": "local-hashing"},
    )
    reporter = Reporter(registry.plan, MemoryStorage(), Nowhere(), source=lambda n: bytes(range(n)))
    assert not reporter.record("pair", "anything")
    assert not reporter.record("pair", ("anything", "maybe"))
    assert not reporter.record("plain", ("anything", "true"))
    assert reporter.counts == {"type": 2, "not-in-values": 1}
    assert reporter.spent() == 0
    assert reporter.record("pair", ("anything", True))
    assert reporter.spent() == registry.plan.metric("pair").epsilon_nano
    [(state, held)] = reporter.log()
    assert (state, len(held.record)) == ("pending", registry.plan.metric("pair").record_bytes)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("first_mechanism", len(KINDS), "a part of mechanism number 9"),
        ("first_irr_precision", 4, "permanent noise"),
        ("third_precision", 4, "neither part"),
        ("second_domain", 3, "list of values"),
    ],
)
def test_a_plan_that_was_changed_is_refused(tmp_path: Path, name: str, value: int, message: str) -> None:
    """No part of an unknown mechanism, no permanent noise and no stray integer get past the check of a plan."""
    metric = joint(tmp_path, part("rappor, bloom", share=0.75), BOOLEAN)
    entry = {**metric.entry, "parameters": {**metric.entry["parameters"], name: value}}
    entry["fingerprint"] = definition_fingerprint("org.example.test", entry).hex()
    with pytest.raises(PlanError, match=message):
        Plan({"schema": 1, "namespace": "org.example.test", "metrics": [entry]})


def test_a_remote_plan_may_not_tell_more_cohorts_apart(tmp_path: Path) -> None:
    """More cohorts of a part are refused in a remote plan, as those of a metric with one value are."""

    def plan(cohorts: int) -> Plan:
        keys = {"mechanism": "joint", "epsilon": 8, "second": BOOLEAN}
        return registry_of(tmp_path, m={**keys, "first": part("rappor, bloom", cohorts=cohorts, share=0.75)}).plan

    assert plan(4).replaced_by(plan(2)).metric("m").parameters["first_cohorts"] == 2
    with pytest.raises(PlanChangeError) as caught:
        plan(2).replaced_by(plan(4))
    assert caught.value.reason == "cohorts"


def test_the_numbers_of_parts_never_change() -> None:
    """A plan names a part's mechanism by its place in the list: this pins the list, which may only grow at its end."""
    assert fingerprint({"parts": list(KINDS[:9])}).hex() == fingerprint({"parts": [
        "randomized-response", "unary-encoding", "hadamard-response", "projective-geometry-response", "local-hashing",
        "subset-selection", "count-mean-sketch", "hadamard-count-mean-sketch", "rappor",
    ]}).hex()  # fmt: skip
