"""Registry files as text, so that a test can write what no TOML writer would."""

from collections.abc import Mapping
from pathlib import Path

HEADER = {"schema": "1", "namespace": '"org.example.test"'}
METRIC = {
    "description": '"A metric that a test made"',
    "owner": '"tests@example.org"',
    "expires": "2099-01-01",
    "period": '"1d"',
    "lifetime_epsilon": "10000",
}
SKETCH = {**METRIC, "mechanism": '"count-mean-sketch"', "epsilon": "2", "hashes": "64", "width": "128"}
LIST = {**METRIC, "mechanism": '"randomized-response"', "epsilon": "1", "values": '["a", "b"]'}
RAPPOR = {
    **METRIC, "mechanism": '"rappor"', "epsilon": "1.1", "bits": "64", "hashes": "2", "cohorts": "8",
    "f": "0.5", "p": "0.5", "q": "0.75",
}  # fmt: skip


def table(header: str, keys: Mapping[str, str | None]) -> str:
    """A TOML table; a key given as None is left out."""
    return "\n".join([f"[{header}]", *(f"{key} = {value}" for key, value in keys.items() if value is not None), ""])


def write(folder: Path, *tables: str, header: Mapping[str, str | None] | None = None) -> Path:
    """Writes a registry of these tables."""
    path = folder / "registry.toml"
    path.write_text("\n".join([table("registry", {**HEADER, **(header or {})}), *tables]))
    return path
