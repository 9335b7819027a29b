"""``hubbub bench``: the speed benchmarks, as ratios measured in one run."""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from hubbub_simulations.bench.client import against_peer, against_randomness
from hubbub_simulations.bench.decoder import aggregation, estimation
from hubbub_simulations.bench.measure import Comparison, Timer
from hubbub_simulations.bench.peer import run_peer
from hubbub_simulations.errors import PeerUnavailableError

SUMMARY = "measure speed, as ratios in one run: beside the system's randomness, plain numpy, and a peer library"

_PIPE_WIDTH = 150
_VERDICTS = {True: "yes", False: "NO", None: ""}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of ``hubbub bench``."""
    parser.add_argument("--json", action="store_true", help="print the figures as JSON, times in seconds")
    parser.add_argument(
        "--peers",
        type=Path,
        default=Path("benchmarks/peers"),
        metavar="DIR",
        help="the folder of peers, in a checkout (benchmarks/peers)",
    )
    parser.add_argument(
        "--peer-cache",
        type=Path,
        default=Path(".cache/hubbub-peers"),
        metavar="DIR",
        help="where the peers' environments are made and kept (.cache/hubbub-peers)",
    )
    parser.add_argument("--no-peers", action="store_true", help="leave the peers out; their figures are n/a")


def run(arguments: argparse.Namespace) -> int:
    """Prints the table or the JSON; 1 where a figure misses what is wanted of it."""
    console = Console(stderr=True)
    reason = "left out by --no-peers" if arguments.no_peers else None
    with ExitStack() as stack:
        peer: Callable[[str], Timer] | None = None
        if not arguments.no_peers:
            with console.status("making the peer's environment, at first use"):
                try:
                    peer = stack.enter_context(run_peer(arguments.peers / "pure_ldp", arguments.peer_cache)).timer
                except PeerUnavailableError as error:
                    reason = str(error)
        comparisons = []
        with console.status("measuring") as status:
            for comparison in _all(peer):
                status.update(f"measured {comparison.subject}")
                comparisons.append(comparison)
    if arguments.json:
        print(
            json.dumps({"machine": _machine(), "peer_missing": reason, "figures": [c.to_dict() for c in comparisons]})
        )
    else:
        console_out = Console()
        # In a pipe there is no width to fit; rich would assume 80 columns and cut every name.
        console_out.width = console_out.width if console_out.is_terminal else _PIPE_WIDTH
        console_out.print(_table(comparisons))
    if reason is not None:
        console.print(f"pure-ldp: n/a, {reason}", highlight=False)
    return 1 if any(comparison.met is False for comparison in comparisons) else 0


def _all(peer: Callable[[str], Timer] | None) -> Iterator[Comparison]:
    yield from against_randomness()
    yield from against_peer(peer)
    yield from aggregation()
    yield from estimation(peer)


def _machine() -> dict[str, Any]:
    return {
        "cores": os.cpu_count(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _table(comparisons: list[Comparison]) -> Table:
    table = Table("what", "time", "beside", "its time", "ratio", "wanted", "met", box=box.SIMPLE_HEAD)
    for c in comparisons:
        table.add_row(
            c.subject,
            as_time(c.seconds),
            c.reference,
            as_time(c.reference_seconds),
            "n/a" if c.ratio is None else f"{c.ratio:.3g}",
            c.wanted,
            "n/a" if c.met is None and c.wanted else _VERDICTS[c.met],
        )
    return table


def as_time(seconds: float | None) -> str:
    """Three digits and a unit."""
    if seconds is None:
        return "n/a"
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
