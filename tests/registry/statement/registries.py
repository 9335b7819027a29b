"""Registries whose statements the tests read."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from hubbub_registry import load_registry
from hubbub_registry.statement.facts import Facts, gather

from tests.registries import MECHANISMS, write_registry

DAY = datetime.date(2026, 11, 30)


def facts_of(
    folder: Path,
    metrics: dict[str, dict[str, Any]] | None = None,
    stated: dict[str, str] | None = None,
    header: str = "",
) -> Facts:
    """The facts of a registry with these metrics (one of each mechanism where None), and a ``[statement]`` table."""
    if metrics is None:
        metrics = {name.replace("-", "_"): {"mechanism": name} for name in MECHANISMS}
    path = write_registry(folder / "registry.toml", metrics)
    text = path.read_text().replace("schema = 1\n", f"schema = 1\n{header}")
    if stated is not None:
        text += "\n[statement]\n" + "".join(f"{key} = {quoted(value)}\n" for key, value in stated.items())
    path.write_text(text)
    return gather(load_registry(path), DAY)


def quoted(text: str) -> str:
    """A TOML basic string that holds any text but surrogates."""
    return '"' + "".join(sign if sign.isalnum() or sign == " " else f"\\U{ord(sign):08x}" for sign in text) + '"'
