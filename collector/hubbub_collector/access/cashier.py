"""Charges batches against caps, many in one transaction: what came while one ran goes into the next."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from hubbub_collector.access.caps import Caps, Charge
from hubbub_collector.errors import StoreDamagedError, StoreError

log = logging.getLogger("hubbub.collector")


class Cashier:
    """Owns ``caps`` and the one thread that uses them. Methods are called on the event loop's thread.

    Without ``caps``, where their file is damaged, every charge fails: a token with a cap sends nothing until somebody
    has seen to the file, and the others are not held up.
    """

    def __init__(self, caps: Caps | None) -> None:
        self._caps = caps
        self._thread = ThreadPoolExecutor(1, "hubbub-caps")
        self._waiting: list[tuple[Sequence[Charge], asyncio.Future[list[bool]]]] = []
        self._running: asyncio.Task[None] | None = None
        self._told = False

    async def charge(self, charges: Sequence[Charge]) -> list[bool]:
        """Which of ``charges`` fit under their caps; those are charged, on stable storage. Raises StoreError; where the
        file is damaged the log says so once.

        A charge is not taken back where the upload is not stored after all: its retry is not charged again.
        """
        future: asyncio.Future[list[bool]] = asyncio.get_running_loop().create_future()
        self._waiting.append((charges, future))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await future

    async def prune(self, now: int, closed: int) -> None:
        """See ``Caps.prune``; a failure is logged, and tried again later."""
        if self._caps is None:
            return
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._caps.prune, now, closed)
        except StoreError as error:
            log.warning("old counts of tokens are not forgotten yet: %s", error)

    async def close(self) -> None:
        """Ends the thread and closes the file."""
        if self._running is not None:
            await self._running
        self._thread.shutdown()
        if self._caps is not None:
            self._caps.close()

    def _charge(self, charges: Sequence[Charge]) -> list[bool]:
        if self._caps is None:
            raise StoreError("the counts of tokens are damaged")
        return self._caps.charge(charges)

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            group, self._waiting = self._waiting, []
            flat = [charge for charges, _ in group for charge in charges]
            try:
                fits = await loop.run_in_executor(self._thread, self._charge, flat)
            except Exception as failure:  # noqa: BLE001 - whatever it is, somebody waits for an answer
                error = failure if isinstance(failure, StoreError) else StoreError(type(failure).__name__)
                if isinstance(error, StoreDamagedError) and not self._told:
                    self._told = True
                    log.error("tokens with a cap are refused until it is seen to: %s", error)
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
