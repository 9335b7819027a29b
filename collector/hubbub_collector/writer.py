"""Group commit: one thread writes what has waited, and begins the next commit as soon as the last one ends."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from hubbub_collector.errors import Refusal, StoreError
from hubbub_collector.limits.arriving import BATCH_BYTES
from hubbub_collector.quarantine import Quarantined, space
from hubbub_collector.store import Store
from hubbub_collector.turning_away import TurningAway

log = logging.getLogger("hubbub.collector")

_GROUP_BYTES = 16 << 20
_MEASURE_SECONDS = 1.0


@dataclass(frozen=True)
class Budget:
    """What one worker may hold, in bytes: waiting in memory, on disk, in quarantine."""

    queue: int = 64 << 20
    disk: int | None = None
    quarantine: int = 64 << 20


class Committed(NamedTuple):
    """The outcome of a commit: what was in it, how many seconds it took, and why it failed if it did."""

    uploads: int
    records: int
    quarantined: int
    seconds: float
    error: StoreError | None


class _Waiting(NamedTuple):
    body: bytes
    quarantined: tuple[Quarantined, ...]
    records: int
    size: int
    done: asyncio.Future[StoreError | None]


class Writer:
    """Owns a store and the one thread that writes to it. Every method is called on the event loop's thread."""

    def __init__(self, store: Store, budget: Budget, observe: Callable[[Committed], None]) -> None:
        """``observe`` is called on the loop after each commit. Must be made while the loop runs."""
        self._store = store
        self._budget = budget
        self._observe = observe
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._quarantining = 0
        self._quarantined = 0
        self.turning_away = TurningAway()
        self.queued = 0
        """Bytes of the uploads that wait or are being committed."""
        self.stored = 0
        """Bytes taken on disk, as last measured."""
        self.closed = 0
        """The Unix time by which periods must not have ended, as last read; see ``Store.closed``."""
        self.failing: StoreError | None = None
        """What the last commit failed with, None where it succeeded."""
        try:
            self._quarantined, self.stored, self.closed = store.quarantined_bytes(), store.used_bytes(), store.closed()
        except StoreError as error:  # a database may be away; it is tried again as after a commit that failed
            log.error("uploads are refused: %s", error)
            self.failing = error
        self._thread = threading.Thread(target=self._run, name="hubbub-writer", daemon=True)
        self._thread.start()

    @property
    def quarantined(self) -> int:
        """The bytes that the quarantine counts for, as last measured."""
        return self._quarantined

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def has_room_for(self, quarantined: tuple[Quarantined, ...]) -> bool:
        """Whether the quarantine takes all of these. Where it does not, they are counted as turned away."""
        parked = _parked(quarantined)
        if self._quarantined + self._quarantining + parked <= self._budget.quarantine:
            return True
        self.turning_away.turned_away(self._quarantined, self._budget.quarantine)
        return False

    def submit(
        self, body: bytes, quarantined: tuple[Quarantined, ...], records: int
    ) -> asyncio.Future[StoreError | None]:
        """Queues an upload: ``body`` for the store (empty where all of it is quarantined), and what ``has_room_for``
        was asked about. The future gives None once all that is on stable storage, or the error for which it is not.
        Raises Refusal (503) where a budget is used up.
        """
        parked = _parked(quarantined) if quarantined else 0
        size = len(body) + parked + BATCH_BYTES * len(quarantined)
        if self.queued and self.queued + size > self._budget.queue:
            raise Refusal(503, "queue-full", "too many uploads are waiting to be stored", retry_after=1)
        if self._budget.disk is not None and self.stored + self.queued + size > self._budget.disk:
            raise Refusal(503, "disk-budget", "the space set aside for uploads is used up until it is sealed", 60)
        future: asyncio.Future[StoreError | None] = self._loop.create_future()
        self.queued += size
        self._quarantining += parked
        self._queue.put(_Waiting(body, quarantined, records, size, future))
        return future

    async def close(self) -> None:
        """Commits what waits, ends the thread and closes the store."""
        self._queue.put(None)
        await self._loop.run_in_executor(None, self._thread.join)
        self._store.close()

    def _run(self) -> None:
        measured = time.monotonic()
        while True:
            group, ending = self._take()
            failed = False
            if group or self.failing is not None:
                committed = self._commit(group)
                failed = committed.error is not None
                if committed.quarantined and not failed:
                    self._measure_quarantine()
                self._loop.call_soon_threadsafe(self._finish, group, committed)
            if time.monotonic() - measured > _MEASURE_SECONDS and not failed:
                measured = time.monotonic()
                self._measure()
                self._measure_quarantine()
            if ending:
                return

    def _take(self) -> tuple[list[_Waiting], bool]:
        """What waits, oldest first and a bounded number of bytes of it; and whether it is time to end.

        Comes back empty after a second without uploads: sealing frees space meanwhile, and so may an operator.
        """
        group: list[_Waiting] = []
        size = 0
        try:
            item = self._queue.get(timeout=_MEASURE_SECONDS)
            while item is not None:
                group.append(item)
                size += item.size
                if size >= _GROUP_BYTES:
                    return group, False
                item = self._queue.get_nowait()
        except queue.Empty:
            return group, False
        return group, True

    def _commit(self, group: list[_Waiting]) -> Committed:
        bodies = [item.body for item in group if item.body]
        quarantined = [parked for item in group for parked in item.quarantined]
        error: StoreError | None = None
        began = time.perf_counter()
        try:
            self._store.commit(bodies, quarantined)
        except StoreError as failure:
            error = failure
        except Exception as failure:  # noqa: BLE001 - whatever a store raises, nobody may be told that it was stored
            error = StoreError(f"the store failed ({type(failure).__name__})")
        seconds = time.perf_counter() - began
        return Committed(len(group), sum(item.records for item in group), len(quarantined), seconds, error)

    def _measure(self) -> None:
        try:
            self.stored = self._store.used_bytes()
            self.closed = self._store.closed()
        except StoreError as error:
            log.warning("the store's size cannot be measured: %s", error)

    def _measure_quarantine(self) -> None:
        # By this thread, which alone may use the store; the loop's thread reads what was found.
        try:
            found = self._store.quarantined_bytes()
        except StoreError as error:
            log.warning("the quarantine's size cannot be measured: %s", error)
            return
        self._quarantined = found
        self.turning_away.measured(found)

    def _finish(self, group: list[_Waiting], committed: Committed) -> None:
        for item in group:
            self.queued -= item.size
            if item.quarantined:
                self._quarantining -= _parked(item.quarantined)
            if committed.error is None:
                self.stored += item.size
            if not item.done.done():
                item.done.set_result(committed.error)
        if committed.error is not None and self.failing is None:
            log.error("uploads are refused: %s", committed.error)
        elif committed.error is None and self.failing is not None:
            log.warning("the store commits again")
        self.failing = committed.error
        self._observe(committed)


def _parked(quarantined: tuple[Quarantined, ...]) -> int:
    return sum(space(item.batch) for item in quarantined)
