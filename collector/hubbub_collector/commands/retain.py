"""``hubbub retain``: deletes sealed data that is older than it may become."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from hubbub_collector.commands.arguments import seconds
from hubbub_collector.commands.tables import counted
from hubbub_collector.layout import DataDirectory
from hubbub_collector.retention import retain

SUMMARY = "delete sealed parts whose period ended long ago"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("--data", required=True, metavar="DIR", help="the collector's data directory")
    parser.add_argument(
        "--retain", type=seconds("1d"), required=True, metavar="AGE",
        help="how long after its period's end a part is kept, such as 90d",
    )  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="delete nothing, only say what would be")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Deletes. Returns 1 where a manifest cannot be read. Raises CollectorError, StoreError."""
    report = retain(DataDirectory(Path(arguments.data)), arguments.retain, time.time(), dry_run=arguments.dry_run)
    for problem in report.problems:
        print(f"hubbub retain: damaged: {problem}", file=sys.stderr)
    if arguments.json:
        print(json.dumps({**asdict(report), "dry_run": arguments.dry_run}, indent=1))
    else:
        verb = "would be deleted" if arguments.dry_run else "deleted"
        print(
            f"{counted(report.parts, 'part')} {verb} ({counted(report.records, 'record')}, {report.bytes:,} bytes),"
            f" {report.kept:,} kept"
        )
    return 1 if report.problems else 0
