"""Sends uploads to a collector: several at once, each until it is answered for good."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import aiohttp

from hubbub_client.backoff import CAP_MS
from hubbub_simulations.errors import FleetError
from hubbub_simulations.fleet.tally import Tally
from hubbub_simulations.fleet.uploads import Upload

_HEADERS = {"Content-Type": "application/msgpack"}
_BUSY = (429, 503)
_FIRST_WAIT = 0.05  # seconds; a fleet on one machine need not wait as long as a phone does


@dataclass
class Sender:
    """Sends to ``url``, the collector's address without a path.

    ``patience`` is how many seconds an upload is tried again after 429, 503 or a broken connection. The body is the
    same each time, so an upload that had arrived after all is not counted twice by the collector.
    """

    url: str
    concurrency: int
    patience: float
    tally: Tally
    advance: Callable[[], None] = lambda: None
    """Called after every upload that was answered."""
    _answered: bool = False

    async def send_all(self, uploads: Iterator[Upload]) -> None:
        """Sends everything; uploads are made as they are needed. Raises FleetError where the collector stays away."""
        timeout = aiohttp.ClientTimeout(total=60)
        connector = aiohttp.TCPConnector(limit=self.concurrency)
        async with aiohttp.ClientSession(connector=connector, timeout=timeout, headers=_HEADERS) as session:
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(self.concurrency):
                        group.create_task(self._work(session, uploads))
            except* FleetError as errors:
                raise errors.exceptions[0] from None

    async def _work(self, session: aiohttp.ClientSession, uploads: Iterator[Upload]) -> None:
        # One iterator for all workers: they run in one thread, so each upload is taken once.
        for upload in uploads:
            await self._send(session, upload)
            self.advance()

    async def _send(self, session: aiohttp.ClientSession, upload: Upload) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.patience
        attempt = 0
        while True:
            status, text, retry_after = await self._attempt(session, upload)
            if 200 <= status < 300:
                self.tally.uploads += 1
                # A fleet reports one metric, so that the batches of an upload share a fate.
                if _quarantined(text):
                    self.tally.quarantined += upload.reports
                else:
                    self.tally.accepted += upload.reports
                return
            if status and status not in _BUSY:
                self.tally.refused_uploads += 1
                self.tally.refused[f"HTTP {status} {_code(text)}".rstrip()] += upload.reports
                return
            wait = max(retry_after, random.uniform(0, min(CAP_MS / 1000, _FIRST_WAIT * 2**attempt)))  # noqa: S311
            if loop.time() + wait > deadline:
                what = f"answers {status}" if status else f"does not answer ({text})"
                raise FleetError(
                    f"the collector at {self.url} {what} for {self.patience:g} s; "
                    "see its log, lower --concurrency, or raise --patience"
                )
            attempt += 1
            self.tally.retries += 1
            await asyncio.sleep(wait)

    async def _attempt(self, session: aiohttp.ClientSession, upload: Upload) -> tuple[int, str, float]:
        """The status, the answer's text and Retry-After in seconds; status 0 where there was no answer."""
        try:
            async with session.post(f"{self.url}/v1/reports", data=upload.body) as response:
                self._answered = True
                return response.status, await response.text(errors="replace"), _seconds(response)
        except aiohttp.InvalidURL:
            raise FleetError(f"{self.url!r} is no address; write one such as http://127.0.0.1:8080") from None
        except (aiohttp.ClientError, TimeoutError, ConnectionError) as error:
            if not self._answered:
                raise FleetError(
                    f"no collector answers at {self.url} ({type(error).__name__}); "
                    "start one with: hubbub collect REGISTRY.toml --data DIR"
                ) from None
            return 0, type(error).__name__, 0.0


def _seconds(response: aiohttp.ClientResponse) -> float:
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isdigit() else 0.0


def _code(text: str) -> str:
    """The refusal's code for programs, where the answer is the collector's JSON; nothing where it is another's."""
    code = _said(text, "error")
    return code if isinstance(code, str) else ""


def _quarantined(text: str) -> bool:
    """Whether the collector keeps batches aside, by its answer of 202."""
    number = _said(text, "quarantined")
    return isinstance(number, int) and number > 0


def _said(text: str, key: str) -> object:
    try:
        return json.loads(text)[key]
    except (ValueError, KeyError, TypeError):
        return None
