"""``hubbub collect``: runs the collector."""

from __future__ import annotations

import argparse
import logging
import sys

from hubbub_collector.commands.arguments import positive, seconds, size
from hubbub_collector.errors import CollectorError
from hubbub_collector.worker import WorkerSettings
from hubbub_collector.workers import Workers
from hubbub_registry import load_registry

_LEAST = "1M"
"""Of a budget, for all workers and for each: an empty store takes a part of that already."""
SUMMARY = "take uploads over HTTP and keep them on stable storage"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("registry", metavar="REGISTRY.toml", help="the metrics that are collected")
    parser.add_argument("--data", required=True, metavar="DIR", help="the data directory; made where it is missing")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=_port, default=8080, help="the port; 0 takes a free one (default: %(default)s)")
    parser.add_argument("--workers", type=positive, default=1, metavar="N", help="processes (default: %(default)s)")
    parser.add_argument(
        "--late", type=seconds("1h"), default="28d", metavar="AGE",
        help="how long after its end a period is accepted (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--max-body", type=size("1K"), default="1M", metavar="SIZE", help="the largest upload (default: %(default)s)"
    )
    parser.add_argument(
        "--queue", type=size(_LEAST), default="64M", metavar="SIZE",
        help="uploads that may wait in memory, over all workers (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--disk-budget", type=size(_LEAST), default=None, metavar="SIZE",
        help="disk space for uploads that are not sealed yet, over all workers (default: no limit)",
    )  # fmt: skip
    parser.add_argument(
        "--quarantine-budget", type=size(), default="64M", metavar="SIZE",
        help="batches of unknown metrics that are kept aside, over all workers; 0 keeps none (default: %(default)s)",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Collects until SIGTERM or SIGINT. Raises RegistryError, CollectorError."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="hubbub collect: %(message)s")
    for option, budget in (("--queue", arguments.queue), ("--disk-budget", arguments.disk_budget)):
        if budget is not None and budget < arguments.workers * size()(_LEAST):
            raise CollectorError(f"{option}: {arguments.workers} workers need at least {_LEAST} each")
    load_registry(arguments.registry, candidates=False)  # its problems are told once, here, and not by every worker
    settings = WorkerSettings(
        registry=arguments.registry,
        data=arguments.data,
        number=0,
        host=arguments.host,
        port=arguments.port,
        late=arguments.late,
        body=arguments.max_body,
        queue=arguments.queue,
        disk=arguments.disk_budget,
        quarantine=arguments.quarantine_budget,
    )
    Workers(settings, arguments.workers).run()
    return 0


def _port(text: str) -> int:
    if not text.isdecimal() or not 0 <= int(text) < 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: write a number from 0 to 65535")
    return int(text)
