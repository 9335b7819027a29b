"""The manifest of a sealed part: what the collector promises about the file beside it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hubbub_decoder.sealed_folders import refused
from hubbub_registry import Metric
from hubbub_registry.errors import DatasetError

SCHEMA = 1


@dataclass(frozen=True)
class Manifest:
    """A committed part of one period: ``records`` of ``record_bytes`` in ``file``, of ``file_bytes`` and ``sha256``."""

    path: Path
    period: int
    period_start: str
    records: int
    record_bytes: int
    file: Path
    file_bytes: int
    sha256: str


def read_manifest(path: Path, metric: Metric) -> Manifest:
    """The manifest at ``path``. Raises DatasetError where it is damaged or of another definition than ``metric``'s."""
    document = _document(path)
    schema = _field(path, document, "schema", int)
    if schema != SCHEMA:
        raise DatasetError(f"{path}: schema {schema!r}, this hubbub reads {SCHEMA}; update the one that is older")
    fingerprint = _field(path, document, "fingerprint", str)
    if fingerprint != metric.fingerprint.hex():
        raise DatasetError(
            f"{path}: sealed under definition {fingerprint}, but metric {metric.name} in this registry is "
            f"{metric.fingerprint.hex()}; decode with the registry that the devices ran"
        )
    name = _field(path, document, "file", str)
    manifest = Manifest(
        path=path,
        period=_field(path, document, "period", int),
        period_start=_field(path, document, "period_start", str),
        records=_field(path, document, "records", int),
        record_bytes=_field(path, document, "record_bytes", int),
        file=path.parent / name,
        file_bytes=_field(path, document, "file_bytes", int),
        sha256=_field(path, document, "sha256", str),
    )
    if Path(name).name != name:
        raise DatasetError(f"{path}: its file {name!r} is not in its own folder; restore the manifest from a copy")
    if manifest.record_bytes != metric.device.record_bytes:
        raise DatasetError(
            f"{path}: records of {manifest.record_bytes} bytes, where metric {metric.name} has "
            f"{metric.device.record_bytes}; restore the manifest from a copy"
        )
    return manifest


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise DatasetError(refused(path, error)) from None
    except ValueError:
        raise DatasetError(f"{path}: is not JSON; restore the manifest from a copy") from None
    if not isinstance(document, dict):
        raise DatasetError(f"{path}: is not a JSON object; restore the manifest from a copy")
    return document


def _field(path: Path, document: dict[str, Any], key: str, kind: type[Any]) -> Any:
    value = document.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise DatasetError(f"{path}: {key} is {value!r}, not {kind.__name__}; restore the manifest from a copy")
    return value
