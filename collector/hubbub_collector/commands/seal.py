"""``hubbub seal``: closes periods into the sealed data set."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from hubbub_collector.commands.arguments import positive, seconds
from hubbub_collector.layout import DataDirectory
from hubbub_collector.seal import SealOptions, SealReport, seal
from hubbub_registry import Registry, load_registry

SUMMARY = "close periods: drop repeats, shuffle, write the sealed data set"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("registry", metavar="REGISTRY.toml", help="the metrics that were collected")
    parser.add_argument("--data", required=True, metavar="DIR", help="the collector's data directory")
    parser.add_argument("--all", action="store_true", help="seal periods that have not ended, too")
    parser.add_argument(
        "--min-batch", type=positive, default=100, metavar="N",
        help="hold back a metric and period with fewer records (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--grace", type=seconds, default="1h", metavar="AGE",
        help="how long after its end a period is left open (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print what was done as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Seals. Returns 1 where something is damaged. Raises RegistryError, CollectorError, StoreError."""
    registry = load_registry(arguments.registry, candidates=False)
    options = SealOptions(arguments.min_batch, arguments.grace, arguments.all)
    report = seal(registry, DataDirectory(Path(arguments.data)), options)
    if arguments.json:
        print(json.dumps(asdict(report), indent=1))
    else:
        _print(registry, report, options)
    return 1 if any(group.status == "damaged" for group in report.groups) else 0


def _print(registry: Registry, report: SealReport, options: SealOptions) -> None:
    console = Console()
    if report.groups:
        table = Table("metric", "period begins (UTC)", "uploads", "records", "parts", "")
        for group in report.groups:
            begins = f"period {group.period}"
            if group.metric:
                begin = datetime.fromtimestamp(group.period * registry.metric(group.metric).period, UTC)
                begins = begin.strftime("%Y-%m-%d %H:%M")
            said = {
                "held": f"held back: fewer than {options.minimum} records",
                "open": "open: not ended yet, or still within the grace",
                "unknown": "kept: not in this registry",
            }.get(group.status, group.problem or group.status)
            name = group.metric or group.fingerprint
            table.add_row(name, begins, str(group.uploads), str(group.records), str(group.parts), said)
        console.print(table)
    else:
        console.print("nothing waits to be sealed")
    console.print(
        f"{report.batches} batches taken from the intake, {report.repeats} of them repeats;"
        f" {report.quarantined} batches in quarantine"
    )
