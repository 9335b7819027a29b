"""The two files of a part: its records as Parquet, and the manifest that commits it. See docs/sealed-data.md."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub_collector.durable import TEMPORARY, make_directories, write_atomically
from hubbub_registry import Metric

SCHEMA = 1
_ROWS = 1 << 20


def next_seal(folder: Path) -> int:
    """The number after the highest that any file in ``folder`` has; 1 where there is none."""
    numbers = [int(match[1]) for path in folder.glob("*") if (match := re.match(r"([0-9]{5,})\.", path.name))]
    return max(numbers, default=0) + 1


def parquet_path(folder: Path, seal: int) -> Path:
    """The records of part ``seal``."""
    return folder / f"{seal:05d}.parquet"


def manifest_path(folder: Path, seal: int) -> Path:
    """The manifest of part ``seal``: where it is there, the part is."""
    return folder / f"{seal:05d}.json"


def write_parquet(root: Path, path: Path, records: npt.NDArray[np.uint8]) -> None:
    """Writes ``records``, shape (n, record_bytes), to ``path`` under the existing ``root``. Raises OSError.

    No statistics: a minimum and a maximum tell of single records, and help nobody to read them all.
    """
    n, width = records.shape
    kind = pa.binary(width)
    column = pa.FixedSizeBinaryArray.from_buffers(kind, n, [None, pa.py_buffer(np.ascontiguousarray(records))])
    table = pa.Table.from_arrays([column], schema=pa.schema([pa.field("record", kind, nullable=False)]))
    make_directories(path.parent, root)
    write_atomically(
        path,
        lambda file: pq.write_table(
            table, file, compression="zstd", use_dictionary=False, write_statistics=False, store_schema=False,
            row_group_size=_ROWS,
        ),
    )  # fmt: skip


def write_manifest(path: Path, namespace: str, metric: Metric, period: int, parquet: Path, records: int) -> None:
    """Commits the part whose records are in ``parquet``. Raises OSError."""
    with open(parquet, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    start = datetime.datetime.fromtimestamp(period * metric.period, datetime.UTC)
    manifest: dict[str, Any] = {
        "schema": SCHEMA,
        "namespace": namespace,
        "metric": metric.name,
        "mechanism": metric.mechanism,
        "fingerprint": metric.fingerprint.hex(),
        "period": period,
        "period_seconds": metric.period,
        "period_start": start.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "records": records,
        "record_bytes": metric.device.record_bytes,
        "file": parquet.name,
        "file_bytes": parquet.stat().st_size,
        "sha256": digest,
        "entry": dict(metric.entry),
    }
    manifest["checksum"] = checksum(manifest)
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    write_atomically(path, lambda file: file.write(text.encode()))


def checksum(manifest: dict[str, Any]) -> str:
    """Of a manifest without the key ``checksum``: the SHA-256 of its canonical JSON."""
    return hashlib.sha256(json.dumps(manifest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def remove_uncommitted(folder: Path, seal: int) -> None:
    """Removes what a crash left of part ``seal``, which has no manifest."""
    for path in (parquet_path(folder, seal), manifest_path(folder, seal)):
        path.with_name(path.name + TEMPORARY).unlink(missing_ok=True)
    parquet_path(folder, seal).unlink(missing_ok=True)
