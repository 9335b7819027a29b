"""``hubbub client``: what a client on this machine sent, and what it has spent, read from its state directory.

It takes no lock and changes nothing, so it also works while the app runs. It never opens the device secret.
"""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from hubbub_client.errors import StateError
from hubbub_client.ledger import Entry, Ledger
from hubbub_client.ledger_file import NAME
from hubbub_client.report_files import fate_of, newest_serial, read_log
from hubbub_client.storage import MemoryStorage
from hubbub_registry.exact import float_up

SUMMARY = "show what a client on this machine sent, and what it has spent"
# An app that runs renames files while they are read; it does so seldom.
_TRIES = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``log`` or ``status``, and the directory that the app gave its Reporter."""
    commands = parser.add_subparsers(dest="what", required=True, metavar="log|status")
    for name, text in (
        ("log", "every report that is kept: its state, metric, period, cost and very bytes"),
        ("status", "what each metric has spent, and has left"),
    ):
        command = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        command.add_argument("state", metavar="STATE_DIR", type=Path)
        command.add_argument("--json", action="store_true", help="for machines; epsilon in 1e-9, as the ledger has it")


def run(arguments: argparse.Namespace) -> int:
    """Prints it. Raises StateError for a damaged or rolled-back ledger, OSError where the directory cannot be read."""
    storage = snapshot(arguments.state)
    if arguments.what == "log":
        log = log_of(storage)
        print(json.dumps(log, indent=2) if arguments.json else _log_text(log))
    else:
        status = status_of(storage)
        print(json.dumps(status, indent=2) if arguments.json else _status_text(status))
    return 0


def snapshot(folder: Path) -> MemoryStorage:
    """The ledger and the files of reports of a state directory, as they were at one moment. Raises OSError."""
    storage = MemoryStorage()
    for attempt in range(_TRIES):
        names = sorted(path.name for path in folder.iterdir() if path.name == NAME or fate_of(path.name))
        try:
            # The ledger last: it is then at least as new as the reports.
            storage.files = {name: (folder / name).read_bytes() for name in sorted(names, key=NAME.__eq__)}
        except FileNotFoundError:
            if attempt + 1 == _TRIES:
                raise
        else:
            break
    return storage


def log_of(storage: MemoryStorage) -> list[dict[str, Any]]:
    """The reports, oldest first."""
    return [
        {
            "state": state,
            "metric": report.name,
            "period": report.period,
            "epsilon_nano": report.charge,
            "fingerprint": report.fingerprint.hex(),
            "serial": report.serial,
            "record": report.record.hex(),
        }
        for state, report in read_log(storage)
    ]


def status_of(storage: MemoryStorage) -> dict[str, Any]:
    """What was spent. Raises StateError where the ledger is damaged, lost or rolled back."""
    ledger = Ledger.load(storage)
    if ledger is None:
        if storage.files:
            raise StateError("the ledger is lost: what was spent is unknown, and the client reports nothing more")
        ledger = Ledger(storage)
    if ledger.generation < newest_serial(storage):
        raise StateError("the ledger is older than a report it paid for: the client reports nothing more")
    return {
        "enabled": ledger.enabled,
        "generation": ledger.generation,
        "spent_nano": ledger.total(),
        "metrics": {name: _entry(ledger.entries[name]) for name in sorted(ledger.entries)},
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "spent_nano": entry.spent,
        "lifetime_nano": entry.lifetime,
        "left_nano": None if entry.lifetime is None else max(0, entry.lifetime - entry.spent),
        "period_start": _iso(entry.start),
        "period_end": _iso(entry.end),
        "reports_in_period": entry.reports,
        "values_told_apart": len(entry.tags),
    }


def _log_text(shown: list[dict[str, Any]]) -> str:
    """One line a report; the record, which may be long, comes last."""
    wide = max((len(line["metric"]) for line in shown), default=6)
    head = f"{'state':8} {'metric':{wide}} {'period':>8} {'epsilon':>12}  record"
    return "\n".join(
        [head]
        + [
            f"{line['state']:8} {line['metric']:{wide}} {line['period']:8} {_epsilon(line['epsilon_nano']):>12}  "
            f"{line['record']}"
            for line in shown
        ]
    )


def _status_text(shown: dict[str, Any]) -> str:
    metrics = shown["metrics"]
    wide = max((len(name) for name in [*metrics, "all metrics"]), default=0)
    lines = [
        "on" if shown["enabled"] else "off: this device opted out",
        f"{'metric':{wide}} {'spent':>12} {'left':>12}  last period reported in",
    ]
    for name, entry in metrics.items():
        left = "unbounded" if entry["left_nano"] is None else _epsilon(entry["left_nano"])
        lines.append(
            f"{name:{wide}} {_epsilon(entry['spent_nano']):>12} {left:>12}  "
            f"{entry['period_start']} to {entry['period_end']}, reports: {entry['reports_in_period']}"
        )
    lines.append(f"{'all metrics':{wide}} {_epsilon(shown['spent_nano']):>12}")
    return "\n".join(lines)


def _epsilon(nano: int) -> str:
    return f"{float_up(Fraction(nano, 10**9)):.9f}"


def _iso(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
