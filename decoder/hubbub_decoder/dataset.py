"""Reads what was sealed for one metric: verified, in batches, in constant memory."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub_decoder.manifest import Manifest, read_manifest
from hubbub_decoder.records import Records
from hubbub_registry import Metric
from hubbub_registry.errors import DatasetError

# A batch is what is in memory at a time: at most this many bytes, and this many records.
_BATCH_BYTES = 64 << 20
_BATCH_RECORDS = 1 << 20


class Dataset:
    """The committed parts of a metric's very definition in a sealed data set.

    ``data`` is the folder given to ``hubbub collect --data``; ``periods`` limits it to these period numbers. A part
    without a manifest is not committed, and not read. Raises DatasetError where nothing is sealed for this definition.
    """

    def __init__(self, data: str | Path, metric: Metric, periods: Collection[int] | None = None) -> None:
        self.metric = metric
        sealed = Path(data) / "sealed" / metric.name
        self.folder = sealed / metric.fingerprint.hex()
        try:
            paths = sorted(self.folder.glob("*/*.json"))
        except OSError as error:
            raise DatasetError(f"{self.folder}: cannot be read ({error.strerror}); check its permissions") from None
        if not paths:
            _explain_nothing(Path(data), sealed, metric)
        parts = [read_manifest(path, metric) for path in paths]
        self.parts = tuple(part for part in parts if periods is None or part.period in periods)
        if not self.parts:
            there = ", ".join(str(period) for period in sorted({part.period for part in parts}))
            raise DatasetError(f"{self.folder}: none of the periods asked for is sealed; these are: {there}")

    def __str__(self) -> str:
        return str(self.folder)

    @property
    def periods(self) -> tuple[int, ...]:
        """The numbers of the periods read, in order."""
        return tuple(sorted({part.period for part in self.parts}))

    def batches(self) -> Iterator[Records]:
        """All records, part by part: read-only uint8 arrays of shape (n, record_bytes) that share Arrow's memory."""
        for part in self.parts:
            yield from part_batches(part)


def part_batches(part: Manifest) -> Iterator[Records]:
    """The records of one part, once its file has proved to be the one that was committed. Raises DatasetError."""
    _verify(part)
    try:
        with pq.ParquetFile(part.file) as file:
            _check_schema(part, file)
            size = max(1, min(_BATCH_RECORDS, _BATCH_BYTES // part.record_bytes))
            # One row group at a time: over several, Arrow keeps all that it has read until the end.
            for group in range(file.num_row_groups):
                for batch in file.iter_batches(batch_size=size, row_groups=[group]):
                    yield _as_array(part, batch.column(0))
    except (pa.ArrowException, OSError) as error:
        raise DatasetError(f"{part.file}: cannot be read as Parquet ({error}); restore it from a copy") from None


def _verify(part: Manifest) -> None:
    try:
        size = part.file.stat().st_size
        if size != part.file_bytes:
            raise DatasetError(f"{part.file}: {size} bytes where {part.file_bytes} were sealed; restore it from a copy")
        with part.file.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DatasetError(
            f"{part.file}: sealed in {part.path.name}, but it cannot be read ({error.strerror}); restore it from a copy"
        ) from None
    if digest != part.sha256:
        raise DatasetError(f"{part.file}: not the bytes that were sealed (SHA-256 differs); restore it from a copy")


def _check_schema(part: Manifest, file: pq.ParquetFile) -> None:
    schema = file.schema_arrow
    if schema.names != ["record"] or schema.field(0).type != pa.binary(part.record_bytes):
        raise DatasetError(
            f"{part.file}: holds {', '.join(f'{field.name}: {field.type}' for field in schema)}; a sealed file holds "
            f"one column, record: fixed_size_binary[{part.record_bytes}]"
        )
    if file.metadata.num_rows != part.records:
        raise DatasetError(
            f"{part.file}: {file.metadata.num_rows} records where {part.records} were sealed; restore it from a copy"
        )


def _as_array(part: Manifest, column: pa.Array) -> Records:
    if column.null_count:
        raise DatasetError(f"{part.file}: holds missing records, which no seal writes; restore it from a copy")
    width = part.record_bytes
    data = np.frombuffer(column.buffers()[1], np.uint8, len(column) * width, column.offset * width)
    return data.reshape(-1, width)


def _explain_nothing(data: Path, sealed: Path, metric: Metric) -> None:
    others = sorted({path.parent.parent.name for path in sealed.glob("*/*/*.json")})
    if others:
        raise DatasetError(
            f"{sealed}: sealed under definition {', '.join(others)}, but metric {metric.name} in this registry is "
            f"{metric.fingerprint.hex()}; decode with the registry that the devices ran"
        )
    raise DatasetError(
        f"{data}: no sealed batch of metric {metric.name}; close its periods first with: hubbub seal REGISTRY.toml "
        f"--data {data}"
    )
