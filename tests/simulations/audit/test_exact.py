"""The exact audit agrees with what every mechanism states, and exposes every planted fault."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from hubbub_client.mechanisms.names import NAMES
from hubbub_registry import Metric
from hubbub_simulations.audit import AuditError, ExactAudit, audit_exactly
from hubbub_simulations.audit.layouts import _LAYOUTS, layout_of
from hubbub_simulations.audit.noise import Part
from hubbub_simulations.definitions import define

from tests.simulations.audit import mutants

LETTERS = list("abcdefghijk")
HONEST: dict[str, Callable[[], Metric]] = {
    "randomized-response": lambda: define("randomized-response", epsilon=1, values=LETTERS),
    "unary-encoding": lambda: define("unary-encoding", epsilon=2, values=LETTERS),
    "hadamard-response": lambda: define("hadamard-response", epsilon=1, values=LETTERS),
    "hadamard-response, blocks": lambda: define("hadamard-response", epsilon=3, values=LETTERS, blocks=4),
    "projective-geometry-response": lambda: define("projective-geometry-response", epsilon=1, values=LETTERS),
    "projective-geometry-response, order 13": lambda: define(
        "projective-geometry-response", epsilon=2.5, values=[*LETTERS, *(f"v{i}" for i in range(30))]
    ),
    "local-hashing": lambda: define("local-hashing", epsilon=1, hashes=1024),
    "local-hashing, 16 buckets": lambda: define("local-hashing", epsilon=3, hashes=16),
    "sequence-fragment-puzzle": lambda: define(
        "sequence-fragment-puzzle", epsilon=1, hashes=2, fragment_hashes=1, positions=2
    ),
    "prefix-extending-method": lambda: define("prefix-extending-method", epsilon=1, longest=5, items=4096),
    "subset-selection": lambda: define("subset-selection", epsilon=1.5, values=LETTERS),
    "subset-selection, sets of 3": lambda: define("subset-selection", epsilon=1, values=LETTERS),
    "count-mean-sketch": lambda: define("count-mean-sketch", epsilon=4, hashes=65536, width=64),
    "hadamard-count-mean-sketch": lambda: define("hadamard-count-mean-sketch", epsilon=1, hashes=256, width=1024),
    "rappor": lambda: define("rappor", epsilon=1.1, bits=64, hashes=2, cohorts=8, f=0.5, p=0.5, q=0.75),
    "rappor, odd": lambda: define("rappor", epsilon=5, bits=32, hashes=1, cohorts=8, f=0.45, p=0.375, q=0.6875),
    "rappor, one-time": lambda: define("rappor", epsilon=5, bits=32, hashes=2, f=0.45, reports="one-time"),
    "rappor, one-hot": lambda: define("rappor", epsilon=5, encoding="one-hot", values=LETTERS, f=0.45, p=0.2, q=0.8),
    "one-bit-mean": lambda: define("one-bit-mean", epsilon=1, low=-20, high=100, points=5, perturbation=0.2),
    "hierarchical-histogram": lambda: define(
        "hierarchical-histogram", epsilon=1, low=-5, high=12, buckets=16, levels=2
    ),
    "hierarchical-histogram, flat": lambda: define(
        "hierarchical-histogram", epsilon=2.5, low=0, high=15, buckets=16, levels=1
    ),
    "d-bit-flip": lambda: define("d-bit-flip", epsilon=1, low=0, high=99, buckets=25, bits=4, perturbation=0.2),
}


def failed(audit: ExactAudit) -> set[str]:
    return {fact.name for fact in audit.facts if not fact.holds}


@pytest.mark.parametrize("name", HONEST)
def test_every_mechanism_is_as_private_as_it_states(name: str) -> None:
    """What the encoder does gives exactly the stated ratio, the printed epsilon, and no more than was declared."""
    audit = audit_exactly(HONEST[name]())
    assert not failed(audit)
    assert audit.agrees
    assert audit.passed
    assert audit.epsilon is not None
    assert audit.epsilon <= float(audit.declared)


def test_every_mechanism_of_the_table_is_described_and_audited() -> None:
    """No mechanism enters the table without a description for the exact audit, and a test with it."""
    assert set(_LAYOUTS) == set(NAMES) == {name.partition(",")[0] for name in HONEST}


def test_sets_that_cannot_be_gone_through_are_not_audited() -> None:
    """Subset selection over a long list can be drawn in too many ways, and the error says what to do instead."""
    with pytest.raises(AuditError, match=r"metric study: 10 draws have more results.*--empirical"):
        audit_exactly(define("subset-selection", epsilon=1, values=[f"v{i}" for i in range(38)]))


def audited(mutant: type[Any], metric: Metric) -> ExactAudit:
    """The audit of a mutant, which must not pass."""
    audit = audit_exactly(metric, mutant)
    assert not audit.passed
    return audit


def test_a_true_value_first_is_no_record() -> None:
    """Sending a list with the true value first (fault 1) is not the record that the plan describes."""
    assert "a record of" in audited(mutants.TrueValueFirst, HONEST["unary-encoding"]()).problem


def test_ignored_hashes_give_the_square_of_the_stated_ratio() -> None:
    """RAPPOR with twice the hash functions (fault 2) has the square of the stated ratio."""
    audit = audited(mutants.HashesIgnored, define("rappor", epsilon=2.2, bits=64, hashes=1, f=0.5, reports="one-time"))
    assert audit.exceeds_declared
    assert audit.worst is not None
    assert audit.worst.ratio == audit.stated**2


def test_a_mixed_up_epsilon_exceeds_the_declared() -> None:
    """HCMS that flips as for twice its epsilon (fault 3) exceeds it."""
    audit = audited(mutants.HalfEpsilonMixedUp, HONEST["hadamard-count-mean-sketch"]())
    assert audit.exceeds_declared
    assert not failed(audit)


@pytest.mark.parametrize(
    ("mutant", "name"), [(mutants.LastBitPlain, "unary-encoding"), (mutants.LastBucketPlain, "count-mean-sketch")]
)
def test_a_plain_bit_is_infinite(mutant: type[Any], name: str) -> None:
    """One bit that is not randomised (fault 6) makes epsilon infinite, whether or not a list says who sets it."""
    audit = audited(mutant, HONEST[name]())
    assert audit.worst is not None
    assert audit.worst.ratio is None
    assert audit.exceeds_declared
    assert "every bit is randomised" in failed(audit)


def test_a_process_of_its_own_gives_itself_away() -> None:
    """Hashing by ``hash()`` (fault 7) gives another record in another process."""
    audit = audited(mutants.PythonHash, HONEST["count-mean-sketch"]())
    assert failed(audit) == {"every process gives the same records"}


def test_a_quantised_probability_is_seen() -> None:
    """A probability cut to four bits (fault 10) gives the ratio of those four bits, not the stated one."""
    audit = audited(mutants.Quantised, HONEST["count-mean-sketch"]())
    assert audit.worst is not None
    assert audit.worst.ratio == Fraction(15, 1) ** 2
    assert audit.exceeds_declared


def test_a_modulo_is_no_uniform_draw() -> None:
    """A byte modulo the domain (fault 10) leaves random bits unread, or read otherwise than described."""
    audited(mutants.ModuloBias, define("randomized-response", epsilon=1, values=[f"v{i}" for i in range(200)]))


def test_noise_shared_between_metrics_is_seen() -> None:
    """Permanent noise that is not keyed by the metric (fault 13) is the same for two metrics."""
    audit = audited(mutants.SharedPermanentNoise, HONEST["rappor"]())
    assert failed(audit) == {"permanent noise is another for another metric"}


def test_lanes_that_share_noise_are_seen() -> None:
    """Bits that take the noise of another are not independent, which a run in step alone could not tell."""
    audit = audited(mutants.CorrelatedLanes, HONEST["unary-encoding"]())
    assert "a lane reads only its own random bits" in failed(audit)


@pytest.mark.parametrize("runs", [10, 2_000_000])
def test_one_value_of_many_is_not_missed(runs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that is kept more often than the others is found, even where there is no time to drive it."""
    monkeypatch.setattr("hubbub_simulations.audit.exact._RUNS", runs)
    values = [f"v{i}" for i in range(30)]
    audit = audited(mutants.OneValueKeptTooOften, define("randomized-response", epsilon=1, values=values))
    assert audit.exceeds_declared == (audit.values_driven == 30)
    assert audit.exceeds_declared or "noise that hides the driven values hides the others" in failed(audit)


def test_a_wrong_description_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """A description that leaves out random bits which the encoder reads makes the audit fail."""
    metric = HONEST["randomized-response"]()
    right = layout_of(metric)
    keep, uniform = right.noise
    short = Part(uniform.channel, uniform.at, uniform.bits - 1, ordered=True)  # the top bit, the one that matters most
    wrong = type(right)(right.channels, (), (keep, short))
    monkeypatch.setattr("hubbub_simulations.audit.exact.layout_of", lambda _metric: wrong)
    audit = audit_exactly(metric)
    assert "padding plays no role" in failed(audit)
    assert not audit.passed


def test_a_mechanism_without_a_description_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is not known how an encoder consumes its bytes, the error says what to do instead."""
    monkeypatch.delitem(_LAYOUTS, "randomized-response")
    with pytest.raises(AuditError, match="--empirical"):
        audit_exactly(HONEST["randomized-response"]())
