"""``hubbub quarantine``: what lies in a collector's quarantine, and deleting it."""

from __future__ import annotations

import argparse
import json
import re
from contextlib import closing
from pathlib import Path

from rich.console import Console

from hubbub_collector.commands.tables import counted, grid
from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.lock import exclusive
from hubbub_collector.quarantine import Kept
from hubbub_collector.quarantine_listing import list_quarantine, rows
from hubbub_collector.store import SqliteStore

SUMMARY = "list what was reported for metrics that the collector does not know, or delete it"
_ALL = "all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("data", metavar="DATA_DIR", help="the collector's data directory")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument(
        "--purge", type=_fingerprint, metavar="FINGERPRINT",
        help="delete the batches with this fingerprint of 16 hexadecimal digits for good, or all of them with: all",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Lists what is there, after purging. Raises CollectorError, StoreError."""
    data = DataDirectory(Path(arguments.data))
    data.check()
    purged = None
    if arguments.purge is not None:
        purged = _purge(data, arguments.purge)
    listing = list_quarantine(data)
    if arguments.json:
        print(json.dumps({"quarantined": rows(listing), "purged": purged}, indent=1))
    else:
        _print(listing, purged)
    return 0


def _purge(data: DataDirectory, fingerprint: str) -> int:
    wanted = None if fingerprint == _ALL else bytes.fromhex(fingerprint)
    purged = 0
    with exclusive(data.seal_lock, "sealer"):  # it may be taking those very batches
        for path in data.worker_stores():
            with closing(SqliteStore(path)) as store:
                purged += store.quarantine.purge(wanted)
    if not purged and wanted is not None:
        raise CollectorError(f"{data.root}: no batch in quarantine has the fingerprint {fingerprint}")
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
