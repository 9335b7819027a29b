"""Names what is damaged in the sealed data set."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from hubbub_collector.layout import DataDirectory
from hubbub_collector.seal.part import checksum
from hubbub_collector.store_check.findings import Finding


def check_sealed(data: DataDirectory, unfinished: set[Path]) -> list[Finding]:
    """What is damaged. ``unfinished`` are the Parquet files of a sealer that runs or was interrupted."""
    found: list[Finding] = []
    named: set[Path] = set()
    for manifest in sorted(data.parts.glob("*/*/*/*.json")):
        named.add(manifest.with_suffix(".parquet"))
        found += _check_part(manifest)
    for parquet in sorted(data.parts.glob("*/*/*/*.parquet")):
        if parquet not in named | unfinished:
            found.append(Finding(str(parquet), "", "its manifest is missing: the part does not count"))
    return found


def _check_part(path: Path) -> Iterator[Finding]:
    try:
        said: dict[str, Any] = json.loads(path.read_text())
        parquet = path.parent / said["file"]
        records, width, size, digest = (said[key] for key in ("records", "record_bytes", "file_bytes", "sha256"))
        place = (said["metric"], said["fingerprint"], str(said["period"]), path.stem)
        content = {key: value for key, value in said.items() if key != "checksum"}
    except (ValueError, KeyError, TypeError) as error:
        yield Finding(str(path), "", f"it is no manifest ({type(error).__name__})")
        return
    where = path.parent
    if place != (where.parent.parent.name, where.parent.name, where.name, Path(said["file"]).stem):
        yield Finding(str(path), "", "it is not the manifest of its place")
    if said.get("checksum", checksum(content)) != checksum(content):
        yield Finding(str(path), "", "its checksum does not match")
    try:
        with open(parquet, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        yield Finding(str(parquet), "", f"cannot be read ({error.strerror})")
        return
    if (parquet.stat().st_size, found) != (size, digest):
        yield Finding(str(parquet), "", "its size or its digest is not what the manifest says")
        return
    try:
        with pq.ParquetFile(parquet) as table:
            rows, kind = table.metadata.num_rows, table.schema_arrow.field("record").type
    except (pa.ArrowException, KeyError, OSError):
        yield Finding(str(parquet), "", "cannot be read as Parquet")
        return
    if (rows, kind) != (records, pa.binary(width)):
        yield Finding(str(path), "", f"it says {records} records of {width} bytes, and there are {rows} of {kind}")
