"""Charges batches against caps, many in one transaction: what came while one ran goes into the next."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from hubbub_collector.access.caps import Caps, Charge
from hubbub_collector.errors import StoreError

log = logging.getLogger("hubbub.collector")


class Cashier:
    """Owns ``caps`` and the one thread that uses them. Methods are called on the event loop's thread."""

    def __init__(self, caps: Caps) -> None:
        self._caps = caps
        self._thread = ThreadPoolExecutor(1, "hubbub-caps")
        self._waiting: list[tuple[Sequence[Charge], asyncio.Future[list[bool]]]] = []
        self._running: asyncio.Task[None] | None = None

    async def charge(self, charges: Sequence[Charge]) -> list[bool]:
        """Which of ``charges`` fit under their caps; those are charged, on stable storage. Raises StoreError.

        A charge is not taken back where the upload is not stored after all: its retry is not charged again.
        """
        future: asyncio.Future[list[bool]] = asyncio.get_running_loop().create_future()
        self._waiting.append((charges, future))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await future

    async def prune(self, before: int) -> None:
        """Forgets periods that ended before the Unix time ``before``; a failure is logged, and tried again later."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._caps.prune, before)
        except StoreError as error:
            log.warning("old counts of tokens are not forgotten yet: %s", error)

    async def close(self) -> None:
        """Ends the thread and closes the file."""
        if self._running is not None:
            await self._running
        self._thread.shutdown()
        self._caps.close()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            group, self._waiting = self._waiting, []
            flat = [charge for charges, _ in group for charge in charges]
            try:
                fits = await loop.run_in_executor(self._thread, self._caps.charge, flat)
            except Exception as failure:  # noqa: BLE001 - whatever it is, somebody waits for an answer
                error = failure if isinstance(failure, StoreError) else StoreError(type(failure).__name__)
                for _, future in group:
                    if not future.done():
                        future.set_exception(error)
                continue
            at = 0
            for charges, future in group:
                if not future.done():
                    future.set_result(fits[at : at + len(charges)])
                at += len(charges)
        self._running = None
