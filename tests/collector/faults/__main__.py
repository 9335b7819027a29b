"""``python -m tests.collector.faults``: kills a real collector again and again; status 1 where an upload was lost."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from tests.collector.faults.rounds import Rounds, faulty
from tests.collector.server_process import HUBBUB


def main() -> int:
    """Plays the rounds and prints the outcome as JSON."""
    parser = argparse.ArgumentParser(prog="python -m tests.collector.faults", description=__doc__)
    parser.add_argument("--rounds", type=int, default=100, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of what is done when (default: %(default)s)")
    parser.add_argument("--broken", choices=["early", "forgetful"], help="play them with a faulty collector")
    arguments = parser.parse_args()
    console = Console(stderr=True)
    hubbub = HUBBUB if arguments.broken is None else faulty(arguments.broken)
    with tempfile.TemporaryDirectory(prefix="hubbub-faults-") as folder:
        rounds = Rounds(Path(folder), arguments.seed, hubbub)
        with Progress(console=console) as progress:
            task = progress.add_task("rounds", total=arguments.rounds)
            outcome = rounds.run(arguments.rounds, lambda kind: progress.advance(task))
    said = {"unanswered": rounds.senders.unanswered, "refused": rounds.senders.refused}
    print(json.dumps({**asdict(outcome), **said, "holds": outcome.verdict.holds}, indent=1))
    return 0 if outcome.verdict.holds else 1


if __name__ == "__main__":
    sys.exit(main())
