"""Metrics for studies and benchmarks, made from keywords by way of a registry file: checked as any is."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hubbub_registry import Metric, load_registry

NAMESPACE = "org.hubbub.simulations"
"""That of every such metric."""
_COMMON = f"""[registry]
schema = 1
namespace = "{NAMESPACE}"

[metrics.study]
description = "A metric of a simulation study"
owner = "simulations@example.org"
expires = 2100-01-01
period = "1d"
lifetime_epsilon = 1000000
"""


def define(mechanism: str, **keys: Any) -> Metric:
    """The metric named ``study`` of this mechanism, with these registry keys (text, numbers, lists of text, tables).

    Raises RegistryError as any registry does.
    """
    lines = [f"{key} = {_toml(value)}" for key, value in {"mechanism": mechanism, **keys}.items()]
    with TemporaryDirectory(prefix="hubbub-study-") as folder:
        path = Path(folder) / "registry.toml"
        path.write_text(_COMMON + "\n".join(lines) + "\n", encoding="utf-8")
        return load_registry(path).metric("study")


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(part)}" for key, part in value.items()) + " }"
    return json.dumps(value)  # JSON's texts, numbers and lists are TOML's
