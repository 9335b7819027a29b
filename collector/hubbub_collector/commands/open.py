"""``hubbub open``: runs the analyst's collector behind a shuffler."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path

from hubbub_collector.commands.arguments import seconds, size
from hubbub_collector.commands.serving_arguments import add_serving, address_of, limits_of
from hubbub_collector.logs import configure
from hubbub_collector.opening.keys import PrivateKey
from hubbub_collector.opening.service import Opening, open_batches
from hubbub_collector.shuffler.forwarder import read_secret
from hubbub_collector.shuffler.serving import run as run_service
from hubbub_collector.writer import Budget
from hubbub_registry import load_registry

SUMMARY = "take batches from a shuffler, open them, and keep their records on stable storage"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("registry", metavar="REGISTRY.toml", help="the metrics that are collected")
    parser.add_argument(
        "--open-with", action="append", required=True, metavar="KEYFILE",
        help="a private key of hubbub keys new; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--late", type=seconds("1h"), default="28d", metavar="AGE",
        help="how long after its end a period is accepted (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--quarantine-budget", type=size(), default="64M", metavar="SIZE",
        help="records of unknown metrics that are kept aside; 0 keeps none (default: %(default)s)",
    )  # fmt: skip
    add_serving(parser, 8082)


def run(arguments: argparse.Namespace) -> int:
    """Opens until SIGTERM or SIGINT. Raises RegistryError, CollectorError, KeyFileError."""
    configure(arguments.log, command="open")
    registry = load_registry(arguments.registry, candidates=False)
    budget = Budget(arguments.queue, arguments.disk_budget, arguments.quarantine_budget)
    settings = Opening(
        Path(arguments.data), [PrivateKey.load(path) for path in arguments.open_with], read_secret(arguments.secret),
        arguments.late, budget, limits_of(arguments), arguments.admin,
    )  # fmt: skip
    address = address_of(arguments)

    async def main(stop: asyncio.Event) -> None:
        await open_batches(registry, settings, address, stop)

    run_service(main)
    return 0
