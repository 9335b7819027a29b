"""``hubbub keys``: makes the analyst's key pair, to which devices seal reports that go through a shuffler."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from hubbub_client.plan import Plan
from hubbub_collector.opening.keys import new_keys
from hubbub_sealing.keys import OVERHEAD
from hubbub_sealing.record import HEAD_BYTES

SUMMARY = "make the key pair to which reports are sealed that go through a shuffler"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="new | size")
    new = commands.add_parser("new", help="make a key pair and the secret that shuffler and analyst share")
    new.add_argument("-o", "--output", required=True, metavar="DIR", help="the folder to make them in")
    new.add_argument("--json", action="store_true", help="print JSON")
    size = commands.add_parser("size", help="print the bytes of a ciphertext, for hubbub shuffle --size")
    size.add_argument("plan", metavar="PLAN", nargs="+", help="every plan that devices are given")


def run(arguments: argparse.Namespace) -> int:
    """Does what is asked. Raises CollectorError, PlanError, OSError."""
    if arguments.action == "size":
        metrics = [metric for path in arguments.plan for metric in Plan.load(path).metrics.values()]
        print(OVERHEAD + HEAD_BYTES + max((metric.record_bytes for metric in metrics), default=1))
        return 0
    id, files = new_keys(Path(arguments.output))
    if arguments.json:
        print(json.dumps({"id": id, "files": [str(path) for path in files]}, indent=1))
    else:
        print("\n".join([f"key {id}", *(str(path) for path in files)]))
    return 0
