"""Audits the subset selection of multi-freq-ldpy 0.2.5 from its reports alone, beside hubbub's own encoders.

    python -m benchmarks.audit.run

The peer runs in an environment of its own, made at first use under ``.cache/hubbub-peers``. Exit status 1 where the
peer is not refuted (it should be: its list begins with the true value) or where an encoder of hubbub's is.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from hubbub_simulations.audit import audit_empirically, client_target
from hubbub_simulations.audit.printing import print_empirical
from hubbub_simulations.bench.peer import environment as environment
from hubbub_simulations.definitions import define

PEER = Path(__file__).parent / "multi_freq_ldpy"
CACHE = Path(".cache/hubbub-peers")
EPSILON = 1.0
BATCH = 2000
# (domain, reports of each value): a report of the larger domain is a list of 275 values.
SIZES = [(64, 40_000), (1024, 4_000)]


@contextmanager
def peer_target(process: subprocess.Popen[str], domain: int) -> Iterator[Callable[[str], list[int]]]:
    """A function of a value that returns one of the peer's reports; they are fetched in batches."""
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout
    ready: dict[str, list[list[int]]] = {}

    def report(value: str) -> list[int]:
        if not ready.get(value):
            request = {"value": int(value), "domain": domain, "epsilon": EPSILON, "count": BATCH}
            stdin.write(json.dumps(request) + "\n")
            stdin.flush()
            ready[value] = json.loads(stdout.readline())["reports"]
        return ready[value].pop()

    yield report


def main() -> int:
    """Prints every audit."""
    console = Console()
    ok = True
    python = environment(PEER.name, PEER / "requirements.txt", CACHE)
    process = subprocess.Popen(
        [str(python), str(PEER / "serve.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        for domain, reports in SIZES:
            with peer_target(process, domain) as target:
                audit = audit_empirically(target, ["0", str(domain - 1)], EPSILON, reports)
            print_empirical(console, f"multi-freq-ldpy 0.2.5, SS_Client, {domain} values", audit)
            ok = ok and audit.refuted
    for mechanism in ("randomized-response", "unary-encoding", "hadamard-response"):
        metric = define(mechanism, epsilon=EPSILON, values=[str(i) for i in range(64)])
        with client_target(metric) as target:
            audit = audit_empirically(target, ["0", "63"], EPSILON, 40_000)
        print_empirical(console, f"hubbub, {mechanism}, 64 values", audit)
        ok = ok and not audit.refuted
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
