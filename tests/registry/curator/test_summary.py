"""``hubbub check`` and ``hubbub statement`` give curated metrics' figures, in a part of their own."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hubbub_registry import load_registry
from hubbub_registry.commands import main
from hubbub_registry.commands.statement import render
from hubbub_registry.curator.accounting import SPANS, loss, releases, total
from hubbub_registry.curator.lints import LINTS, lint_curated
from hubbub_registry.statement.deployment import NoEntryError, entry
from hubbub_registry.statement.facts import gather
from hubbub_registry.summary.figures import decimal_up

from tests.registry.curator.tables import COUNT, HISTOGRAM, SUM, gaussian
from tests.registry.documents import LIST, table, write
from tests.registry.statement.registries import DAY

Captured = pytest.CaptureFixture[str]
CURATED = (table("curated.readings", COUNT), table("curated.heat", gaussian(SUM)), table("curated.bands", HISTOGRAM))
HIDDEN = "<&|`*_[x](y)#"


def check(path: Path, capsys: Captured) -> tuple[str, dict[str, Any]]:
    """What ``hubbub check`` prints, as text and as JSON."""
    assert main(["check", str(path)]) == 0
    text = capsys.readouterr().out
    assert main(["check", str(path), "--json"]) == 0
    return text, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("both", [True, False], ids=["both kinds", "curated only"])
def test_check(tmp_path: Path, both: bool, capsys: Captured) -> None:
    """Every figure is accounting's, rounded up, beside those of what devices randomise and never in them."""
    local = table("metrics.m", LIST)
    path = write(tmp_path, *((local,) if both else ()), *CURATED)
    text, document = check(path, capsys)
    metrics = load_registry(path).curated
    for name, each in metrics.items():
        row = " +".join(re.escape(decimal_up(loss(each, span).epsilon)) for span in SPANS)
        assert re.search(rf"^{name} +{row}$", text, re.MULTILINE)
        shown = document["curated"]["metrics"][name]
        for span in SPANS:
            exact = loss(each, span)
            assert (
                exact.epsilon <= Fraction(shown["loss"][span]["epsilon"]) <= exact.epsilon * (1 + Fraction(1, 10**15))
            )
            assert (shown["loss"][span]["rho"] is None) == (not each.gaussian)
        assert Fraction(*shown["exact"]) == each.loss
        assert shown["releases"] == releases(each)
        assert shown["fingerprint"] == each.fingerprint.hex()
    row = " +".join(re.escape(decimal_up(total(metrics.values(), span).epsilon)) for span in SPANS)
    assert re.search(rf"^one sensor, all curated +{row}$", text, re.MULTILINE)
    assert ("one device, all metrics" in text) == both
    if both:
        alone_text, alone = check(write(tmp_path, local), capsys)
        assert document["namespace"] == alone["namespace"]
        assert "curated" not in alone
        assert "curated" not in alone_text


def test_statement(tmp_path: Path) -> None:
    """The statement names the other trust model, who sees what, the unit, the neighbours and the exact figures."""
    path = write(tmp_path, table("metrics.m", LIST), *CURATED)
    registry = load_registry(path)
    page = render(gather(registry, DAY), "markdown")
    assert "**A gateway sees true readings for** `readings`, `heat`, `bands`" in page
    section = page[page.index("## What a trusted gateway releases") : page.index("## Decisions")]
    for words in (
        "**These metrics follow another trust model:** central, at a gateway",
        "every reading, with its sensor",
        "**The unit of privacy is one sensor over one period.**",
        "a sensor's readings of one period are all there, or none of them is",
        "rho-zCDP",
        "Nobody outside can check that it does.",
    ):
        assert words in section
    for each in registry.curated.values():
        assert f"`{each.loss}`" in section
        assert f"`{each.fingerprint.hex()}`" in section
    without = render(gather(load_registry(write(tmp_path, table("metrics.m", LIST))), DAY), "markdown")
    assert "gateway" not in without


def test_statement_of_curated_only(tmp_path: Path) -> None:
    """Where nothing is randomised on a device the page does not say that anything is; there is HTML, and no entry."""
    facts = gather(load_registry(write(tmp_path, *CURATED)), DAY)
    page = render(facts, "markdown")
    assert "True values stay on the device" not in page
    assert "local" not in page
    assert page.count("\n## ") == 4
    assert "<h2" in render(facts, "html")
    with pytest.raises(NoEntryError, match="curated metrics only"):
        render(facts, "yaml")


def test_entry_has_them_apart(tmp_path: Path) -> None:
    """The entry for the public registry stays that of the local metrics, and lists curated ones under hubbub."""
    pytest.importorskip("yaml")
    both = entry(gather(load_registry(write(tmp_path, table("metrics.m", LIST), *CURATED)), DAY))
    alone = entry(gather(load_registry(write(tmp_path, table("metrics.m", LIST))), DAY))
    assert set(both["hubbub"].pop("curated")["metrics"]) == {"readings", "heat", "bands"}
    assert both["deployment"]["privacy_loss"] == alone["deployment"]["privacy_loss"]


def test_hostile_words(tmp_path: Path) -> None:
    """What a registry says of a curated metric is shown as it is written, and is no markup."""
    path = write(tmp_path, table("curated.readings", {**COUNT, "description": f'"{HIDDEN}"', "owner": f'"{HIDDEN}"'}))
    page = render(gather(load_registry(path), DAY), "markdown")
    assert HIDDEN not in page
    assert page.count("\\<\\&\\|\\`\\*\\_\\[x\\](y)#") == 2


def test_compile_has_nothing_for_devices(tmp_path: Path, capsys: Captured) -> None:
    """A registry of curated metrics only compiles to nothing; with others the plan is that of the others alone."""
    assert main(["compile", str(write(tmp_path, *CURATED)), "-o", "-"]) == 1
    assert "there is no metric for devices" in capsys.readouterr().err
    both = load_registry(write(tmp_path, table("metrics.m", LIST), *CURATED)).document
    assert both == load_registry(write(tmp_path, table("metrics.m", LIST))).document


FOUND: dict[str, dict[str, str]] = {
    "expires-far": {},
    "epsilon-high": {"epsilon": "9"},
    "lifetime-high": {"lifetime_epsilon": "24"},
    "lifetime-short": {"lifetime_epsilon": "10"},
    "delta-high": {"delta": "1e-5"},
    "noise-high": {"epsilon": "0.01"},
}


@pytest.mark.parametrize("lint", FOUND)
def test_lints(tmp_path: Path, lint: str, capsys: Captured) -> None:
    """Each check finds what it is for, and a written reason silences it without hiding it."""
    base = gaussian(COUNT) if lint == "delta-high" else COUNT
    silence = {"silence": f'{{ {lint} = "A reason that is long enough" }}'}
    for keys, level in ((FOUND[lint], "warning"), ({**FOUND[lint], **silence}, "silenced")):
        text, _ = check(write(tmp_path, table("curated.c", {**base, **keys})), capsys)
        assert f"{level}: [{lint}] curated.c." in text


def test_quiet(tmp_path: Path) -> None:
    """A metric that nothing is wrong with has no findings."""
    keys = {"expires": "2027-01-01", "lifetime_epsilon": "20", "epsilon": "0.2", "sensors_minimum": "90"}
    path = write(tmp_path, table("curated.c", {**COUNT, **keys, "period": '"1w"'}))
    assert lint_curated(load_registry(path).curated.values(), DAY) == []


def test_expired(tmp_path: Path, capsys: Captured) -> None:
    """An expired metric is an error: check fails, and there is no statement."""
    path = write(tmp_path, table("curated.c", {**COUNT, "expires": "2020-01-01"}))
    assert main(["check", str(path)]) == 1
    assert "error: [expired] curated.c.expires" in capsys.readouterr().out
    assert main(["statement", str(path)]) == 1
    assert set(FOUND) | {"expired"} == LINTS
