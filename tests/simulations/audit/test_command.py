"""``hubbub audit`` on the command line: what it prints, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hubbub_simulations.audit import AuditError
from hubbub_simulations.commands import audit as command

from tests.commands import run_command
from tests.registries import write_registry
from tests.simulations.audit import mutants

CLAIMS = "tests.simulations.audit.claims"


def run(*argv: str) -> int:
    return run_command(command, argv)


@pytest.fixture
def registry(tmp_path: Path) -> str:
    metrics = {"layout": {"mechanism": "randomized-response"}, "emoji": {"mechanism": "unary-encoding"}}
    return str(write_registry(tmp_path / "registry.toml", metrics))


def test_every_metric_is_audited_exactly_by_default(registry: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Without options every metric is driven, and the text says the verdict, the pair, the output and the facts."""
    assert run(registry) == 0
    out = capsys.readouterr().out
    for expected in ("layout: as private as declared", "emoji: as private", "worst pair", "worst output", "holds: "):
        assert expected in out
    assert "the same ratio, exactly" in out


def test_json_is_one_document(registry: str, capsys: pytest.CaptureFixture[str]) -> None:
    """``--json`` gives the exact ratio as two integers, the same as is stated, and nothing else on stdout."""
    assert run(registry, "emoji", "--json") == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    (found,) = document["audits"]
    assert found["exact"] == found["stated"]
    assert found["agrees"]
    assert document["passed"]


def test_a_broken_encoder_is_exit_status_1(
    registry: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An encoder that leaks gives 1, says what is infinite, and which fact fails."""
    monkeypatch.setattr("hubbub_client.mechanisms.unary_encoding.Encoder", mutants.LastBitPlain)
    assert run(registry, "emoji") == 1
    out = capsys.readouterr().out
    assert "emoji: LESS private than declared" in out
    assert "infinite" in out
    assert "FAILS: every bit is randomised" in out
    assert run(registry, "emoji", "--empirical", "2000", "--json") == 1
    assert json.loads(capsys.readouterr().out)["audits"][0]["refuted"]


@pytest.mark.parametrize(("function", "status"), [("honest", 0), ("broken", 1)])
def test_any_function_can_be_the_target(
    registry: str, capsys: pytest.CaptureFixture[str], function: str, status: int
) -> None:
    """``--target`` audits another's encoder with its module's VALUES against the metric's epsilon."""
    assert run(registry, "layout", "--empirical", "2000", "--target", f"{CLAIMS}:{function}") == status
    out = capsys.readouterr().out
    assert ("refuted: epsilon is at least" in out) == bool(status)
    assert ("not refuted" in out) == (not status)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nothing", "MODULE:FUNCTION"),
        ("no_such_module_here:f", "cannot be imported"),
        (f"{CLAIMS}:nothing", "has no function"),
        (f"{CLAIMS}:not_a_function", "has no function"),
    ],
)
def test_a_target_that_is_none_is_refused(registry: str, target: str, message: str) -> None:
    """A target that cannot be loaded is named, with what is wrong with it."""
    with pytest.raises(AuditError, match=message):
        run(registry, "layout", "--empirical", "200", "--target", target)


def test_a_target_needs_a_claim(registry: str) -> None:
    """A target without a metric, or without a number of reports, is refused."""
    for argv in ([registry, "layout", "--target", "a:b"], [registry, "--empirical", "9", "--target", "a:b"]):
        with pytest.raises(AuditError, match="--target needs"):
            run(*argv)


@pytest.mark.parametrize("argv", [["--empirical", "0"], ["--confidence", "1"], ["--exact", "--empirical", "9"]])
def test_wrong_usage_is_exit_status_2(registry: str, argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Numbers that are none and options that exclude each other are wrong usage."""
    with pytest.raises(SystemExit) as stop:
        run(registry, *argv)
    assert stop.value.code == 2
    assert capsys.readouterr().err
