"""Registries for tests: one metric of each mechanism, with small defaults that a test can override."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

from hubbub_registry import Metric, Registry, load_registry

COMMON: dict[str, Any] = {
    "description": "A metric that a test made",
    "owner": "tests@example.org",
    "expires": datetime.date(2099, 1, 1),
    "period": "1d",
    "lifetime_epsilon": 10000,
}
MECHANISMS: dict[str, dict[str, Any]] = {
    "randomized-response": {"epsilon": 1, "values": ["a", "b", "c", "d", "e"]},
    "unary-encoding": {"epsilon": 1, "values": ["a", "b", "c", "d", "e"]},
    "hadamard-response": {"epsilon": 1, "values": ["a", "b", "c", "d", "e"]},
    "projective-geometry-response": {"epsilon": 1, "values": ["a", "b", "c", "d", "e"]},
    "local-hashing": {"epsilon": 1, "hashes": 32},
    "subset-selection": {"epsilon": 1, "values": ["a", "b", "c", "d", "e"]},
    "count-mean-sketch": {"epsilon": 2, "hashes": 64, "width": 128},
    "hadamard-count-mean-sketch": {"epsilon": 2, "hashes": 64, "width": 128},
    "one-bit-mean": {"epsilon": 1, "low": -20, "high": 99, "points": 5, "perturbation": 0.1},
    "d-bit-flip": {"epsilon": 1, "low": 0, "high": 99, "buckets": 5, "bits": 2, "perturbation": 0.1},
    "sequence-fragment-puzzle": {"epsilon": 2, "hashes": 32, "fragment_hashes": 8, "positions": 4},
    "prefix-extending-method": {"epsilon": 2, "longest": 5, "items": 512, "families": 2},
    "hierarchical-histogram": {"epsilon": 1, "low": -20, "high": 99, "buckets": 16, "levels": 2},
    "rappor": {"epsilon": 1.1, "bits": 64, "hashes": 2, "cohorts": 8, "f": 0.5, "p": 0.5, "q": 0.75},
}


VALUES = {
    "one-bit-mean": ["-20", "0", "57"],
    "d-bit-flip": ["0", "37", "99"],
    "hierarchical-histogram": ["-20", "0", "57"],
}


def values_of(mechanism: str) -> list[str]:
    """Three values that the metric of ``MECHANISMS`` takes."""
    return VALUES.get(mechanism, ["a", "b", "c"])


def write_registry(path: Path, metrics: dict[str, dict[str, Any]], namespace: str = "org.example.test") -> Path:
    """Writes a registry file. Each metric is ``COMMON`` and ``MECHANISMS[mechanism]`` with the given keys over them.

    A key given as None is left out.
    """
    lines = ["[registry]", "schema = 1", f'namespace = "{namespace}"']
    for name, keys in metrics.items():
        lines += ["", f"[metrics.{name}]"]
        everything = {**COMMON, **MECHANISMS.get(keys["mechanism"], {}), **keys}
        lines += [f"{key} = {_toml(value)}" for key, value in everything.items() if value is not None]
    path.write_text("\n".join(lines) + "\n")
    return path


def registry_of(folder: Path, **metrics: dict[str, Any]) -> Registry:
    """Writes and loads a registry with these metrics."""
    return load_registry(write_registry(folder / "registry.toml", metrics))


def metric_of(folder: Path, mechanism: str, **keys: Any) -> Metric:
    """One loaded metric, named ``m``."""
    return registry_of(folder, m={"mechanism": mechanism, **keys}).metric("m")


def _toml(value: Any) -> str:
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(part)}" for key, part in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
