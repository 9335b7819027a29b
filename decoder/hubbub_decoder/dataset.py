"""Reads what was sealed for one metric: verified, in batches, in constant memory."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub_decoder.arguments import check_metric
from hubbub_decoder.caveats import other_definitions, repeated_reports
from hubbub_decoder.errors import ArgumentError
from hubbub_decoder.manifest import Manifest, read_manifest
from hubbub_decoder.periods import named, numbers_of
from hubbub_decoder.records import Records
from hubbub_decoder.sealed_folders import check_data_folder, folders_in, manifests_in, refused
from hubbub_decoder.split.cell import cell_notes, cell_of, check_cell
from hubbub_registry import Metric
from hubbub_registry.errors import DatasetError

# A batch is what is in memory at a time: at most this many bytes, and this many records.
_BATCH_BYTES = 64 << 20
_BATCH_RECORDS = 1 << 20


class Dataset:
    """The committed parts of a metric's very definition in a sealed data set.

    ``data`` is the folder given to ``hubbub collect --data``; ``periods`` limits it to these periods, each by its
    number or by a date (UTC) in it; ``where`` to one cell of the metric's public dimension, as ``{"version": "1.1"}``,
    in every figure that is made of it. A part without a manifest is not committed, and not read. Raises DatasetError
    where nothing is sealed for this definition, where a period asked for is not, and for whatever cannot be read;
    EstimateError for a cell that there is not; ArgumentError for arguments of another type.
    """

    def __init__(
        self, data: str | Path, metric: Metric, periods: Collection[int | datetime.date] | None = None,
        where: Mapping[str, str] | None = None,
    ) -> None:  # fmt: skip
        _check_arguments(data, metric, periods)
        self.cell = cell_of(metric, where)
        """The place of the public dimension's value whose reports are read; None for all."""
        root = Path(data)
        check_data_folder(root)
        sealed = root / "sealed" / metric.name
        self.metric = metric
        self.folder = sealed / metric.fingerprint.hex()
        paths = [path for period in folders_in(self.folder) for path in manifests_in(period)]
        if not paths:
            _explain_nothing(root, sealed, metric)
        self.sealed = tuple(read_manifest(path, metric) for path in paths)
        """The parts of all periods, whether asked for or not."""
        wanted = _wanted(self.folder, metric, {part.period for part in self.sealed}, periods)
        self.parts = tuple(part for part in self.sealed if part.period in wanted)
        self._other = other_definitions(sealed, metric, None if periods is None else wanted)

    def __str__(self) -> str:
        return str(self.folder)

    @property
    def periods(self) -> tuple[int, ...]:
        """The numbers of the periods read, in order."""
        return tuple(sorted({part.period for part in self.parts}))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of figures from this data must know: repeated reports, and records that are not among them."""
        only = () if self.cell is None else cell_notes(self.metric, self.cell)
        return (*only, *repeated_reports(self.metric, self.periods), *self._other)

    def check_cell(self, n: int) -> None:
        """Raises HeldBackError where this is one cell, and ``n`` reports are fewer than its registry shows."""
        if self.cell is not None:
            check_cell(self.metric, self.cell, n)

    def batches(self) -> Iterator[Records]:
        """All records, part by part: read-only uint8 arrays of shape (n, record_bytes) that share Arrow's memory."""
        for part in self.parts:
            for batch in part_batches(part):
                yield batch if self.cell is None else batch[batch[:, 0] == self.cell]


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


def _check_arguments(data: object, metric: object, periods: object) -> None:
    if not isinstance(data, (str, Path)):
        raise ArgumentError(f"Dataset: data is a folder's path (str or Path), not {data!r}; pass the collector's")
    check_metric("Dataset", metric)
    if isinstance(periods, (str, bytes)) or not (periods is None or isinstance(periods, Collection)):
        raise ArgumentError(f"Dataset: periods is a list of period numbers or dates, or None for all, not {periods!r}")


def _wanted(folder: Path, metric: Metric, there: set[int], asked: Collection[int | datetime.date] | None) -> set[int]:
    """The sealed periods that are ``asked`` for (None: all). Raises DatasetError where one of them is not sealed."""
    if asked is None:
        return there
    wanted: set[int] = set()
    missing: list[str] = []
    for each in asked:
        found = there.intersection(numbers_of(each, metric.period))
        wanted |= found
        if not found:
            missing.append(str(each))
    if missing or not wanted:
        which = f"period {', '.join(missing)}" if missing else "no period"
        raise DatasetError(
            f"{folder}: {which} {'is not sealed' if missing else 'is asked for'}; these are sealed: "
            f"{named(there, metric.period)}"
        )
    return wanted


def _explain_nothing(root: Path, sealed: Path, metric: Metric) -> None:
    others = [
        folder.name
        for folder in folders_in(sealed)
        if folder.name != metric.fingerprint.hex() and any(manifests_in(period) for period in folders_in(folder))
    ]
    if others:
        raise DatasetError(
            f"{sealed}: sealed under definition {', '.join(others)}, but metric {metric.name} in this registry is "
            f"{metric.fingerprint.hex()}; decode with the registry that the devices ran"
        )
    raise DatasetError(
        f"{root}: no sealed batch of metric {metric.name}; seal it first with: hubbub seal REGISTRY.toml --data {root} "
        "(it closes periods that have ended, with --all the others too, and holds back those with fewer records than "
        "--min-batch, 100 by default)"
    )
