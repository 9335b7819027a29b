"""What the shuffler does beside taking uploads: it waits for crowds, mixes them, and sends what is mixed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from hubbub_collector.errors import StoreError
from hubbub_collector.shuffler.crowd import CROWD_BYTES, Crowds, Group
from hubbub_collector.shuffler.forwarder import Forwarder
from hubbub_collector.shuffler.held_store import DAY
from hubbub_collector.shuffler.metrics import ShufflerMetrics

log = logging.getLogger("hubbub.shuffler")

_T = TypeVar("_T")
_POLL_SECONDS = 0.25
_IDLE = 9
"""Looking through much that is held takes a while: nine times as long nobody looks again."""
_PAUSE_SECONDS = 5.0
"""Until what was not acknowledged is sent again."""


class Mixing:
    """A group of at least ``threshold`` uploads is mixed ``max_wait`` seconds after it became one: until then it grows,
    and everybody in it is hidden better. An upload that never has a crowd is forgotten after ``hold`` seconds.
    """

    def __init__(
        self, crowds: Crowds, threshold: int, max_wait: int, hold: int, metrics: ShufflerMetrics,
        crowd_bytes: int = CROWD_BYTES,
        clock: Callable[[], float] = time.monotonic, wall: Callable[[], float] = time.time,
        poll_seconds: float = _POLL_SECONDS,
    ) -> None:  # fmt: skip
        self._crowds = crowds
        self._threshold = threshold
        self._max_wait = max_wait
        self._hold = hold
        self._metrics = metrics
        self._crowd_bytes = crowd_bytes
        self._clock = clock
        self._wall = wall
        self._poll_seconds = poll_seconds
        self._since: dict[Group, float] = {}
        self._pause_until = 0.0
        self._expired = -1
        self._failing = False

    async def run(self, forwarder: Forwarder, stop: asyncio.Event) -> None:
        """Goes on until ``stop`` is set. What is mixed and not acknowledged then is sent by the next run."""
        with ThreadPoolExecutor(1, "hubbub-mixing") as thread:
            self._run_in = thread
            wait = self._poll_seconds
            while not stop.is_set():
                began = self._clock()
                try:
                    await self._call(self.mix_ready)
                    wait = max(self._poll_seconds, _IDLE * (self._clock() - began))
                    if self._clock() >= self._pause_until:
                        await self._send_all(forwarder, stop)
                    self._failing = False
                except StoreError as error:
                    if not self._failing:
                        log.error("nothing is mixed or sent: %s", error)
                    self._failing = True
                    self._metrics.failing(True)
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), wait)

    def mix_ready(self) -> None:
        """Mixes every group that has its crowd and has waited, and forgets what has waited too long."""
        now = self._clock()
        waiting = self._crowds.waiting()
        self._metrics.holds(sum(count for count, _ in waiting.values()))
        self._since = {
            group: self._since.get(group, now) for group, (count, _) in waiting.items() if count >= self._threshold
        }
        for group, since in list(self._since.items()):
            if now - since >= self._max_wait or waiting[group][1] >= self._crowd_bytes:
                mixed = self._crowds.mix(group)
                del self._since[group]
                if mixed:
                    self._metrics.mixed(mixed)
                    log.info("mixed %d uploads", mixed)
        before = int((self._wall() - self._hold) // DAY)
        if before > self._expired:
            self._expired = before
            lost = self._crowds.expire(before)
            if lost:
                self._metrics.forgotten(lost)
                log.error("%d uploads found no crowd in time, and were forgotten; see --threshold and --hold", lost)

    async def _send_all(self, forwarder: Forwarder, stop: asyncio.Event) -> None:
        for id in await self._call(self._crowds.batches):
            if stop.is_set():
                return
            batch = await self._call(self._crowds.batch, id)
            if batch is None:
                continue
            status = await forwarder.send(batch)
            if 200 <= status < 300:
                await self._call(self._crowds.delete, id)
                self._metrics.forwarded(len(batch.ciphertexts))
                self._metrics.failing(False)
                continue
            self._metrics.failing(True)
            self._pause_until = self._clock() + _PAUSE_SECONDS
            if not 400 <= status < 500:  # else the others are still tried: it may be this one alone that is refused
                return

    async def _call(self, work: Callable[..., _T], *arguments: object) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._run_in, work, *arguments)
