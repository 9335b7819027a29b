"""The analysis examples run as their page says, and find what was put in."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from hubbub_registry import load_registry

EXAMPLE = Path(__file__).parents[2] / "examples" / "analysis"


def run(*arguments: str) -> str:
    command = [sys.executable, "-W", "error", str(EXAMPLE / "weekly_report.py"), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_weekly_report_finds_the_change(tmp_path: Path) -> None:
    """Both themes that moved are named with intervals that hold the truth, no typeface is, and a picture is drawn."""
    out = run("--picture", str(tmp_path / "weeks.png"))
    moved = re.findall(r"^(\w+): .*interval ([+-][\d.]+)% to ([+-][\d.]+)%\)$", out, re.MULTILINE)
    assert {value for value, _, _ in moved} == {"dark", "system"}
    for value, low, high in moved:
        assert float(low) <= (6 if value == "dark" else -6) <= float(high)
    assert out.count("No value changed by more than its noise.") == 1
    assert (tmp_path / "weeks.png").read_bytes()[:4] == b"\x89PNG"


def test_weekly_report_of_a_small_batch_claims_nothing() -> None:
    """With 400 reports a week the same change is not seen, and both metrics say so."""
    assert run("--devices", "400").count("No value changed by more than its noise.") == 2


@pytest.mark.parametrize("name", ["theme", "font"])
def test_the_registry_loads(name: str) -> None:
    """The example's registry defines what the script decodes."""
    assert load_registry(EXAMPLE / "registry.toml").metric(name).candidates
