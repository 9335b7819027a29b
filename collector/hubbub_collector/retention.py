"""Deletes sealed parts whose period ended long ago. Touches nothing that is not sealed."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hubbub_collector.durable import sync_directory
from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.lock import exclusive
from hubbub_collector.seal.recover import recover
from hubbub_collector.seal.sorted_store import SortedStore
from hubbub_collector.sqlite import store_error

_PART = re.compile(r"([0-9]{5,})\.(json|parquet)(\.tmp)?")
STEPS = ("counts", "manifest", "records", "folder")
"""The points between which a crash must do no harm."""


@dataclass
class RetainReport:
    """``parts`` were deleted, of ``records`` and ``bytes``; ``kept`` are younger. ``problems`` are parts whose manifest
    cannot be read, which were left where they are.
    """

    parts: int = 0
    records: int = 0
    bytes: int = 0
    kept: int = 0
    problems: list[str] = field(default_factory=list)


def retain(
    data: DataDirectory,
    seconds: int,
    now: float,
    *,
    dry_run: bool = False,
    step: Callable[[str], None] = lambda _: None,
) -> RetainReport:
    """Deletes the parts of periods that ended more than ``seconds`` before the Unix time ``now``; with ``dry_run`` only
    says which.

    A part is deleted manifest first: from then on it is no part, and what a crash leaves is removed by the next run.
    What a decoder has counted of it, beside the data, goes before that.
    Raises CollectorError, also while a sealer runs, and StoreError.
    """
    data.check()
    report = RetainReport()
    with exclusive(data.seal_lock, "sealer"):
        _finish_sealing(data)
        for folder in sorted(data.parts.glob("*/*/*")):
            try:
                _clear(data, folder, now - seconds, report, step, dry_run=dry_run)
                if not dry_run:
                    _remove_empty(folder, data.parts)
                    step("folder")
            except OSError as error:
                raise CollectorError(
                    f"{error.filename or folder}: cannot be deleted ({error.strerror}); correct its rights"
                ) from None
    return report


def _finish_sealing(data: DataDirectory) -> None:
    # A sealer that was killed after it wrote a manifest would take its absence to mean that nothing was sealed.
    if not data.sorted_store.exists():
        return
    store = SortedStore(data.sorted_store)
    try:
        recover(data, store)
    except (sqlite3.Error, OSError) as error:
        raise store_error(store.path, error) from None
    finally:
        store.close()


def _clear(
    data: DataDirectory,
    folder: Path,
    before: float,
    report: RetainReport,
    step: Callable[[str], None],
    *,
    dry_run: bool,
) -> None:
    """Deletes what is in one period's folder, where the period ended before the Unix time ``before``."""
    names = {path.name for path in folder.iterdir() if _PART.fullmatch(path.name)}
    for name in sorted(name for name in names if name.endswith(".json")):
        manifest = folder / name
        try:
            said = json.loads(manifest.read_bytes())
            end, records, file = (said["period"] + 1) * said["period_seconds"], said["records"], said["file"]
            own = file == manifest.with_suffix(".parquet").name and type(end) is int and type(records) is int
        except (ValueError, KeyError, TypeError, RecursionError):
            own = False
        if not own:
            report.problems.append(f"{manifest}: is no manifest; it and what belongs to it were left where they are")
            names -= {name, manifest.with_suffix(".parquet").name}
            continue
        parquet = folder / file
        names -= {name, file}
        if end >= before:
            report.kept += 1
            continue
        report.parts += 1
        report.records += records
        report.bytes += sum(path.stat().st_size for path in (manifest, parquet) if path.exists())
        if not dry_run:
            for counts in data.states(folder.parent.parent.name, folder.parent.name, str(said.get("sha256"))):
                _delete(counts, step, "counts")
            _delete(manifest, step, "manifest")
            _delete(parquet, step, "records")
    # What a crash of an earlier run, or of a sealer, left without a manifest. It was written after its period's end.
    for name in sorted(names):
        if not dry_run and (folder / name).stat().st_mtime < before:
            _delete(folder / name, step, "records")


def _delete(path: Path, step: Callable[[str], None], name: str) -> None:
    path.unlink(missing_ok=True)
    sync_directory(path.parent)
    step(name)


def _remove_empty(folder: Path, top: Path) -> None:
    """Removes ``folder`` and its parents below ``top`` for as long as they are empty."""
    for path in _up(folder, top):
        try:
            path.rmdir()
        except FileNotFoundError:
            continue
        except OSError:  # not empty
            return
        sync_directory(path.parent)


def _up(folder: Path, top: Path) -> Iterator[Path]:
    while folder != top:
        yield folder
        folder = folder.parent
