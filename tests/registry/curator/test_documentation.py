"""The page about the curator, and its example, are true."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest

from hubbub_registry import load_registry
from hubbub_registry.curator.definition import COMMON_KEYS, NOISE_KEYS, STATISTIC_KEYS
from hubbub_registry.curator.lints import LINTS, lint_curated

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "curator.md").read_text()
KEYS = {*COMMON_KEYS, *(key for table in (NOISE_KEYS, STATISTIC_KEYS) for keys in table.values() for key in keys)}


@pytest.mark.parametrize("name", sorted({*KEYS, *LINTS}))
def test_everything_is_described(name: str) -> None:
    """Every key and every lint has a row of a table."""
    assert re.search(rf"^\|[^|]*`{name}`[^|]* \|", PAGE, re.MULTILINE)


def test_example() -> None:
    """The example loads, and nothing in it is left to be decided on the day it was written."""
    registry = load_registry(ROOT / "examples" / "greenhouse" / "registry.toml")
    assert set(registry.curated) == {"readings", "heat", "moisture"}
    assert lint_curated(registry.curated.values(), date(2026, 11, 30)) == []
