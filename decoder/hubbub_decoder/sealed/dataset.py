"""Reads what was sealed for one metric: verified, in batches, in constant memory."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from hubbub_decoder.arguments import check_metric
from hubbub_decoder.caveats import not_committed, other_definitions, repeated_reports
from hubbub_decoder.counting.records import Records
from hubbub_decoder.errors import ArgumentError
from hubbub_decoder.sealed.copies import check_copies, perhaps_copies
from hubbub_decoder.sealed.file import part_batches
from hubbub_decoder.sealed.folders import check_data_folder, folders_in, manifests_in
from hubbub_decoder.sealed.manifest import read_manifest
from hubbub_decoder.sealed.periods import named, numbers_of
from hubbub_decoder.split.cell import cell_notes, cell_of, check_cell
from hubbub_registry import Metric
from hubbub_registry.errors import DatasetError


class Dataset:
    """The committed parts of a metric's very definition in a sealed data set.

    ``data`` is the folder given to ``hubbub collect --data``; ``periods`` limits it to these periods, each by its
    number or by a date (UTC) in it; ``where`` to one cell of the metric's public dimension, as ``{"version": "1.1"}``,
    in every figure that is made of it. A part without a manifest is not committed, and not read; a note says so. Raises
    DatasetError where nothing is sealed for this definition, where a period asked for is not, where a part is there
    twice, and for whatever cannot be read; EstimateError for a cell that there is not; ArgumentError for arguments of
    another type.
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
        folders = folders_in(self.folder)
        paths = [path for period in folders for path in manifests_in(period)]
        if not paths:
            _explain_nothing(root, sealed, metric, not_committed(folders, None))
        self.sealed = tuple(read_manifest(path, metric) for path in paths)
        """The parts of all periods, whether asked for or not."""
        wanted = _wanted(self.folder, metric, {part.period for part in self.sealed}, periods)
        self.parts = tuple(part for part in self.sealed if part.period in wanted)
        alike = check_copies(self.sealed)
        self._notes = (
            *perhaps_copies(pair for pair in alike if all(part.period in wanted for part in pair)),
            *not_committed(folders, None if periods is None else wanted),
            *other_definitions(sealed, metric, None if periods is None else wanted),
        )

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
        return (*only, *repeated_reports(self.metric, self.periods), *self._notes)

    def check_cell(self, n: int) -> None:
        """Raises HeldBackError where this is one cell, and ``n`` reports are fewer than its registry shows."""
        if self.cell is not None:
            check_cell(self.metric, self.cell, n)

    def batches(self) -> Iterator[Records]:
        """All records, part by part: read-only uint8 arrays of shape (n, record_bytes) that share Arrow's memory."""
        for part in self.parts:
            for batch in part_batches(part):
                yield batch if self.cell is None else batch[batch[:, 0] == self.cell]


def _check_arguments(data: object, metric: object, periods: object) -> None:
    if not isinstance(data, (str, Path)):
        raise ArgumentError(f"Dataset: data is a folder's path (str or Path), not {data!r}; pass the collector's")
    check_metric("Dataset", metric)
    # An array of no dimension is a Collection by its type alone.
    single = isinstance(periods, (str, bytes)) or getattr(periods, "ndim", 1) == 0
    if single or not (periods is None or isinstance(periods, Collection)):
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


def _explain_nothing(root: Path, sealed: Path, metric: Metric, notes: Iterable[str]) -> None:
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
        "--min-batch, 100 by default)" + "".join(f"; {note}" for note in notes)
    )
