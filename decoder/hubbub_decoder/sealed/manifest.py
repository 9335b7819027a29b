"""The manifest of a sealed part: what the collector promises about the file beside it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from hubbub_client.plan import definition_fingerprint
from hubbub_decoder.sealed.folders import refused
from hubbub_decoder.sealed.periods import start_of
from hubbub_registry import Metric
from hubbub_registry.errors import DatasetError

SCHEMA = 1
_RESTORE = "restore the manifest from a copy"
_NUMBER = re.compile(r"[0-9]{5,}")


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
    """The manifest at ``path``. Raises DatasetError where it is damaged, not in its own place, or not of ``metric``.

    Its place is the folder of its period, and its name that of its file: a copy of a part, under whatever other name,
    is never counted beside it.
    """
    if not _NUMBER.fullmatch(path.stem):
        raise DatasetError(
            f"{path}: is not named as a seal names a part (00001.json); move it out of the sealed data, or give the "
            "part its own name back"
        )
    try:
        return _checked(path, _document(path), metric)
    except RecursionError:
        raise DatasetError(f"{path}: is nested deeper than any manifest; {_RESTORE}") from None


def _checked(path: Path, document: dict[str, Any], metric: Metric) -> Manifest:
    schema = _field(path, document, "schema", int)
    if schema != SCHEMA:
        raise DatasetError(f"{path}: schema {schema!r}, this hubbub reads {SCHEMA}; update the one that is older")
    fingerprint = _field(path, document, "fingerprint", str)
    if fingerprint != metric.fingerprint.hex():
        raise DatasetError(
            f"{path}: sealed under definition {fingerprint}, but metric {metric.name} in this registry is "
            f"{metric.fingerprint.hex()}; decode with the registry that the devices ran"
        )
    _check_checksum(path, document)
    _check_place(path, document)
    _check_definition(path, document, metric)
    return Manifest(
        path=path,
        period=document["period"],
        period_start=document["period_start"],
        records=_field(path, document, "records", int),
        record_bytes=metric.device.record_bytes,
        file=path.with_suffix(".parquet"),
        file_bytes=_field(path, document, "file_bytes", int),
        sha256=_field(path, document, "sha256", str),
    )


def _document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise DatasetError(refused(path, error)) from None
    except ValueError:
        raise DatasetError(f"{path}: is not JSON; {_RESTORE}") from None
    if not isinstance(document, dict):
        raise DatasetError(f"{path}: is not a JSON object; {_RESTORE}")
    return document


def _check_checksum(path: Path, document: dict[str, Any]) -> None:
    """Of one that has it: parts that were sealed before there were checksums have none."""
    rest = dict(document)
    said = rest.pop("checksum", None)
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    if "checksum" in document and said != hashlib.sha256(text.encode()).hexdigest():
        raise DatasetError(f"{path}: was changed after it was sealed (its checksum does not match); {_RESTORE}")


def _check_place(path: Path, document: dict[str, Any]) -> None:
    file = _field(path, document, "file", str)
    if file != path.with_suffix(".parquet").name:
        raise DatasetError(
            f"{path}: is the manifest of {file!r}, and not of {path.stem}.parquet beside it; remove it where it is a "
            "copy, else restore it"
        )
    period = _field(path, document, "period", int)
    if path.parent.name != str(period):
        raise DatasetError(
            f"{path}: is a part of period {period}, and lies in the folder {path.parent.name}; remove that folder "
            f"where it is a copy, else give it the name {period} back"
        )


def _check_definition(path: Path, document: dict[str, Any], metric: Metric) -> None:
    """Raises DatasetError where what the metric knows is something else here."""
    start = start_of(document["period"], metric.period)
    if start is None or document["period"] < 0:
        raise DatasetError(f"{path}: period {document['period']} is in no calendar; {_RESTORE}")
    known = {
        "metric": metric.name,
        "mechanism": metric.mechanism,
        "period_seconds": metric.period,
        "period_start": start.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "record_bytes": metric.device.record_bytes,
    }
    for key, own in known.items():
        said = _field(path, document, key, type(own))
        if said != own:
            raise DatasetError(f"{path}: {key} is {said!r}, where metric {metric.name} has {own!r}; {_RESTORE}")
    namespace, entry = _field(path, document, "namespace", str), _field(path, document, "entry", dict)
    if _fingerprint(namespace, json.dumps(entry, sort_keys=True)) != metric.fingerprint:
        raise DatasetError(
            f"{path}: its namespace and entry are not of definition {metric.fingerprint.hex()}, as it says; {_RESTORE}"
        )


@lru_cache(maxsize=8)  # nearly always it is the entry of the part before
def _fingerprint(namespace: str, entry: str) -> bytes:
    """That of an entry in JSON; empty where it is none."""
    try:
        return definition_fingerprint(namespace, json.loads(entry))
    except (ValueError, TypeError, LookupError, AttributeError):
        return b""


def _field(path: Path, document: dict[str, Any], key: str, kind: type[Any]) -> Any:
    value = document.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise DatasetError(f"{path}: {key} is {value!r}, not {kind.__name__}; {_RESTORE}")
    return value
