"""``hubbub quarantine``: what lies in a collector's quarantine, and deleting it."""

from __future__ import annotations

import argparse
import json
import re
from contextlib import closing
from pathlib import Path

from rich.console import Console

from hubbub_collector.commands.arguments import database
from hubbub_collector.commands.tables import counted, grid
from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.lock import exclusive
from hubbub_collector.open_store import database_source
from hubbub_collector.quarantine import Kept
from hubbub_collector.quarantine_listing import list_quarantine, rows
from hubbub_collector.store import SqliteStore

SUMMARY = "list what was reported for metrics that the collector does not know, or delete it"
_ALL = "all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("data", metavar="DATA_DIR", nargs="?", help="the collector's data directory")
    where.add_argument("--store", type=database, metavar="URL", help="or the database that collectors commit to")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument(
        "--purge", type=_fingerprint, metavar="FINGERPRINT",
        help="delete the batches with this fingerprint of 16 hexadecimal digits for good, or all of them with: all",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Lists what is there, after purging. Raises CollectorError, StoreError."""
    listing, purged = _files(arguments) if arguments.store is None else _database(arguments)
    if arguments.json:
        print(json.dumps({"quarantined": rows(listing), "purged": purged}, indent=1))
    else:
        _print(listing, purged)
    return 0


def _files(arguments: argparse.Namespace) -> tuple[list[Kept], int | None]:
    data = DataDirectory(Path(arguments.data))
    data.check()
    purged = None if arguments.purge is None else _purge(data, arguments.purge)
    return list_quarantine(data), purged


def _database(arguments: argparse.Namespace) -> tuple[list[Kept], int | None]:
    with closing(database_source(arguments.store)) as source:
        purged = None
        if arguments.purge is not None:
            purged = source.quarantine.purge(_wanted(arguments.purge))
            _check_found(purged, arguments.purge, source.path)
        return source.quarantine.listing(), purged


def _wanted(fingerprint: str) -> bytes | None:
    return None if fingerprint == _ALL else bytes.fromhex(fingerprint)


def _check_found(purged: int, fingerprint: str, where: object) -> None:
    if not purged and fingerprint != _ALL:
        raise CollectorError(f"{where}: no batch in quarantine has the fingerprint {fingerprint}")


def _purge(data: DataDirectory, fingerprint: str) -> int:
    purged = 0
    with exclusive(data.seal_lock, "sealer"):  # it may be taking those very batches
        for path in data.worker_stores():
            with closing(SqliteStore(path)) as store:
                purged += store.quarantine.purge(_wanted(fingerprint))
    _check_found(purged, fingerprint, data.root)
    return purged


def _print(listing: list[Kept], purged: int | None) -> None:
    console = Console()
    if purged is not None:
        console.print(f"{counted(purged, 'batch', 'es')} deleted", highlight=False)
    if not listing:
        console.print("nothing is in quarantine")
        return
    table = grid("fingerprint", "period number", "batches", "bytes")
    for kept in listing:
        table.add_row(kept.fingerprint.hex(), str(kept.period), f"{kept.batches:,}", f"{kept.bytes:,}")
    console.print(table)
    console.print(
        "hubbub seal takes them once its registry has metrics with these fingerprints; --purge deletes them",
        soft_wrap=True,
    )


def _fingerprint(text: str) -> str:
    if text != _ALL and not re.fullmatch("[0-9a-f]{16}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a fingerprint of 16 hexadecimal digits, nor the word {_ALL}")
    return text
