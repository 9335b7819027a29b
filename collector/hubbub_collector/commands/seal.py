"""``hubbub seal``: closes periods into the sealed data set."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from hubbub_collector.commands.arguments import database, positive, seconds
from hubbub_collector.commands.tables import counted, grid
from hubbub_collector.layout import DataDirectory
from hubbub_collector.seal import SealOptions, SealReport, seal
from hubbub_registry import Registry, load_registry

SUMMARY = "close periods: drop repeats, shuffle, write the sealed data set"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("registry", metavar="REGISTRY.toml", help="the metrics that were collected")
    parser.add_argument("--data", required=True, metavar="DIR", help="the collector's data directory")
    parser.add_argument(
        "--from", action="append", default=[], dest="sources", metavar="DIR",
        help="another collector's data directory, to be sealed into this one's data set as well; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--store", type=database, metavar="URL",
        help="the PostgreSQL database that the collectors commit to, to be sealed into this data set as well",
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="seal periods that have not ended, too")
    parser.add_argument(
        "--min-batch", type=positive, default=100, metavar="N",
        help="hold back a metric and period with fewer records (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--grace", type=seconds(), default="1h", metavar="AGE",
        help="how long after its end a period is left open (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print what was done as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Seals. Returns 1 where something is damaged. Raises RegistryError, CollectorError, StoreError."""
    registry = load_registry(arguments.registry, candidates=False)
    options = SealOptions(arguments.min_batch, arguments.grace, arguments.all)
    sources = [DataDirectory(Path(source)) for source in arguments.sources]
    report = seal(registry, DataDirectory(Path(arguments.data)), options, sources=sources, database=arguments.store)
    for problem in (*report.problems, *(group.problem for group in report.groups if group.problem)):
        print(f"hubbub seal: damaged: {problem}", file=sys.stderr)
    if arguments.json:
        print(json.dumps(asdict(report), indent=1))
    else:
        _print(registry, report, options)
    return 1 if report.damaged else 0


def _print(registry: Registry, report: SealReport, options: SealOptions) -> None:
    console = Console()
    known = [group for group in report.groups if group.metric]
    if known:
        table = grid("metric", "period begins (UTC)", "uploads", "records", "parts", "status")
        for group in known:
            begin = datetime.fromtimestamp(group.period * registry.metric(group.metric).period, UTC)
            table.add_row(
                group.metric, begin.strftime("%Y-%m-%d %H:%M"), f"{group.uploads:,}", f"{group.records:,}",
                str(group.parts), {"held": "held back"}.get(group.status, group.status),
            )  # fmt: skip
        console.print(table)
    unknown = [group for group in report.groups if not group.metric]
    if unknown:
        console.print("kept, since this registry has no metric with these fingerprints:", soft_wrap=True)
        table = grid("fingerprint", "period number", "uploads", "bytes")
        for group in unknown:
            table.add_row(group.fingerprint, str(group.period), f"{group.uploads:,}", f"{group.bytes:,}")
        console.print(table)
    if not report.groups:
        console.print("nothing waits to be sealed")
    for line in _notes(report, options):
        console.print(line, soft_wrap=True, highlight=False)


def _notes(report: SealReport, options: SealOptions) -> Iterator[str]:
    statuses = {group.status for group in report.groups}
    if "held" in statuses:
        yield f"held back: fewer than {counted(options.minimum, 'record')} (--min-batch)"
    if "open" in statuses:
        yield "open: not ended yet, or still within the grace (--grace, --all)"
    yield f"{counted(report.batches, 'batch', 'es')} taken from the intake, {report.repeats:,} of them repeats"
    if report.overdue:
        yield (
            f"{counted(report.overdue, 'batch', 'es')} kept aside: ids of their periods are forgotten, so they may be"
            " repeats"
        )
    if report.released:
        yield (
            f"{counted(report.released, 'batch', 'es')} taken from quarantine, since this registry knows them,"
            f" {report.released_repeats:,} of them repeats"
        )
    if report.quarantined:
        yield f"{counted(report.quarantined, 'batch', 'es')} in quarantine (see hubbub quarantine)"
    for reason, number in sorted(report.unfit.items()):
        yield f"{counted(number, 'batch', 'es')} of them of a metric that is known, but not taken: {reason}"
