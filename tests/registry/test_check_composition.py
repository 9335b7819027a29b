"""``hubbub check`` with a horizon: local, composed and amplified figures, for people and for machines."""

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hubbub_registry import load_registry
from hubbub_registry.commands import main
from hubbub_registry.composition.answer import NO_SHUFFLER
from hubbub_registry.summary.figures import decimal_down, decimal_up

from tests.registry.documents import LIST, RAPPOR, SKETCH, table, write

Captured = pytest.CaptureFixture[str]
TABLES = [table("metrics.list", {**LIST, "lifetime_epsilon": "30"}), table("metrics.rappor", RAPPOR)]
SHUFFLER = {
    "shuffler": '"independent"',
    "shuffler_operator": '"The Mixing Trust"',
    "shuffler_key": '"0123456789abcdef"',
}
QUESTION = ["--horizon", "5y", "--delta", "1e-6", "--shuffled-batch", "100000"]


def check(path: Path, capsys: Captured, *options: str) -> str:
    """What the command prints."""
    assert main(["check", str(path), *options]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def composed(path: Path, capsys: Captured, *options: str) -> dict[str, Any]:
    """What stands under ``composed`` with ``--json``."""
    document: dict[str, Any] = json.loads(check(path, capsys, "--json", *options))["composed"]
    return document


def test_json(tmp_path: Path, capsys: Captured) -> None:
    """The keys are those of docs/accounting.md, with exact sums rounded up and tighter figures after looser ones."""
    path = write(tmp_path, *TABLES)
    document = composed(path, capsys, *QUESTION)
    assert list(document) == [
        "horizon_seconds", "delta", "household", "metrics", "namespace", "unchanging", "amplified",
    ]  # fmt: skip
    assert (document["horizon_seconds"], document["delta"], document["household"]) == (5 * 365 * 86400, 1e-6, 1)
    metric = load_registry(path).metric("list")
    shown = document["metrics"]["list"]
    assert list(shown) == ["reports", "local", "basic", "advanced", "rdp", "zcdp", "pld"]
    assert shown["reports"] == 30
    assert 0 <= Fraction(shown["local"]) - metric.exact_epsilon < Fraction(1, 10**12)
    assert 0 <= Fraction(shown["basic"]) - 30 * metric.exact_epsilon < Fraction(1, 10**12)
    assert shown["pld"] < shown["rdp"] < shown["zcdp"] <= shown["basic"]
    rappor, everything = document["metrics"]["rappor"], document["namespace"]
    assert everything["reports"] == shown["reports"] + rappor["reports"]
    assert rappor["pld"] == pytest.approx(rappor["basic"], rel=1e-9)
    assert shown["pld"] < document["unchanging"]["pld"] < everything["pld"] < everything["basic"]
    assert document["unchanging"]["basic"] == pytest.approx(shown["basic"] + 4.394450, abs=1e-5)


def test_json_without_permanent_noise(tmp_path: Path, capsys: Captured) -> None:
    """What was not asked, and what cannot differ, is not there; the defaults are a year and 1e-6."""
    document = composed(write(tmp_path, table("metrics.m", SKETCH)), capsys, "--household", "2")
    assert list(document) == ["horizon_seconds", "delta", "household", "metrics", "namespace"]
    assert (document["horizon_seconds"], document["delta"], document["household"]) == (365 * 86400, 1e-6, 2)


def test_other_keys_stay(tmp_path: Path, capsys: Captured) -> None:
    """A question adds one key and changes nothing else."""
    path = write(tmp_path, *TABLES)
    plain = json.loads(check(path, capsys, "--json"))
    asked = json.loads(check(path, capsys, "--json", *QUESTION))
    assert asked.pop("composed")
    assert plain == asked


def test_household(tmp_path: Path, capsys: Captured) -> None:
    """For a household of k the local figure and the plain sum grow k times, and the tight ones less than that."""
    path = write(tmp_path, *TABLES)
    one = composed(path, capsys, "--horizon", "1y")["metrics"]["list"]
    three = composed(path, capsys, "--horizon", "1y", "--household", "3")["metrics"]["list"]
    for key in ("reports", "local", "basic"):
        assert three[key] == pytest.approx(3 * one[key], rel=1e-12)
    assert three["pld"] < 3 * one["pld"]


def test_prior(tmp_path: Path, capsys: Captured) -> None:
    """A prior becomes a range for one report and for all, of each metric and of all, rounded outwards."""
    path = write(tmp_path, *TABLES)
    document = composed(path, capsys, "--prior", "0.1")
    assert document["prior"] == 0.1
    shown = document["metrics"]["list"]["posterior"]
    ratio = load_registry(path).metric("list").ratio
    least, most = Fraction(1) / (1 + 9 * ratio), ratio / (ratio + 9)
    assert Fraction(shown["report"][0]) <= least < most <= Fraction(shown["report"][1])
    assert shown["report"] == pytest.approx([float(least), float(most)], rel=1e-9)
    assert shown["horizon"][0] < shown["report"][0] < shown["report"][1] < shown["horizon"][1]
    out = check(path, capsys, "--prior", "0.1")
    low, high = decimal_down(Fraction(shown["report"][0])), decimal_up(Fraction(shown["report"][1]))
    assert re.search(rf"^list +{low} to {high} ", out, re.MULTILINE)


def test_not_claimed(tmp_path: Path, capsys: Captured) -> None:
    """Where no independent shuffler is stated no amplified figure is printed, and the reason is."""
    path = write(tmp_path, *TABLES)
    assert composed(path, capsys, *QUESTION)["amplified"] == {"claimed": False, "why": NO_SHUFFLER, "batch": 100000}
    assert f"amplified by shuffling: not claimed: {NO_SHUFFLER}\n" in check(path, capsys, *QUESTION)


def test_claimed(tmp_path: Path, capsys: Captured) -> None:
    """With a stated shuffler its operator is named, and what cannot be amplified says why."""
    path = write(tmp_path, *TABLES, header=SHUFFLER)
    document = composed(path, capsys, *QUESTION)
    amplified = document["amplified"]
    assert list(amplified) == ["claimed", "shuffler", "batch", "metrics", "horizon"]
    assert (amplified["claimed"], amplified["shuffler"]) == (True, "The Mixing Trust")
    shown = amplified["metrics"]["list"]
    assert list(shown["one_device"]) == ["own", "general", "clones", "closed_form"]
    assert shown["report"] == shown["one_device"]["own"] < 0.02
    assert amplified["horizon"] < document["namespace"]["pld"]
    assert list(amplified["metrics"]["rappor"]) == ["why"]
    out = check(path, capsys, *QUESTION)
    assert "on the registry's word that The Mixing Trust shuffles apart from the collector" in out
    assert f"  list: {decimal_up(Fraction(shown['report']))} for one report of one device" in out
    assert "  rappor: nothing, since its permanent noise" in out


def test_claimed_for_a_household(tmp_path: Path, capsys: Captured) -> None:
    """Devices of one household in one batch hide each other no more."""
    path = write(tmp_path, *TABLES, header=SHUFFLER)
    shown = composed(path, capsys, *QUESTION, "--household", "4")["amplified"]["metrics"]["list"]
    assert 4 * shown["one_device"]["own"] < shown["report"] < 1


def test_text(tmp_path: Path, capsys: Captured) -> None:
    """People see every figure of the JSON to six decimals, rounded up."""
    path = write(tmp_path, *TABLES)
    document, out = composed(path, capsys, *QUESTION), check(path, capsys, *QUESTION)
    assert "one device over 5y, at delta 1e-06, rounded up\n" in out
    rows = {**document["metrics"], "all metrics": document["namespace"]}
    for name, figures in rows.items():
        numbers = [decimal_up(Fraction(figures[key])) for key in ("advanced", "rdp", "zcdp", "pld")]
        assert re.search(rf"^{name} +{figures['reports']} .*{' +'.join(numbers)}$", out, re.MULTILINE)
    assert re.search(rf"^  while no value changes .* {decimal_up(Fraction(document['unchanging']['pld']))}$", out, re.M)


@pytest.mark.parametrize(
    ("option", "text"),
    [("--horizon", "forever"), ("--delta", "1"), ("--shuffled-batch", "1"), ("--household", "0"), ("--prior", "1")],
)
def test_refused(tmp_path: Path, capsys: Captured, option: str, text: str) -> None:
    """A number out of range is one line on stderr, and nothing is printed."""
    assert main(["check", str(write(tmp_path, *TABLES)), option, text]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"hubbub check: error: {option}: ")
    assert captured.err.count("\n") == 1


def test_too_many_reports(tmp_path: Path, capsys: Captured) -> None:
    """A horizon of more reports than can be composed is refused with what to do."""
    many = {**SKETCH, "period": '"1s"', "lifetime_epsilon": '"unbounded"',
            "unbounded_justification": '"It never leaves the laboratory"'}  # fmt: skip
    assert main(["check", str(write(tmp_path, table("metrics.m", many))), "--horizon", "1y"]) == 1
    assert "ask for a shorter --horizon" in capsys.readouterr().err
