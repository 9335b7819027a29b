"""What an audit found, for people and for machines."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape

from hubbub_simulations.audit.empirical import EmpiricalAudit
from hubbub_simulations.audit.exact import ExactAudit

_LONGEST_OUTPUT = 64


def exact_as_json(audit: ExactAudit) -> dict[str, Any]:
    """The figures of an exact audit. ``exact`` is [numerator, denominator]; None where the ratio is infinite."""
    worst = audit.worst
    return {
        "metric": audit.metric,
        "mechanism": audit.mechanism,
        "method": "exact",
        "passed": audit.passed,
        "problem": audit.problem,
        "epsilon": audit.epsilon,
        "infinite": worst is not None and worst.ratio is None,
        "exact": None if worst is None or worst.ratio is None else [worst.ratio.numerator, worst.ratio.denominator],
        "stated": [audit.stated.numerator, audit.stated.denominator],
        "printed": audit.printed,
        "declared": float(audit.declared),
        "agrees": audit.agrees,
        "exceeds_declared": audit.exceeds_declared,
        "exceeds_stated": audit.exceeds_stated,
        "likelier": None if worst is None else worst.likelier.decode(),
        "rarer": None if worst is None else worst.rarer.decode(),
        "output": None if worst is None else worst.output.hex(),
        "facts": [{"name": fact.name, "trials": fact.trials, "holds": fact.holds} for fact in audit.facts],
        "values": audit.values,
        "values_driven": audit.values_driven,
        "settings": audit.settings,
        "all_settings": audit.all_settings,
        "runs": audit.runs,
    }


def empirical_as_json(name: str, audit: EmpiricalAudit) -> dict[str, Any]:
    """The figures of an empirical audit of what is called ``name``."""
    return {
        "metric": name,
        "method": "empirical",
        "refuted": audit.refuted,
        "epsilon_at_least": audit.bound,
        "could_show": audit.could_show,
        "claimed": audit.claimed,
        "confidence": audit.confidence,
        "likelier": audit.likelier,
        "rarer": audit.rarer,
        "statistic": audit.statistic,
        "hits": audit.hits,
        "misses": audit.misses,
        "tested": audit.tested,
        "reports": audit.reports,
    }


def print_exact(console: Console, audit: ExactAudit) -> None:
    """The verdict, then what it rests on."""
    _line(console, f"{audit.metric}: {_verdict(audit)}", style="bold green" if audit.passed else "bold red")
    if audit.problem:
        _line(console, f"  not as described: {audit.problem}")
    if audit.worst is not None:
        worst = audit.worst
        found = "infinite: one of the values cannot give that output" if audit.epsilon is None else str(audit.epsilon)
        _line(console, f"  epsilon found    {found}")
        if worst.ratio is not None:
            _line(console, f"  exact ratio      {_short(str(worst.ratio))}")
        _line(console, f"  stated           {_compared(audit.exceeds_stated, audit.worst.ratio == audit.stated)}")
        _line(console, f"  check prints     {audit.printed}")
        _line(console, f"  declared         at most {float(audit.declared):g}")
        _line(console, f"  worst pair       {worst.likelier.decode()!r} against {worst.rarer.decode()!r}")
        _line(console, f"  worst output     {_short(worst.output.hex())}")
    for fact in audit.facts:
        mark = "holds" if fact.holds else "FAILS"
        _line(console, f"  {mark}: {fact.name} ({fact.trials:,} checks)", style="" if fact.holds else "red")
    tried = f"{audit.settings:,} of {audit.all_settings:,} public settings"
    _line(console, f"  tried: {audit.values_driven:,} of {audit.values:,} values through all noise, {tried}; "
                   f"{audit.runs:,} runs of the encoder")  # fmt: skip


def print_empirical(console: Console, name: str, audit: EmpiricalAudit) -> None:
    """The verdict, then the event behind it."""
    _line(console, f"{name}: {_empirical_verdict(audit)}", style="bold red" if audit.refuted else "bold green")
    _line(console, f"  claimed          at most {audit.claimed:g}")
    _line(console, f"  shown            at least {audit.bound:.4f}, at confidence {audit.confidence:.9g}")
    _line(console, f"  could be shown   {audit.could_show:.2f}, by as many reports of an encoder with no noise")
    _line(console, f"  event            a high score of {audit.statistic}")
    _line(console, f"  seen for         {audit.likelier!r}: {audit.hits:,} of {audit.tested:,} reports")
    _line(console, f"                   {audit.rarer!r}: {audit.misses:,} of {audit.tested:,} reports")


def _verdict(audit: ExactAudit) -> str:
    if audit.passed:
        return "as private as declared"
    if audit.exceeds_declared:
        return "LESS private than declared"
    if audit.exceeds_stated:
        return "LESS private than stated"
    return "NOT verified"


def _empirical_verdict(audit: EmpiricalAudit) -> str:
    return f"refuted: epsilon is at least {audit.bound:.4f}" if audit.refuted else "not refuted"


def _compared(exceeds: bool, equal: bool) -> str:
    if equal:
        return "the same ratio, exactly"
    return "a LOWER ratio" if exceeds else "a higher ratio (the values tried do not reach it)"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_OUTPUT else f"{text[: _LONGEST_OUTPUT - 3]}... ({len(text)} characters)"


def _line(console: Console, text: str, style: str = "") -> None:
    console.print(escape(text), style=style or None, highlight=False, soft_wrap=True)
