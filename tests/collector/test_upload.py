"""Parsing and validating an upload."""

from __future__ import annotations

import dataclasses
import os
import tracemalloc
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_collector.errors import Refusal
from hubbub_collector.upload import Batch, Validator, pack, parse
from hubbub_collector.window import Window
from hubbub_registry import Registry

from tests.collector.uploads import DAY, NOW, TODAY, batch, records, upload

ID = bytes(range(16))
VALID: list[Any] = [1, ID, [[b"fngrprnt", TODAY, b"records"], [b"fngrprn2", 0, b"r"]]]
POSITIONS = [(), (0,), (1,), (2,), (2, 0), (2, 0, 0), (2, 0, 1), (2, 0, 2), (2, 1), (2, 1, 0), (2, 1, 1), (2, 1, 2)]
OTHERS: list[Any] = [
    None, True, False, 0.5, 1.0, -1, 2, 2**53, 2**64 - 1, -(2**63), "", "text", b"", b"x", b"y" * 17, [], [[]], [1],
    {}, {1: 2}, msgpack.ExtType(1, b""), msgpack.ExtType(5, b"x" * 16), msgpack.Timestamp(1),
]  # fmt: skip
FITS = {((0,), "1"), *((p, "0") for p in [(2, 0, 1), (2, 1, 1)]), *((p, "2") for p in [(2, 0, 1), (2, 1, 1)])}
BYTES_FIT = {(2, 0, 2), (2, 1, 2)}


@pytest.fixture
def validator(registry: Registry) -> Validator:
    return Validator(registry.metrics.values(), Window())


def put(document: Any, position: tuple[int, ...], value: Any) -> Any:
    """A copy of ``document`` with ``value`` at ``position``."""
    if not position:
        return value
    copy = list(document)
    copy[position[0]] = put(document[position[0]], position[1:], value)
    return copy


def code(refused: pytest.ExceptionInfo[Refusal]) -> str:
    assert refused.value.status == 400
    assert refused.value.retry_after is None
    return refused.value.code


def outcome(body: bytes) -> tuple[bytes, list[Batch]] | None:
    """What ``parse`` gives, None where it refuses; any other exception is a defect and passes through."""
    try:
        return parse(body)
    except Refusal:
        return None


def test_parse_inverts_pack() -> None:
    """What a client packed comes out as it went in."""
    batches = [Batch(*entry) for entry in VALID[2]]
    assert parse(pack(ID, batches)) == (ID, batches)


def test_every_truncation_is_refused() -> None:
    """An upload cut off at any byte is refused, and so is one with bytes left over."""
    body = msgpack.packb(VALID)
    for length in range(len(body)):
        with pytest.raises(Refusal) as refused:
            parse(body[:length])
        assert code(refused) == "not-msgpack"
    for more in (b"\x00", b"\xc0", body):
        with pytest.raises(Refusal, match="left over"):
            parse(body + more)


@pytest.mark.parametrize("position", POSITIONS, ids=str)
@pytest.mark.parametrize("other", OTHERS, ids=repr)
def test_every_wrong_type_is_refused(position: tuple[int, ...], other: Any) -> None:
    """A value of another type or size at any position is refused as the client's fault."""
    fits = (position, repr(other)) in FITS or (position in BYTES_FIT and type(other) is bytes and other)
    body = msgpack.packb(put(VALID, position, other))
    if fits:
        parse(body)
        return
    with pytest.raises(Refusal) as refused:
        parse(body)
    code(refused)


@pytest.mark.parametrize("position", [(), (2, 0), (2, 1)], ids=str)
def test_arrays_have_exactly_three_elements(position: tuple[int, ...]) -> None:
    """An element too few or too many is refused."""
    entry = VALID
    for step in position:
        entry = entry[step]
    for wrong in (entry[:2], [*entry, 0]):
        with pytest.raises(Refusal):
            parse(msgpack.packb(put(VALID, position, wrong)))


@pytest.mark.parametrize(
    "body",
    [
        b"\x93\x01\xc4\x10" + ID + b"\x91\x93\xc4\x08fngrprnt\x00\xc6\xff\xff\xff\xff",
        b"\xdd\xff\xff\xff\xff",
        b"\x93\x01\xc4\x10" + ID + b"\xdd\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff",
        b"\xdb\xff\xff\xff\xff",
        b"\xc9\xff\xff\xff\xff\x01",
    ],
    ids=["bin", "array", "batches", "map", "str", "ext"],
)
def test_huge_declared_lengths_are_refused(body: bytes) -> None:
    """A declared length of four billion allocates nothing and is refused."""
    tracemalloc.start()
    with pytest.raises(Refusal) as refused:
        parse(body)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert code(refused) == "not-msgpack"
    assert peak < 1 << 20


@pytest.mark.parametrize(
    "body",
    [
        b"\xdd\x00\x0f\xff\xff" * 200_000,
        b"\xdc\x10\x00" * 340_000,
        b"\xdc\x10\x00" + (b"\xdc\x10\x00" + b"\x90" * 4096) * 250,
        b"\x91" * 1_000_000,
    ],
    ids=["array32", "array16", "empty-arrays", "deep"],
)
def test_nested_arrays_are_no_memory_bomb(body: bytes) -> None:
    """A megabyte of array headers takes memory in proportion to the body, not to what the headers declare."""
    tracemalloc.start()
    with pytest.raises(Refusal):
        parse(body)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80 * len(body)


@given(st.binary(max_size=200))
def test_any_bytes_are_refused_or_parsed(body: bytes) -> None:
    """Whatever the bytes, the outcome is a refusal or an upload of the declared shape."""
    parsed = outcome(body)
    if parsed is not None:
        assert parse(pack(*parsed)) == parsed


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=3))
def test_any_mutation_is_refused_or_parsed(at: int, noise: bytes) -> None:
    """Overwriting bytes of a valid upload leads to no other exception than a refusal."""
    body = bytearray(msgpack.packb(VALID))
    at %= len(body)
    body[at : at + len(noise)] = noise
    parsed = outcome(bytes(body))
    if parsed is not None:
        assert len(parsed[0]) == 16
        assert all(len(entry.fingerprint) == 8 and entry.period >= 0 and entry.records for entry in parsed[1])


def test_known_records_are_counted(registry: Registry, validator: Validator) -> None:
    """A valid upload passes with the number of its records."""
    sketch, choice = registry.metric("sketch"), registry.metric("choice")
    checked = validator.check(upload(batch(sketch, records(sketch, 3)), batch(choice, records(choice, 40))), NOW)
    assert checked.records == 43
    assert [len(checked.known), len(checked.unknown)] == [2, 0]


def test_odd_record_lengths_are_refused(registry: Registry, validator: Validator) -> None:
    """Records that are not a whole number of the metric's width are refused, one byte short or long."""
    sketch = registry.metric("sketch")
    whole = records(sketch, 2)
    for wrong in (whole[:-1], whole + b"\0", whole[:1]):
        with pytest.raises(Refusal) as refused:
            validator.check(upload(batch(sketch, wrong)), NOW)
        assert code(refused) == "record-length"


@pytest.mark.parametrize("count", [1, 500])
@pytest.mark.parametrize("name", ["sketch", "choice"])
def test_values_outside_a_domain_are_refused(registry: Registry, validator: Validator, name: str, count: int) -> None:
    """One record with a value no client sends, or a padding bit set, refuses the upload wherever it stands."""
    metric = registry.metric(name)
    for at in {0, count // 2, count - 1}:
        content = bytearray(records(metric, count))
        content[(at + 1) * metric.device.record_bytes - 1] |= 0x80
        with pytest.raises(Refusal) as refused:
            validator.check(upload(batch(metric, bytes(content))), NOW)
        assert code(refused) == "record-range"


def test_one_bad_batch_refuses_the_whole_upload(registry: Registry, validator: Validator) -> None:
    """An upload is taken whole or not at all."""
    choice = registry.metric("choice")
    with pytest.raises(Refusal, match="batch 1"):
        validator.check(upload(batch(choice, b"\x01"), batch(choice, b"\x07")), NOW)


def test_unknown_fingerprints_are_set_apart(registry: Registry, validator: Validator) -> None:
    """A batch of a metric that is not in the registry is neither refused nor mixed with the others."""
    choice = registry.metric("choice")
    strange = Batch(b"whatever", 2**53 - 1, b"any bytes")
    checked = validator.check(upload(strange, batch(choice, b"\x01")), NOW)
    assert checked.unknown == [(0, strange)]
    assert checked.known == [batch(choice, b"\x01")]


def test_the_window_has_exact_ends(registry: Registry, validator: Validator) -> None:
    """A period is accepted from a day before it begins until 28 days after it ends, to the second."""
    choice = registry.metric("choice")
    begin = float(TODAY * DAY)
    body = upload(batch(choice, b"\x01"))
    for now in (begin - DAY, begin + 29 * DAY):
        validator.check(body, now)
    for now, expected in ((begin - DAY - 1, "period-too-early"), (begin + 29 * DAY + 1, "period-too-late")):
        with pytest.raises(Refusal) as refused:
            validator.check(body, now)
        assert code(refused) == expected


def test_an_expired_metric_takes_only_periods_before(registry: Registry) -> None:
    """A period that begins at the metric's expiry or later is refused, the one before it is taken."""
    choice = registry.metric("choice")
    end = choice.device.expires
    assert end % DAY == 0
    validator = Validator([choice], Window())
    validator.check(upload(batch(choice, b"\x01", end // DAY - 1)), end)
    with pytest.raises(Refusal) as refused:
        validator.check(upload(batch(choice, b"\x01", end // DAY)), end)
    assert code(refused) == "metric-expired"


def test_refusals_never_quote_records(registry: Registry, validator: Validator) -> None:
    """The detail of a refusal holds nothing of the records, whatever is wrong with them."""
    secret = b"SECRETSECRETSECRET"
    for body in (upload(batch(registry.metric("sketch"), secret)), msgpack.packb(secret), msgpack.packb({secret: 1})):
        with pytest.raises(Refusal) as refused:
            validator.check(body, NOW)
        assert "SECRET" not in refused.value.detail


def test_a_wide_bounded_field_is_a_programming_error(registry: Registry) -> None:
    """A bounded field too wide for the vectorised check is refused when the rules are built, not passed unchecked."""
    metric = registry.metric("choice")
    metric.device.fields = [("value", 60, 3)]
    metric.device.record_bytes = 8
    with pytest.raises(ValueError, match="at most 56 bits"):
        Validator([dataclasses.replace(metric)], Window())


def test_ids_are_of_sixteen_bytes() -> None:
    """Fifteen and seventeen bytes are refused, and so is text of sixteen."""
    for wrong in (os.urandom(15), os.urandom(17), "x" * 16):
        with pytest.raises(Refusal):
            parse(msgpack.packb([1, wrong, VALID[2]]))
