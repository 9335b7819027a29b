"""Collectors with a fault, to see that the rounds notice it: ``python -m tests.collector.faults.broken FAULT ...``.

``early`` acknowledges before the commit. ``forgetful`` seals a repeat as if it were new. The rest of the line is that
of ``hubbub``, or ``worker`` for a worker of the faulty collector.
"""

from __future__ import annotations

import asyncio
import functools
import os
import sys
import time
from collections.abc import Iterable

from hubbub_collector import worker
from hubbub_collector.commands import collect
from hubbub_collector.errors import StoreError
from hubbub_collector.quarantine import Quarantined
from hubbub_collector.seal import sort
from hubbub_collector.seal.sorted_store import Row
from hubbub_collector.worker_store import WorkerStore
from hubbub_collector.workers import Workers
from hubbub_collector.writer import Writer
from hubbub_registry.commands import main

_COMMIT_SECONDS = 0.05


def acknowledge_early() -> None:
    """An answer as soon as the upload is queued. The commit takes as long as on a slow disk."""
    submit, commit = Writer.submit, WorkerStore.commit

    def early(
        self: Writer, body: bytes, quarantined: tuple[Quarantined, ...], records: int
    ) -> asyncio.Future[StoreError | None]:
        submit(self, body, quarantined, records)
        done: asyncio.Future[StoreError | None] = asyncio.get_running_loop().create_future()
        done.set_result(None)
        return done

    def slow(self: WorkerStore, bodies: list[bytes], quarantined: list[Quarantined]) -> None:
        time.sleep(_COMMIT_SECONDS)
        commit(self, bodies, quarantined)

    Writer.submit = early  # type: ignore[method-assign]
    WorkerStore.commit = slow  # type: ignore[method-assign, assignment]


def forget_ids() -> None:
    """Each time that an upload is taken it has another id."""
    merged = sort.merged

    def forgetful(upload: bytes, batches: Iterable[tuple[bytes, int, bytes]]) -> list[Row]:
        return merged(os.urandom(len(upload)), batches)

    sort.merged = forgetful


if __name__ == "__main__":
    _, fault, *arguments = sys.argv
    {"early": acknowledge_early, "forgetful": forget_ids}[fault]()
    again = [sys.executable, "-m", "tests.collector.faults.broken", fault, "worker"]
    vars(collect)["Workers"] = functools.partial(Workers, command=again)
    sys.exit(worker.main() if arguments == ["worker"] else main(arguments))
