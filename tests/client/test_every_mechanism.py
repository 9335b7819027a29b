"""One set of checks over every mechanism in the table."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hubbub_client.errors import EntropyError, PlanError, RejectedValueError
from hubbub_client.mechanisms import module_name
from hubbub_client.mechanisms.names import NAMES
from hubbub_client.plan import Metric, mechanism
from hubbub_client.records import unpack

from tests.registries import MECHANISMS, metric_of, values_of

CASES: list[tuple[str, dict[str, Any]]] = [(name, {}) for name in MECHANISMS]
CASES += [
    ("rappor", {"encoding": "one-hot", "values": ["a", "b", "c"], "bits": None, "hashes": None, "cohorts": None}),
    ("rappor", {"reports": "one-time", "p": None, "q": None, "epsilon": 4.5}),
    ("one-bit-mean", {"perturbation": None}),
    ("d-bit-flip", {"perturbation": None, "bits": 1}),
]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}{'-' if case[1] else ''}{'-'.join(case[1])[:8]}")
def metric(request: pytest.FixtureRequest, tmp_path: Path) -> Metric:
    name, keys = request.param
    return metric_of(tmp_path, name, **keys).device


def counting(source: Callable[[int], bytes] = os.urandom) -> tuple[Callable[[int], bytes], list[int]]:
    asked: list[int] = []

    def read(count: int) -> bytes:
        asked.append(count)
        return source(count)

    return read, asked


def encoder(metric: Metric, secret: bytes = b"s" * 32) -> Any:
    return mechanism(metric.mechanism).Encoder(metric, secret)


def first(metric: Metric) -> bytes:
    return values_of(metric.mechanism)[0].encode()


def test_the_table_and_the_tests_agree() -> None:
    """Every mechanism of the table is in the cases."""
    assert {name for name, _ in CASES} == set(NAMES)


def test_each_report_reads_the_stated_random_bytes_at_once(metric: Metric) -> None:
    """Whatever the value and the noise, a report asks the source once, for ``random_bytes`` bytes."""
    made = encoder(metric)
    for value in values_of(metric.mechanism):
        for source in (os.urandom, bytes, lambda count: b"\xff" * count):
            read, asked = counting(source)
            made.encode(value.encode(), read)
            assert asked == [made.random_bytes]


def test_each_record_is_as_wide_as_the_plan_says_and_in_range(metric: Metric) -> None:
    """A record has ``record_bytes`` bytes, its fields lie in their domains, and its padding is zero."""
    made = encoder(metric)
    for source in (os.urandom, bytes, lambda count: b"\xff" * count):
        record = made.encode(first(metric), source)
        assert len(record) == metric.record_bytes
        for (_, _, domain), value in zip(metric.fields, unpack(metric.fields, record), strict=True):
            assert domain == 0 or value < domain
        assert int.from_bytes(record, "little") >> sum(bits for _, bits, _ in metric.fields) == 0


def test_a_dead_source_gives_no_record(metric: Metric) -> None:
    """A source that gives fewer bytes than asked, or none, raises EntropyError; a permanent bit alone asks for none."""
    made = encoder(metric)
    assert made.random_bytes or not metric.parameters["perturbation_bits"]
    for source in (lambda _: b"", lambda count: bytes(count - 1)) if made.random_bytes else ():
        with pytest.raises(EntropyError):
            made.encode(first(metric), source)


def test_the_same_random_bytes_give_the_same_record(metric: Metric) -> None:
    """An encoder keeps no state of its own: the record depends on value, secret and random bytes only."""
    noise = os.urandom(encoder(metric).random_bytes)
    made = encoder(metric)
    value = first(metric)
    records = {made.encode(value, lambda _: noise) for _ in range(3)} | {encoder(metric).encode(value, lambda _: noise)}
    assert len(records) == 1


def test_a_closed_domain_refuses_another_value(metric: Metric) -> None:
    """A value outside a closed domain or a range raises; an open domain takes any."""
    if metric.values or "span" in metric.parameters:
        with pytest.raises(RejectedValueError):
            encoder(metric).encode(b"no such value", os.urandom)
    else:
        assert encoder(metric).encode(b"no such value", os.urandom)


def test_a_name_outside_the_table_is_refused() -> None:
    """An unknown mechanism raises PlanError and names those there are."""
    with pytest.raises(PlanError, match="randomized-response"):
        module_name("os")


def test_permanent_noise_is_permanent_and_its_own(tmp_path: Path) -> None:
    """RAPPOR's permanent response is fixed by secret, metric and value, and each of them changes it (fault 13)."""
    one = metric_of(tmp_path, "rappor", cohorts=1, salt="0" * 16).device
    other = metric_of(tmp_path, "rappor", cohorts=1, salt="0" * 16, reports_per_period=2).device

    def permanent(metric: Metric, secret: bytes, value: bytes) -> int:
        # With p = 1/2 = 0.10b and q = 3/4 = 0.11b, the random bits (0, 1) show a permanent 1 as 1 and a 0 as 0.
        words = bytes(8) + b"\xff" * 8
        shown = encoder(metric, secret).encode(value, lambda _: words)
        hidden = encoder(metric, secret).encode(value, lambda _: b"\xff" * 8 + bytes(8))
        return unpack(metric.fields, hidden if shown == b"\xff" * len(shown) else shown)[1]

    assert permanent(one, b"s" * 32, b"a") == permanent(one, b"s" * 32, b"a")
    assert one.fingerprint != other.fingerprint
    seen = {permanent(one, b"s" * 32, b"a"), permanent(one, b"t" * 32, b"a"), permanent(other, b"s" * 32, b"a")}
    assert len(seen | {permanent(one, b"s" * 32, b"b")}) == 4


@pytest.mark.parametrize("mechanism_name", ["one-bit-mean", "d-bit-flip"])
def test_permanent_bits_are_permanent_and_their_own(tmp_path: Path, mechanism_name: str) -> None:
    """Without perturbation a value's reports are all equal; over 60 secrets, metric and value each change them (13)."""
    keys = {"low": 0, "high": 99, "perturbation": None}
    one = metric_of(tmp_path, mechanism_name, **keys).device
    other = metric_of(tmp_path, mechanism_name, reports_per_period=2, **keys).device
    assert one.fingerprint != other.fingerprint

    def sent(metric: Metric, value: bytes) -> list[bytes]:
        made = [encoder(metric, bytes([i]) * 32) for i in range(60)]
        assert [each.encode(value, os.urandom) for each in made] == [each.encode(value, os.urandom) for each in made]
        return [each.encode(value, os.urandom) for each in made]

    seen = [sent(one, b"10"), sent(one, b"90"), sent(other, b"10")]
    assert all(a != b for i, a in enumerate(seen) for b in seen[:i])


@pytest.mark.parametrize("mechanism_name", ["one-bit-mean", "d-bit-flip"])
def test_the_permanent_key_tells_noises_apart(tmp_path: Path, mechanism_name: str) -> None:
    """Two values of one key have the same reports; there is a key for each point, or for each bucket and for none."""
    made = encoder(metric_of(tmp_path, mechanism_name, low=0, high=40, perturbation=None).device)
    by_key: dict[bytes, set[bytes]] = {}
    for value in range(41):
        data = str(value).encode()
        by_key.setdefault(made.permanent_key(data), set()).add(made.encode(data, os.urandom))
    assert len(by_key) == (5 if mechanism_name == "one-bit-mean" else 3)
    assert all(len(records) == 1 for records in by_key.values())


@pytest.mark.parametrize("mechanism_name", ["one-bit-mean", "d-bit-flip"])
@pytest.mark.parametrize(
    "data",
    [b"", b"-", b"+1", b"01", b"-0", b" 1", b"1 ", b"1_0", b"1.0", b"0x1", b"true", "\u0661".encode(), b"100", b"-1"],
)
def test_only_integers_of_the_range_are_taken(tmp_path: Path, mechanism_name: str, data: bytes) -> None:
    """Anything but an integer from low to high, written the usual way, is refused, without the value in the error."""
    made = encoder(metric_of(tmp_path, mechanism_name, low=0, high=99).device)
    refusals: list[Callable[[], object]] = [lambda: made.permanent_key(data), lambda: made.encode(data, os.urandom)]
    for refuse in refusals:
        with pytest.raises(RejectedValueError) as caught:
            refuse()
        assert caught.value.reason == "not-in-values"
        assert caught.value.__context__ is None
        assert "from 0 to 99" in str(caught.value)


def test_cohorts_are_permanent_and_even(tmp_path: Path) -> None:
    """A device keeps its cohort, and 8,000 secrets fall into 8 cohorts within 6 standard errors of evenly (2e-8)."""
    metric = metric_of(tmp_path, "rappor", cohorts=8).device
    cohort_of = mechanism("rappor").cohort_of
    counts = [0] * 8
    for i in range(8000):
        counts[cohort_of(metric, i.to_bytes(32, "big"))] += 1
    assert all(abs(count - 1000) < 6 * (8000 * 7 / 64) ** 0.5 for count in counts)
    assert cohort_of(metric, b"s" * 32) == cohort_of(metric, b"s" * 32)
