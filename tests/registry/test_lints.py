"""Each lint speaks up where it should, stays quiet where it should, and can be silenced with a reason."""

from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from hubbub_registry.lints import Finding, lint
from hubbub_registry.lints.names import LINTS

from tests.registries import metric_of

TODAY = date(2026, 6, 1)
# A metric of each kind at which no lint stops.
QUIET: dict[str, dict[str, Any]] = {
    "unary-encoding": {},
    "randomized-response": {},
    "count-mean-sketch": {"hashes": 1024, "width": 1024, "candidates": ["a"]},
    "hadamard-count-mean-sketch": {"hashes": 1024, "width": 1024, "candidates": ["a"]},
    "local-hashing": {"hashes": 65536, "width": None, "candidates": ["a"]},
    "sequence-fragment-puzzle": {"epsilon": 4, "hashes": 65536, "fragment_hashes": None, "candidates": None},
    "prefix-extending-method": {"epsilon": 4, "items": None, "families": None, "candidates": None},
    "rappor": {"reports": "one-time", "p": None, "q": None, "f": 0.7, "epsilon": 2.5, "candidates": ["a"]},
}
COMMON: dict[str, Any] = {"expires": date(2027, 6, 1), "period": "90d", "lifetime_epsilon": 20, "epsilon": 1}


def findings(folder: Path, mechanism: str, **keys: Any) -> list[Finding]:
    """What the lints find in a quiet metric with these keys over its own."""
    return lint([metric_of(folder, mechanism, **{**COMMON, **QUIET[mechanism], **keys})], TODAY)


@pytest.mark.parametrize("mechanism", QUIET)
def test_quiet(tmp_path: Path, mechanism: str) -> None:
    """A metric that follows the advice has no finding."""
    assert findings(tmp_path, mechanism) == []


LOUD: list[tuple[str, str, dict[str, Any]]] = [
    ("expired", "unary-encoding", {"expires": TODAY}),
    ("expired", "unary-encoding", {"expires": date(2001, 1, 1)}),
    ("expires-far", "unary-encoding", {"expires": TODAY + timedelta(732), "lifetime_epsilon": 22}),
    ("epsilon-high", "unary-encoding", {"epsilon": 8.1, "lifetime_epsilon": 20, "period": "365d"}),
    (
        "lifetime-unbounded",
        "unary-encoding",
        {"lifetime_epsilon": "unbounded", "unbounded_justification": "because a test needs it"},
    ),
    ("lifetime-high", "unary-encoding", {"lifetime_epsilon": 24}),
    ("lifetime-short", "unary-encoding", {"lifetime_epsilon": 4}),
    ("collision-floor", "count-mean-sketch", {"hashes": 64}),
    ("collision-floor", "hadamard-count-mean-sketch", {"hashes": 8, "width": 8192}),
    ("collision-floor", "local-hashing", {"hashes": 4096}),
    ("collision-floor", "sequence-fragment-puzzle", {"hashes": 4096}),
    ("collision-floor", "prefix-extending-method", {"items": 4096, "families": 16}),
    ("better-mechanism", "randomized-response", {"values": [f"{i:02}" for i in range(11)]}),
    ("memoisation", "rappor", {"reports": "longitudinal", "p": 0.5, "q": 0.75}),
    ("no-candidates", "rappor", {"candidates": None}),
    ("no-candidates", "count-mean-sketch", {"candidates": None}),
    ("cohorts", "rappor", {"cohorts": 1}),
    ("dimension-thin", "unary-encoding", {"dimension": {"name": "c", "values": [f"v{i}" for i in range(17)]}}),
    ("dimension-of-values", "unary-encoding", {"dimension": {"name": "c", "values": ["a", "zz"]}}),
]
ERRORS = ("expired", "dimension-of-values")


@pytest.mark.parametrize(("name", "mechanism", "keys"), LOUD)
def test_loud(tmp_path: Path, name: str, mechanism: str, keys: dict[str, Any]) -> None:
    """Each lint finds its own kind of thing and nothing else, at a key of the metric, with a remedy."""
    (finding,) = findings(tmp_path, mechanism, **keys)
    assert finding.lint == name
    assert finding.level == ("error" if name in ERRORS else "warning")
    assert finding.fails == (name in ERRORS)
    assert finding.where.startswith("metrics.m.")
    assert finding.what
    assert finding.remedy


@pytest.mark.parametrize(("name", "mechanism", "keys"), LOUD)
def test_silenced(tmp_path: Path, name: str, mechanism: str, keys: dict[str, Any]) -> None:
    """A silenced finding, an error too, is still there, with its reason, and fails nothing."""
    reason = "A test has its reasons for this"
    (finding,) = findings(tmp_path, mechanism, **keys, silence={name: reason})
    assert finding.lint == name
    assert finding.silenced == reason
    assert not finding.fails


QUIETER: list[tuple[str, dict[str, Any]]] = [
    ("unary-encoding", {"expires": TODAY + timedelta(1)}),
    ("unary-encoding", {"expires": TODAY + timedelta(731)}),
    ("unary-encoding", {"epsilon": 8, "lifetime_epsilon": 17, "period": "365d"}),
    ("unary-encoding", {"lifetime_epsilon": 23}),
    ("unary-encoding", {"lifetime_epsilon": 5}),
    ("unary-encoding", {"dimension": {"name": "c", "values": [f"v{i}" for i in range(16)]}}),
    ("unary-encoding", {"dimension": {"name": "c", "values": ["a", "zz"], "other": "a"}}),
    ("randomized-response", {"values": [f"{i:02}" for i in range(10)]}),
    ("rappor", {"encoding": "one-hot", "values": ["a", "b"], "candidates": None, "bits": None, "hashes": None,
                "cohorts": None}),
    ("count-mean-sketch", {"hashes": 128, "width": 1024}),
    ("prefix-extending-method", {"items": 4096, "families": 32}),
]  # fmt: skip


@pytest.mark.parametrize(("mechanism", "keys"), QUIETER)
def test_just_quiet(tmp_path: Path, mechanism: str, keys: dict[str, Any]) -> None:
    """At the edge of each rule, on its good side, there is no finding."""
    assert findings(tmp_path, mechanism, **keys) == []


def test_every_lint_is_here() -> None:
    """The names that can be silenced are the names that can be found."""
    assert {name for name, _, _ in LOUD} == LINTS


def test_collision_floor_advice(tmp_path: Path) -> None:
    """Following the advice of collision-floor, and nothing less, silences it."""
    (finding,) = findings(tmp_path, "count-mean-sketch", hashes=4, width=1024)
    assert finding.remedy.startswith("raise hashes to 128")
    assert findings(tmp_path, "count-mean-sketch", hashes=64, width=1024)
    assert not findings(tmp_path, "count-mean-sketch", hashes=128, width=1024)


@pytest.mark.parametrize(
    ("mechanism", "noise"), [("count-mean-sketch", 3.9177), ("hadamard-count-mean-sketch", 4.6827)]
)
def test_collision_floor_dominates(tmp_path: Path, mechanism: str, noise: float) -> None:
    """collision-floor names the reports at which noise and floor are equal, by the mechanism's variance."""
    (finding,) = findings(tmp_path, mechanism, hashes=64, width=1024)
    # At epsilon 1 n Var is noise * (m/(m-1))^2: sqrt(E)/(sqrt(E)-1)^2 and ((E+1)/(E-1))^2.
    reports = noise * (1024 / 1023) ** 2 * 1023 * 64 / 0.1
    assert f"past about {reports:.2g} reports" in finding.what


def test_lifetime_short_names_the_day(tmp_path: Path) -> None:
    """lifetime-short says the day on which the last period that is paid for ends."""
    (finding,) = findings(tmp_path, "unary-encoding", lifetime_epsilon=4, reports_per_period=2)
    # Four reports, two in each of two periods of 90 days.
    assert "by 2026-11-28, before 2027-06-01" in finding.what


@pytest.mark.parametrize("mechanism", ["rappor", "one-bit-mean", "d-bit-flip"])
def test_several_reports_a_period_under_permanent_noise_are_an_error(tmp_path: Path, mechanism: str) -> None:
    """Where reports of one period share noise its figure hides no change, and only a written reason lets it pass."""
    (finding,) = memoised(tmp_path, mechanism, reports_per_period=1)
    assert not finding.fails
    (finding,) = memoised(tmp_path, mechanism, reports_per_period=2)
    assert finding.fails
    assert "per period" in finding.what
    silence = {"memoisation": "That it changed is no secret here"}
    (finding,) = memoised(tmp_path, mechanism, reports_per_period=2, silence=silence)
    assert not finding.fails


def memoised(folder: Path, mechanism: str, **keys: Any) -> list[Finding]:
    return [each for each in lint([metric_of(folder, mechanism, **keys)], TODAY) if each.lint == "memoisation"]
