"""``[curated.NAME]`` tables for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hubbub_registry import load_registry
from hubbub_registry.curator import Curated

from tests.registry.documents import table, write

COMMON = {
    "description": '"A curated metric that a test made"',
    "owner": '"tests@example.org"',
    "expires": "2099-01-01",
    "period": '"1d"',
    "adjacency": '"add-remove"',
    "contributions_per_period": "2",
    "sensors": "100",
    "sensors_minimum": "2",
}
LAPLACE = {"noise": '"discrete-laplace"', "epsilon": "1", "lifetime_epsilon": "1000"}
GAUSSIAN = {"noise": '"discrete-gaussian"', "rho": "0.1", "lifetime_rho": "100", "delta": "1e-9"}
COUNT = {**COMMON, **LAPLACE, "statistic": '"count"'}
SUM = {**COMMON, **LAPLACE, "statistic": '"sum"', "low": "-3", "high": "5"}
HISTOGRAM = {**COMMON, **LAPLACE, "statistic": '"histogram"', "low": "0", "high": "9", "buckets": "3"}


def gaussian(base: dict[str, str]) -> dict[str, str]:
    """The same metric with discrete Gaussian noise."""
    return {**{key: text for key, text in base.items() if key not in LAPLACE}, **GAUSSIAN}


def curated_of(folder: Path, base: dict[str, str], **keys: Any) -> Curated:
    """One loaded metric, named ``c``; keys as TOML, text in quotes of its own."""
    toml = {**base, **{key: str(value) for key, value in keys.items()}}
    return load_registry(write(folder, table("curated.c", toml))).curated["c"]
