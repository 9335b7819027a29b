"""``hubbub store``: looks for damage in a data directory, and keeps what is intact."""

from __future__ import annotations

import argparse
import json
import sqlite3
from pathlib import Path

from rich.console import Console

from hubbub_collector.commands.tables import counted
from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.store_check import Repaired, repair, verify

SUMMARY = "verify or repair a collector's data directory"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    commands = parser.add_subparsers(dest="deed", required=True, metavar="verify|repair")
    looks = commands.add_parser("verify", help="name what is damaged, and change nothing")
    mends = commands.add_parser("repair", help="keep all that is intact, and set the damaged files aside")
    mends.add_argument("--dry-run", action="store_true", help="say what would be kept, and change nothing")
    for command in (looks, mends):
        command.add_argument("data", metavar="DATA_DIR", help="the collector's data directory")
        command.add_argument("--json", action="store_true", help="print what was found as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Returns 1 where ``verify`` found damage. Raises CollectorError."""
    data = DataDirectory(Path(arguments.data))
    try:
        if arguments.deed == "verify":
            return _verify(data, arguments.json)
        return _repair(data, arguments.dry_run, arguments.json)
    except (OSError, sqlite3.Error) as error:
        raise CollectorError(f"{data.root}: cannot be read or written ({error})") from None


def _verify(data: DataDirectory, as_json: bool) -> int:
    found = verify(data)
    if as_json:
        print(json.dumps({"damaged": [finding._asdict() for finding in found]}, indent=1))
    else:
        console = Console()
        for finding in found:
            console.print(str(finding), soft_wrap=True, highlight=False, markup=False)
        if not found:
            console.print("nothing is damaged")
        else:
            console.print("hubbub store repair keeps all that is intact in the databases", soft_wrap=True)
    return 1 if found else 0


def _repair(data: DataDirectory, dry_run: bool, as_json: bool) -> int:
    done = repair(data, dry_run=dry_run)
    if as_json:
        rows = [{**vars(one), "findings": [finding._asdict() for finding in one.findings]} for one in done]
        print(json.dumps({"dry_run": dry_run, "repaired": rows}, indent=1))
    else:
        console = Console()
        for one in done:
            for line in _lines(one):
                console.print(line, soft_wrap=True, highlight=False, markup=False)
        if not done:
            console.print("no database is damaged")
    return 0


def _lines(one: Repaired) -> list[str]:
    lines = [str(finding) for finding in one.findings]
    for name, count in one.kept.items():
        lines.append(f"  {name}: {counted(count, 'whole row')}, {one.damaged.get(name, 0):,} damaged")
    if one.aside:
        lines.append(f"  kept in {one.repaired}; the damaged files are in {one.aside}")
    return lines + [f"  {text}" for text in one.lost]
