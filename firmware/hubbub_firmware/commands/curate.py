"""``hubbub curate``: a gateway that sensors trust counts their readings in, and releases noisy statistics."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from hubbub_client.clock import EARLIEST, unix_time
from hubbub_client.file_storage import FileStorage
from hubbub_firmware.curator.curator import Curator, Refused
from hubbub_firmware.curator.enrolment import read_sensors
from hubbub_firmware.curator.errors import CuratorError
from hubbub_firmware.curator.readings import read_lines
from hubbub_firmware.curator.releases import read_releases
from hubbub_firmware.curator.table import as_csv, as_json
from hubbub_registry import Problem, Registry, RegistryError, load_registry
from hubbub_registry.files import write_atomically

SUMMARY = "aggregate readings on a gateway that sensors trust, and release them with exact noise"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The registry, the state, what comes in and what goes out."""
    parser.add_argument("registry", metavar="REGISTRY.toml", type=Path)
    parser.add_argument(
        "--state", metavar="DIR", required=True, help="where the ledger, the aggregates and releases lie"
    )
    parser.add_argument("--readings", metavar="FILE", help="JSON lines to count in, all or none of them; - for stdin")
    parser.add_argument("--sensors", metavar="FILE", type=Path, help="the enrolled sensors, one a line; for --readings")
    parser.add_argument("--release", action="store_true", help="release the periods that have ended")
    parser.add_argument("--all", action="store_true", help="with --release: however many periods have ended")
    parser.add_argument("-o", "--output", metavar="FILE", help="where all releases go; default with --release: stdout")
    parser.add_argument("--format", choices=("csv", "json"), help="default: json for FILE.json, else csv")
    parser.add_argument(
        "--forget", action="store_true", help="give up readings taken under definitions no longer in the registry"
    )


def run(arguments: argparse.Namespace) -> int:
    """Counts in, then releases, then writes. Raises RegistryError, CuratorError, StateError and OSError."""
    registry = load_curated(arguments.registry)
    if arguments.readings is None and not arguments.release and arguments.output is None:
        raise CuratorError("nothing to do; give --readings FILE, --release or -o FILE")
    if arguments.readings is not None and arguments.sensors is None:
        raise CuratorError("--readings needs --sensors FILE, the list of enrolled sensors")
    now = unix_time()
    if now < EARLIEST:
        raise CuratorError("the clock was never set; set it, since it decides which periods have ended")
    storage = FileStorage(arguments.state)
    try:
        curator = Curator(registry.curated, storage, now, forget=arguments.forget)
        if arguments.release and not arguments.all:
            curator.check_few_ended()
        if arguments.readings is not None:
            sensors = read_sensors(arguments.sensors, registry.curated.values())
            _print_counts(_take(curator, arguments.readings, sensors))
        if arguments.release:
            _print_refused(curator.release())
        if arguments.release or arguments.output is not None:
            _write(registry.namespace, storage, arguments.output or "-", arguments.format)
    finally:
        storage.close()
    return 0


def load_curated(path: Path) -> Registry:
    """A registry with curated metrics. Raises RegistryError where it has none."""
    registry = load_registry(path, candidates=False)
    if not registry.curated:
        problem = Problem("curated", "there is no curated metric", "write at least one table [curated.NAME]")
        raise RegistryError(str(path), [problem])
    return registry


def _take(curator: Curator, readings: str, sensors: frozenset[str]) -> Counter[str]:
    if readings == "-":
        return curator.take(read_lines(sys.stdin.buffer, "stdin"), sensors)
    with open(readings, "rb") as stream:
        return curator.take(read_lines(stream, readings), sensors)


def _print_counts(became: Counter[str]) -> None:
    """For whoever runs the gateway, and nobody else: these are true counts."""
    said = ", ".join(f"{became[reason]} {reason}" for reason in sorted(became))
    print(f"hubbub curate: readings: {said or 'none'}", file=sys.stderr)


def _print_refused(refused: Sequence[Refused]) -> None:
    for each in refused:
        print(f"hubbub curate: {each.metric}: period {each.period} is not released: {each.reason}", file=sys.stderr)


def _write(namespace: str, storage: FileStorage, output: str, kind: str | None) -> None:
    releases = read_releases(storage)
    if kind == "json" or (kind is None and output.endswith(".json")):
        text = as_json(namespace, releases)
    else:
        text = as_csv(releases)
    if output == "-":
        sys.stdout.write(text)
    else:
        write_atomically(Path(output), text.encode())
