"""Measures the decoder's speed in one run with plain numpy and with the peers: python benchmarks/decoder/figures.py

Prints what is wanted, what was measured and whether it held; --json FILE writes the same. Exit status 1 where something
did not hold. Ratios are medians over alternating rounds of processor time; a minute and a half.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from hubbub_simulations.bench.figures import Figure, Peer, figures
from hubbub_simulations.bench.peer import run_peer
from hubbub_simulations.commands.bench import as_time
from hubbub_simulations.errors import PeerUnavailableError

PEERS = Path(__file__).parents[1] / "peers"


def main() -> int:
    """Runs the peers that can be run, and measures."""
    parser = argparse.ArgumentParser(description="measure the decoder's speed, as ratios in one run")
    parser.add_argument("--json", type=Path, help="also write the figures to this file, times in seconds")
    parser.add_argument(
        "--peer-cache",
        type=Path,
        default=Path(".cache/hubbub-peers"),
        metavar="DIR",
        help="where the peers' environments are made and kept (.cache/hubbub-peers)",
    )
    arguments = parser.parse_args()
    console = Console(stderr=True)
    missing: dict[str, str] = {}
    measured: list[Figure] = []
    with ExitStack() as stack:
        peers: dict[str, Peer] = {}
        with console.status("making the peers' environments, at first use"):
            for name in ("pure_ldp", "multi_freq_ldpy"):
                try:
                    peers[name] = stack.enter_context(run_peer(PEERS / name, arguments.peer_cache)).timer
                except PeerUnavailableError as error:
                    peers[name], missing[name] = None, str(error)
        with console.status("measuring") as status:
            for figure in figures(peers["pure_ldp"], peers["multi_freq_ldpy"]):
                measured.append(figure)
                status.update(f"measured: {figure.subject}")
    Console(width=180).print(as_table(measured))
    for name, reason in missing.items():
        console.print(f"{name}: n/a, {reason}", highlight=False)
    if arguments.json:
        machine = {"cores": os.cpu_count(), "architecture": platform.machine(), "numpy": np.__version__}
        document = {"machine": machine, "peers_missing": missing, "figures": [figure.to_dict() for figure in measured]}
        arguments.json.write_text(json.dumps(document, indent=1) + "\n")
    return 1 if any(figure.held is False for figure in measured) else 0


def as_table(measured: list[Figure]) -> Table:
    """A ratio below 1 is shown as how many times as fast we are."""
    table = Table("what", "time", "for", "beside", "its time", "wanted", "measured", "held", box=box.MARKDOWN)
    for f in measured:
        table.add_row(
            f.subject,
            as_time(f.seconds),
            f.unit,
            f.reference,
            as_time(f.reference_seconds),
            f"at most {f.limit:.3g}x" if f.limit >= 1 else f"{1 / f.limit:.3g}x as fast",
            "n/a" if f.ratio is None else f"{f.ratio:.2f}x" if f.limit >= 1 else f"{1 / f.ratio:,.0f}x as fast",
            "n/a" if f.held is None else "yes" if f.held else "NO",
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
