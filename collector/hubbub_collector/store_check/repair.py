"""Keeps all that is intact of a damaged database, in a new one. The damaged files are kept, aside."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

from hubbub_collector.checksums import register
from hubbub_collector.durable import TEMPORARY, sync_directory
from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.lock import exclusive
from hubbub_collector.sqlite import REPAIRED, finish_repair
from hubbub_collector.store_check.database import OLDER, check_database
from hubbub_collector.store_check.findings import Finding
from hubbub_collector.store_check.kinds import CAPS, SORTED, WORKER, Kind
from hubbub_collector.store_check.salvage import Salvaged, salvage
from hubbub_collector.store_check.verify import databases

_SUFFIXES = ("", "-wal", "-shm")
_LOST = {
    SORTED.name: (
        "an upload id that is lost is not known again: what was sealed under it counts twice if it is resent; and "
        "a part whose sealing was interrupted is sealed once more where that is forgotten: compare the newest parts",
    ),
    CAPS.name: (
        "a count that is lost begins again at nothing: its token may send up to its cap once more in that period",
    ),
}


@dataclass
class Repaired:
    """One damaged database: what is damaged, how many whole rows each table has and how many that are not were found,
    and where the damaged files are now, and the repaired one; both "" in a dry run.
    """

    file: str
    findings: list[Finding]
    kept: dict[str, int]
    damaged: dict[str, int]
    aside: str = ""
    repaired: str = ""
    lost: list[str] = field(default_factory=list)
    """What cannot be had back, and what that means."""


def repair(data: DataDirectory, *, dry_run: bool = False) -> list[Repaired]:
    """Repairs every damaged database that no collector uses. Raises CollectorError where one does, or a sealer runs,
    and at one of an older format; OSError, sqlite3.Error.
    """
    data.check()
    done: list[Repaired] = []
    with ExitStack() as held:
        held.enter_context(exclusive(data.seal_lock, "sealer"))
        for path, kind in databases(data):
            finish_repair(path)
            findings = check_database(path, kind)
            if not findings:
                continue
            if findings[0].what.startswith(OLDER):  # whose rows have no checksums: none would be kept
                raise CollectorError(
                    f"{path}: {findings[0].what}; where that fails, repair it with the version of hubbub that wrote it"
                )
            if not dry_run and (kind is CAPS or (kind is WORKER and _is_newest(data, path))):
                try:
                    held.enter_context(exclusive(data.collector_lock, "collector"))
                except CollectorError:
                    raise CollectorError(
                        f"{path}: is damaged and in use; stop the collector, repair, and start it again. It starts on "
                        "a new store also without that"
                    ) from None
            done.append(_repair(data, path, kind, findings, dry_run))
    return done


def _repair(data: DataDirectory, path: Path, kind: Kind, findings: list[Finding], dry_run: bool) -> Repaired:
    found = salvage(path, kind)
    if kind is SORTED:
        _drop_sealed(found)
    damaged = {name: len({key for _, table, key in found.damaged if table == name}) for name in kind.tables}
    kept = {name: len(rows) for name, rows in found.rows.items()}
    done = Repaired(str(path), findings, kept, {name: count for name, count in damaged.items() if count})
    done.lost += _LOST.get(kind.name, ())
    if dry_run:
        return done
    aside = data.damaged / f"{path.name}-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.urandom(2).hex()}"
    place = path
    if kind is WORKER:
        worker = int(path.stem.split("-")[1])
        place = data.worker_store(worker, data.newest_generation(worker) + 1)
    temporary = place.with_name(place.name + TEMPORARY)
    _write(temporary, kind, found)
    _copy_aside(path, aside)
    if kind is WORKER:
        place = _put(temporary, data, worker)  # from here on both are there, and what both have counts once
        sync_directory(place.parent)
        for suffix in reversed(_SUFFIXES):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        sync_directory(place.parent)
    else:
        os.rename(temporary, path.with_name(path.name + REPAIRED))
        finish_repair(path)
    done.aside, done.repaired = str(aside), str(place)
    return done


def _put(temporary: Path, data: DataDirectory, worker: int) -> Path:
    """Gives a repaired store the next free name of its worker, which a running collector may take meanwhile."""
    while True:
        place = data.worker_store(worker, data.newest_generation(worker) + 1)
        try:
            os.link(temporary, place)  # which, unlike a rename, never replaces a file
        except FileExistsError:
            continue
        temporary.unlink()
        return place


def _is_newest(data: DataDirectory, path: Path) -> bool:
    worker = int(path.stem.split("-")[1])
    return path == data.worker_store(worker, data.newest_generation(worker))


def _drop_sealed(found: Salvaged) -> None:
    """What is sealed does not wait, should an old copy of it have turned up."""
    sealed = found.rows["ids"]
    found.rows["batches"] = {key: row for key, row in found.rows["batches"].items() if key not in sealed}


def _write(path: Path, kind: Kind, found: Salvaged) -> None:
    """Makes the database ``path`` of the rows in ``found``, whole and on stable storage."""
    for suffix in (*_SUFFIXES, "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        register(db)
        db.execute(f"PRAGMA page_size = {kind.page}")
        db.execute("PRAGMA synchronous = FULL")
        db.executescript(f"BEGIN; {kind.schema}; PRAGMA user_version = {kind.version};")
        for name, rows in found.rows.items():
            if rows:
                marks = ", ".join("?" * len(kind.tables[name].types))
                db.executemany(f"INSERT INTO {name} VALUES ({marks})", _for(name, rows.values()))  # noqa: S608 - ours
        db.execute("COMMIT")
    sync_directory(path.parent)


def _for(name: str, rows: Iterable[tuple[object, ...]]) -> Iterable[tuple[object, ...]]:
    """The rows of table ``name``. A new worker's store gets an identity of its own when it is opened."""
    keep: Callable[[tuple[object, ...]], bool] = lambda row: not (name == "meta" and isinstance(row[1], bytes))  # noqa: E731
    return sorted((row for row in rows if keep(row)), key=lambda row: row[0])  # type: ignore[arg-type, return-value]


def _copy_aside(path: Path, folder: Path) -> None:
    """Copies the files of the database ``path`` to ``folder``, which is new, and puts them on stable storage."""
    folder.parent.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700)
    for suffix in _SUFFIXES:
        source = path.with_name(path.name + suffix)
        if source.exists():
            with open(source, "rb") as old, open(folder / source.name, "xb") as new:
                shutil.copyfileobj(old, new)
                new.flush()
                os.fsync(new.fileno())
            (folder / source.name).chmod(0o600)
    for made in (folder, folder.parent, folder.parent.parent):
        sync_directory(made)
