"""The empirical audit: it refutes what is broken, and what is honest only once in a million times.

Every test fixes the seed of its noise, and its confidence is 1 - 1e-6: that is its rate of false alarms.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hubbub_client.records import unpack
from hubbub_registry import Metric
from hubbub_simulations.audit import AuditError, EmpiricalAudit, audit_empirically, client_target
from hubbub_simulations.audit.bounds import epsilon_at_least, most_that_can_be_shown
from hubbub_simulations.audit.driver import sibling
from hubbub_simulations.audit.views import view
from hubbub_simulations.definitions import define

from tests.simulations.audit import mutants
from tests.simulations.audit.test_exact import HONEST, LETTERS

REPORTS = 12_000
ENDS = {"one-bit-mean": ["-20", "100"], "d-bit-flip": ["0", "99"], "hierarchical-histogram": ["0", "12"]}
"""Two values of each mechanism over integers."""


def attack(
    metric: Metric, values: list[str], mutant: type[Any] | None = None, reports: int = REPORTS
) -> EmpiricalAudit:
    with client_target(metric, mutant, random.Random(5).randbytes) as target:
        return audit_empirically(target, values, float(metric.epsilon), reports)


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_encoder_is_not_refuted(name: str) -> None:
    """The client's encoders keep their epsilon in 12,000 reports of each value."""
    assert not attack(HONEST[name](), ENDS.get(name.partition(",")[0], ["a", "k"])).refuted


@pytest.mark.parametrize(
    "name", ["randomized-response", "unary-encoding", "hadamard-count-mean-sketch", "one-bit-mean"]
)
def test_the_attack_comes_near_the_truth(name: str) -> None:
    """On encoders whose worst event is likely the bound is above seven tenths of the exact epsilon."""
    metric = HONEST[name]()
    audit = attack(metric, ["-20", "100"] if name == "one-bit-mean" else ["a", "f"], reports=40_000)
    assert 0.7 * float(metric.exact_epsilon) < audit.bound <= float(metric.exact_epsilon)


@pytest.mark.parametrize(
    ("mutant", "metric", "values"),
    [
        (mutants.TrueValueFirst, HONEST["unary-encoding"], ["a", "k"]),
        (
            mutants.HashesIgnored,
            lambda: define("rappor", epsilon=2.2, bits=64, hashes=1, f=0.5, reports="one-time"),
            ["a", "b"],
        ),
        (mutants.HalfEpsilonMixedUp, HONEST["hadamard-count-mean-sketch"], LETTERS[:4]),
        (mutants.LastBitPlain, HONEST["unary-encoding"], ["a", "k"]),
        (mutants.Quantised, HONEST["count-mean-sketch"], ["a", "b"]),
    ],
    ids=["fault 1", "fault 2", "fault 3", "fault 6", "fault 10"],
)
def test_a_broken_encoder_is_refuted(mutant: type[Any], metric: Callable[[], Metric], values: list[str]) -> None:
    """Faults 1, 2, 3, 6 and 10, planted in the client's encoders, are refuted from reports alone."""
    assert attack(metric(), values, mutant, 30_000).refuted


@pytest.mark.parametrize("encoder", [None, mutants.SharedPermanentNoise])
def test_noise_shared_between_metrics_is_refuted(encoder: type[Any] | None) -> None:
    """A device's second metric, always "a", tells its first only where the two share their noise (fault 13)."""
    metric = define("rappor", epsilon=2, bits=64, hashes=1, f=0.5, p=0.05, q=0.95)
    from hubbub_client.mechanisms.rappor import Encoder

    made = encoder or Encoder
    rng = random.Random(6)

    def report(value: str) -> tuple[bytes, bytes]:
        secret = rng.randbytes(32)
        one = made(metric.device, secret).encode(value.encode(), rng.randbytes)
        return one, made(sibling(metric), secret).encode(b"a", rng.randbytes)

    audit = audit_empirically(report, ["a", "b"], float(metric.epsilon), 6_000)
    assert audit.refuted == (encoder is not None)
    assert encoder is None or "pairs of bits" in audit.statistic


def test_the_bound_is_that_of_clopper_and_pearson() -> None:
    """The bounds agree with their closed forms at the ends, and with the definition between."""
    assert epsilon_at_least(0, 10, 3, 10, 0.99) == -math.inf
    all_of_ten = (0.01 / 2) ** (1 / 10)  # the lower bound of ten out of ten
    assert epsilon_at_least(10, 10, 10, 10, 0.99) == pytest.approx(math.log(all_of_ten))
    assert most_that_can_be_shown(10, 0.99) == pytest.approx(math.log(all_of_ten / (1 - all_of_ten)))
    from scipy.stats import binomtest

    low = binomtest(70, 100).proportion_ci(0.99, "exact").low
    high = binomtest(20, 100).proportion_ci(0.99, "exact").high
    assert epsilon_at_least(70, 100, 20, 100, 0.99) == pytest.approx(math.log(low / high))


def test_the_bound_is_seldom_above_the_truth() -> None:
    """At confidence 0.9, at most 160 of 1,000 attacks refute the true epsilon: more would be chance once in 1e9."""
    rng = np.random.default_rng(8)
    hits, misses = rng.binomial(500, 0.5, 1000), rng.binomial(500, 0.5 / math.e, 1000)
    assert (epsilon_at_least(hits, 500, misses, 500, 0.9) > 1).sum() <= 160


@pytest.mark.parametrize(
    ("report", "bits"),
    [
        (b"\x05", [1, 0, 1, 0, 0, 0, 0, 0]),
        ([1, 0, 1], [1, 0, 1]),
        (np.array([True, False]), [1, 0]),
        ((b"\x01", [1]), [1, 0, 0, 0, 0, 0, 0, 0, 1]),
        ("text", None),
        (3.5, None),
        ([2, 1], None),
        (None, None),
    ],
)
def test_reports_of_any_kind_have_the_views_they_can_have(report: Any, bits: list[int] | None) -> None:
    """Bytes, zeros and ones, and tuples of them have bits, and nothing else has."""
    found = view([report, report]).bits
    assert (found is None and bits is None) or (found is not None and found.tolist() == [bits, bits])


def test_reports_of_mixed_kinds_are_compared_whole() -> None:
    """Reports that are sometimes missing, or of other lengths, still give the whole report as a symbol."""
    rng = random.Random(9)
    audit = audit_empirically(lambda v: None if v == "a" else rng.choice([b"x", "y", 3]), ["a", "b"], 1.0, 400)
    assert audit.refuted
    assert audit.bound <= audit.could_show


def test_numbers_are_compared_by_size() -> None:
    """A noised number is attacked by its size: the Laplace mechanism at epsilon 2 is not private at 1."""
    rng = np.random.default_rng(10)
    target: Callable[[str], Any] = lambda value: int(value) + rng.laplace(scale=0.5)  # noqa: E731 - the target itself
    assert audit_empirically(target, ["0", "1"], 1.0, 8_000).refuted
    assert not audit_empirically(target, ["0", "1"], 2.0, 8_000).refuted


def test_sets_and_their_order_are_compared() -> None:
    """What an unordered set hides, its order may tell: the same elements in another order are refuted."""
    rng = random.Random(11)

    def ordered(value: str) -> list[int]:
        rest = rng.sample(range(10), 3)
        return sorted(rest, reverse=value == "a")

    assert audit_empirically(ordered, ["a", "b"], 1.0, 2_000).refuted
    assert not audit_empirically(lambda value: frozenset(ordered(value)), ["a", "b"], 1.0, 2_000).refuted


@pytest.mark.parametrize(
    ("values", "reports", "message"), [(["a"], 1000, "at least two"), (["a", "b"], 10, "at least 100")]
)
def test_too_little_to_compare_is_refused(values: list[str], reports: int, message: str) -> None:
    """One value, or a handful of reports, can show nothing, and the error says how many are needed."""
    with pytest.raises(AuditError, match=message):
        audit_empirically(lambda value: value, values, 1.0, reports)


def test_a_report_that_cannot_be_compared_is_refused() -> None:
    """A report of a kind that has no equality of its own is refused, by its kind."""
    with pytest.raises(AuditError, match="a report is a object"):
        audit_empirically(lambda _value: object(), ["a", "b"], 1.0, 100)


def test_a_target_that_fails_is_named_without_its_value() -> None:
    """What a target raises is told by its type only, for its message may hold the value."""

    def failing(value: str) -> str:
        raise ValueError(f"{value} is secret")

    with pytest.raises(AuditError, match="raised ValueError") as raised:
        audit_empirically(failing, ["a", "b"], 1.0, 100)
    assert "secret" not in str(raised.value)


def test_records_of_a_sketch_share_their_public_part() -> None:
    """Reports of a sketch are compared under one hash number, drawn anew for each audit."""
    metric = HONEST["count-mean-sketch"]()
    numbers = set()
    for _ in range(3):
        with client_target(metric) as target:
            seen = {unpack(metric.device.fields, target("a"))[0] for _ in range(20)}
        assert len(seen) == 1
        numbers |= seen
    assert len(numbers) > 1  # equal three times once in 65536**2
