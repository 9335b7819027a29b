"""The file of a sealed part: proved to be the one that was committed, and read in batches."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub_decoder.counting.records import Records
from hubbub_decoder.sealed.folders import refused
from hubbub_decoder.sealed.manifest import Manifest
from hubbub_registry.errors import DatasetError

# A batch is what is in memory at a time: at most this many bytes, and this many records.
_BATCH_BYTES = 64 << 20
_BATCH_RECORDS = 1 << 20


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
    except PermissionError as error:
        raise DatasetError(refused(part.file, error)) from None
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
        raise DatasetError(f"{refused(part.file, error)} (it is sealed in {part.path.name})") from None
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
