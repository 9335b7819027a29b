"""``hubbub fleet``: simulated devices report the values of a file to a running collector."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from hubbub_registry import Metric, Registry, load_registry
from hubbub_simulations.commands.arguments import positive
from hubbub_simulations.errors import FleetError
from hubbub_simulations.fleet.reference import reference_uploads
from hubbub_simulations.fleet.sending import Sender
from hubbub_simulations.fleet.tally import Tally
from hubbub_simulations.fleet.uploads import Upload
from hubbub_simulations.fleet.values import Tabs, count_values, open_values, read_values
from hubbub_simulations.fleet.vectorised import vectorised_uploads

SUMMARY = "let simulated devices report the values of a file, one device a line"

_PER_UPLOAD = {"reference": 1, "vectorised": 1000}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of ``hubbub fleet``."""
    parser.add_argument("registry", metavar="REGISTRY.toml", type=Path)
    parser.add_argument("metric", metavar="METRIC")
    parser.add_argument(
        "values",
        metavar="VALUES.txt",
        help="UTF-8, one device's value a line, after that of a public dimension and a tab, a pair with a tab between; "
        "- for standard input",
    )
    parser.add_argument("--url", required=True, help="the collector, such as http://127.0.0.1:8080")
    parser.add_argument(
        "--client",
        choices=sorted(_PER_UPLOAD),
        default="reference",
        help="reference (the default) runs the embeddable client for each line; vectorised runs its numpy twin",
    )
    parser.add_argument(
        "--per-upload",
        type=positive,
        metavar="N",
        help="devices whose records share an upload, as behind a gateway (reference: 1, vectorised: 1000)",
    )
    parser.add_argument("--concurrency", type=positive, default=8, metavar="C", help="uploads under way at once (8)")
    parser.add_argument(
        "--patience",
        type=_seconds,
        default=30.0,
        metavar="SECONDS",
        help="how long an upload is tried again while the collector is busy or away (30)",
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Runs the fleet and prints the summary. Raises FleetError (also where the summary is of reports that do not
    count), ValuesFileError or RegistryError.
    """
    registry = load_registry(arguments.registry, candidates=False)
    metric = registry.metric(arguments.metric)
    path, from_stdin = Path(arguments.values), arguments.values == "-"
    # Counted first, where it can be read twice, so that a fault far down is found before a report is sent.
    total = count_values(path) if path.is_file() and not from_stdin else None
    tally, tabs = Tally(), Tabs(metric)
    with (
        _progress() as progress,
        nullcontext(sys.stdin.buffer) if from_stdin else open_values(path) as file,
    ):
        bar = progress.add_task(metric.name, total=total)
        values = read_values(file, "standard input" if from_stdin else arguments.values, tabs)
        uploads = _uploads(arguments, registry, values, tally)
        sender = Sender(
            arguments.url.rstrip("/"),
            arguments.concurrency,
            arguments.patience,
            tally,
            lambda: progress.update(bar, completed=tally.devices),
        )
        start = time.monotonic()
        asyncio.run(sender.send_all(uploads))
        tally.seconds = time.monotonic() - start
        progress.update(bar, completed=tally.devices)
    _print(tally, as_json=arguments.json)
    if note := tabs.note():
        print(f"note: {'standard input' if from_stdin else arguments.values}: {note}", file=sys.stderr)
    _check(tally, arguments, metric)
    return 0


def _check(tally: Tally, arguments: argparse.Namespace, metric: Metric) -> None:
    """Raises FleetError unless reports were accepted, and all that were sent."""
    if not tally.devices:
        raise FleetError(f"{arguments.values}: holds no value, so nothing was sent; write one device's value a line")
    if tally.refused_uploads:
        raise FleetError(
            f"the collector at {arguments.url} refused {tally.refused_uploads:,} uploads for good (reasons above); "
            "check that it runs this registry"
        )
    if tally.quarantined:
        raise FleetError(
            f"the collector at {arguments.url} does not know this definition of metric {metric.name} (fingerprint "
            f"{metric.fingerprint.hex()}): {tally.quarantined:,} reports lie in its quarantine, and are not counted; "
            "start it with this registry, and they are sealed with it too"
        )
    if not tally.accepted:
        raise FleetError(
            f"nothing was sent: metric {metric.name} takes none of the {tally.devices:,} values (reasons above)"
        )


def _uploads(
    arguments: argparse.Namespace, registry: Registry, values: Iterable[str], tally: Tally
) -> Iterator[Upload]:
    per_upload = arguments.per_upload or _PER_UPLOAD[arguments.client]
    if arguments.client == "reference":
        return reference_uploads(registry.plan, arguments.metric, values, per_upload, tally)
    rng = np.random.default_rng()  # seeded by the operating system
    return vectorised_uploads(registry.metric(arguments.metric), values, per_upload, tally, rng)


def _progress() -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    return Progress(*columns, console=console, disable=not console.is_terminal)


def _print(tally: Tally, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(tally.to_dict(), indent=2))
        return
    table = Table(show_header=False)
    table.add_row("devices", f"{tally.devices:,}")
    table.add_row("reports accepted", f"{tally.accepted:,}")
    if tally.quarantined:
        table.add_row("quarantined", f"{tally.quarantined:,}")
    for reason, count in sorted(tally.refused.items()):
        table.add_row(f"refused: {reason}", f"{count:,}")
    table.add_row("uploads", f"{tally.uploads:,}")
    if tally.retries:
        table.add_row("retries", f"{tally.retries:,}")
    table.add_row("seconds", f"{tally.seconds:.2f}")
    table.add_row("reports/s", f"{tally.reports_per_second:,.0f}")
    Console().print(table)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds
