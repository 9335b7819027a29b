"""Run by test_kills.py: forks gateways that kill themselves before their n-th sync or rename, for every n.

Prints how often one was killed, and how many releases there are. Exits with 1 where a release ever changed, or was not
paid for. A process of its own, so that it has one thread and may fork.
"""

from __future__ import annotations

import os
import signal
import sys
from itertools import count
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from hubbub_client.file_storage import FileStorage
from hubbub_client.ledger import Ledger
from hubbub_firmware.curator.curator import Curator
from hubbub_firmware.curator.noise import add_noise_of
from hubbub_firmware.curator.releases import read_releases

from tests.firmware.curator.gateway import DAY, SENSORS, START, curated, reading

METRICS = {"c": curated("c", contributions=5)}


def run(folder: str, day: int, *, kill_at: int = 0) -> None:
    """One run of the gateway on a day; killed before the ``kill_at``-th call where that is above 0."""
    if kill_at:
        left = count(1)
        for name in ("fsync", "replace"):
            setattr(os, name, killing(getattr(os, name), left, kill_at))
        import hubbub_client.file_storage as files

        files._rename_over = os.replace
    storage = FileStorage(folder)
    gateway = Curator(METRICS, storage, START + day * DAY, noise=add_noise_of)
    gateway.take([reading("a", time=START + day * DAY)], SENSORS)
    gateway.release()
    storage.close()


def killing(call: Any, left: Any, at: int) -> Any:
    """``call``, but the process is killed in place of the ``at``-th."""

    def counted(*arguments: Any, **keys: Any) -> Any:
        if next(left) == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*arguments, **keys)

    return counted


def shown(folder: str) -> dict[int, list[int]]:
    """The releases that can be shown, checked against the ledger."""
    storage = FileStorage(folder)
    released = {each["period"]: each["values"] for each in read_releases(storage)}
    ledger = Ledger.load(storage)
    spent = 0 if ledger is None else ledger.total()
    if len(released) * METRICS["c"].charge_nano > spent:
        raise SystemExit("a release was not paid for")
    storage.close()
    return released


def main(folder: str) -> None:
    """Each child is killed one call later than the one before, until one lives to the end; then a day passes."""
    kills, day = 0, 0
    seen: dict[int, list[int]] = {}
    add_noise_of(METRICS["c"])  # loaded once, before the forks
    while day < 3:
        for at in count(1):
            child = os.fork()
            if not child:
                run(folder, day, kill_at=at)
                os._exit(0)
            _, status = os.waitpid(child, 0)
            if os.WIFEXITED(status) and os.WEXITSTATUS(status):
                raise SystemExit("a run failed")
            now = shown(folder)
            if any(now.get(period) != values for period, values in seen.items()):
                raise SystemExit("a release has changed")
            seen = now
            if not os.WIFSIGNALED(status):
                break
            kills += 1
        day += 1
    storage = FileStorage(folder)
    ledger = Ledger.load(storage)
    if ledger is None or ledger.total() != len(seen) * METRICS["c"].charge_nano:
        raise SystemExit("more was spent than was released")
    print(kills, len(seen))


if __name__ == "__main__":
    main(sys.argv[1] + "/state")
