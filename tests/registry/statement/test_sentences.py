"""A statement says everything that a reader must know of this very registry, and nothing that is not so."""

import datetime
import hashlib
from pathlib import Path
from typing import Any

import pytest

from hubbub_registry import RegistryError
from hubbub_registry.commands import main
from hubbub_registry.mechanisms import NAMES
from hubbub_registry.statement.build import statement
from hubbub_registry.statement.facts import Facts
from hubbub_registry.statement.html import html
from hubbub_registry.statement.markdown import markdown
from hubbub_registry.statement.mechanisms import WORDS

from tests.registry.statement.registries import facts_of


def text_of(facts: Facts) -> str:
    """The statement as Markdown."""
    return markdown(statement(facts))


def section_of(facts: Facts, anchor: str) -> str:
    """One section, as the text of its parts."""
    return next(str(section) for section in statement(facts).sections if section.anchor == anchor)


@pytest.mark.parametrize("name", NAMES)
def test_every_mechanism_has_its_words(name: str) -> None:
    """Each mechanism of the table has its sentences: what is sent, how it is noised, what it is good for."""
    assert name in WORDS, f"write what {name} does into hubbub_registry/statement/mechanisms.py"
    words = WORDS[name]
    for sentence in (words.report, words.noise, words.utility, words.permanent, words.fresh):
        assert not sentence or sentence.endswith(".")
    assert words.report
    assert words.noise
    assert words.utility
    assert words.title
    assert words.source


def test_no_words_without_a_mechanism() -> None:
    """Nothing is described that there is not."""
    assert set(WORDS) == set(NAMES)


def test_every_mechanism_is_described(tmp_path: Path) -> None:
    """A registry with every mechanism gives a statement that has the words of each, in both formats."""
    facts = facts_of(tmp_path)
    page, text = html(statement(facts)), text_of(facts)
    for metric in facts.metrics:
        words = WORDS[metric.mechanism]
        assert words.report in text
        assert words.noise in text
        assert f"<code>{metric.name}</code>: {words.title}" in page


def test_permanent_or_fresh(tmp_path: Path) -> None:
    """Noise is called permanent where it is, and drawn anew where it is not."""
    rappor: dict[str, Any] = {"mechanism": "rappor"}
    permanent = text_of(facts_of(tmp_path, {"m": rappor}))
    fresh = text_of(facts_of(tmp_path, {"m": {**rappor, "reports": "one-time", "p": None, "q": None, "epsilon": 4.5}}))
    assert WORDS["rappor"].permanent in permanent
    assert WORDS["rappor"].fresh not in permanent
    assert WORDS["rappor"].fresh in fresh
    assert WORDS["rappor"].permanent not in fresh


def test_reasons(tmp_path: Path) -> None:
    """Every silenced check has its reason, every open one its advice, and every unbounded life its justification."""
    silence = {"memoisation": "Nobody minds that it changed", "lifetime-high": "It reports for thirty years"}
    endless = {"lifetime_epsilon": "unbounded", "unbounded_justification": "The lamp is sold with the house"}
    facts = facts_of(
        tmp_path,
        {
            "a": {"mechanism": "rappor", "silence": silence},
            "b": {"mechanism": "count-mean-sketch", **endless},
            "c": {"mechanism": "unary-encoding"},
        },
    )
    text = section_of(facts, "reasons")
    assert {finding.lint for finding in facts.findings if finding.silenced} == set(silence)
    assert any(finding.silenced is None for finding in facts.findings)
    for reason in (*silence.values(), "The lamp is sold with the house"):
        assert reason in text
    for finding in facts.findings:
        assert finding.where in text
        assert finding.what[1:] in text.replace('\\"', '"')
        assert finding.silenced or finding.remedy[1:] in text


def test_nothing_to_decide(tmp_path: Path) -> None:
    """Where the checks find nothing, the statement says that, and no table stands empty."""
    quiet = {"mechanism": "unary-encoding", "lifetime_epsilon": 10, "expires": datetime.date(2026, 12, 5)}
    facts = facts_of(tmp_path, {"m": quiet})
    assert not facts.findings
    assert "found nothing that needs a decision" in section_of(facts, "reasons")
    assert "For your decision" not in text_of(facts)


def test_always_unprotected(tmp_path: Path) -> None:
    """Presence, address, timing, households, several metrics and the population are named as unprotected, always."""
    text = section_of(facts_of(tmp_path, {"m": {"mechanism": "unary-encoding"}}), "limits")
    for words in (
        "That a device reports, and how often.", "The network address.", "Timing.", "Groups of devices.",
        "Several metrics together.", "What is true of nearly everybody.",
    ):  # fmt: skip
        assert words in text
    assert "That a value changed" not in text
    assert "Which group a device is in" not in text


def test_unprotected_here(tmp_path: Path) -> None:
    """Changes of a value are named for the metrics with permanent noise, and groups where reports carry them."""
    facts = facts_of(tmp_path)
    text = section_of(facts, "limits")
    assert {metric.name for metric in facts.permanent} == {"rappor", "one_bit_mean", "d_bit_flip"}
    assert "That a value changed" in text
    assert facts.groups == {"rappor": 8, "d_bit_flip": 10}  # cohorts; 2 of 5 buckets
    assert "(one of 8)" in text
    assert "(one of 10)" in text


def test_no_amplification(tmp_path: Path) -> None:
    """No shuffler is counted on unless the registry names one, and then figures stay those without it."""
    metrics: dict[str, dict[str, Any]] = {"m": {"mechanism": "unary-encoding"}}
    without = facts_of(tmp_path, metrics)
    assert "No shuffler is counted on." in section_of(without, "trust")
    header = 'shuffler = "independent"\nshuffler_operator = "Mixers of Example"\nshuffler_key = "0123456789abcdef"\n'
    named = facts_of(tmp_path, metrics, header=header)
    text = section_of(named, "trust")
    assert "Mixers of Example" in text
    assert "0123456789abcdef" in text
    assert "hubbub cannot check that the two are independent" in text
    assert "No shuffler is counted on." not in text
    assert section_of(named, "strength") == section_of(without, "strength")


def test_stated(tmp_path: Path) -> None:
    """What the registry states is shown as its word; what it does not is shown as not stated."""
    metrics: dict[str, dict[str, Any]] = {"m": {"mechanism": "unary-encoding"}}
    nothing = text_of(facts_of(tmp_path, metrics))
    for row in ("Controller", "Contact", "Purpose", "Region"):
        assert f"| {row} | not stated |" in nothing
    assert "**Retention, as the registry states it:** not stated." in nothing
    stated = {
        "controller": "Example Ltd", "contact": "privacy@example.org", "purpose": "To repair it", "region": "The EU",
        "retention": "Two years", "notes": "First remark.\n\nSecond remark.",
    }  # fmt: skip
    said = text_of(facts_of(tmp_path, metrics, stated))
    assert "not stated" not in said
    for text in (*list(stated.values())[:-1], "\nFirst remark.\n\nSecond remark.\n"):
        assert text in said


def test_says_which_plan(tmp_path: Path) -> None:
    """The SHA-256 in a statement is that of the plan that ``hubbub compile`` writes from the same registry."""
    facts = facts_of(tmp_path)
    assert main(["compile", str(tmp_path / "registry.toml"), "-o", str(tmp_path / "plan.json")]) == 0
    assert hashlib.sha256((tmp_path / "plan.json").read_bytes()).hexdigest() == facts.plan_sha256
    assert facts.plan_sha256 in text_of(facts)


def test_refuses_what_does_not_compile(tmp_path: Path) -> None:
    """A registry that compiles to no plan gets no statement."""
    with pytest.raises(RegistryError, match=r"\[expired\] 2026-11-30 has come"):
        facts_of(tmp_path, {"m": {"mechanism": "unary-encoding", "expires": datetime.date(2026, 11, 30)}})


def test_the_same_facts_give_the_same_text(tmp_path: Path) -> None:
    """A statement depends on its facts only."""
    assert text_of(facts_of(tmp_path)) == text_of(facts_of(tmp_path))
