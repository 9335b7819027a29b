"""Sends batches to the analyst's collector, each until it is acknowledged."""

from __future__ import annotations

import logging
import ssl
import time
from pathlib import Path
from types import TracebackType

import aiohttp

from hubbub_collector.body import MEDIA_TYPE
from hubbub_collector.errors import CollectorError
from hubbub_collector.shuffler.crowd import Batch
from hubbub_collector.shuffler.sealed_body import pack

log = logging.getLogger("hubbub.shuffler")

PATH = "/v1/shuffled"
_SECONDS = 30.0
_QUIET_SECONDS = 600.0
_LEAST_SECRET = 16


class Forwarder:
    """An asynchronous context manager, made and used on the loop."""

    def __init__(self, url: str, secret: str, ca: str | None = None) -> None:
        """``ca`` is a file of certificate authorities (PEM) instead of the system's. Raises CollectorError."""
        scheme, _, host = url.partition("://")
        if scheme not in ("http", "https") or not host or any(mark in url for mark in "@?# "):
            raise CollectorError(f"--forward: {url!r} is no address such as https://collector.example.org")
        self._url = url.rstrip("/") + PATH
        self._headers = {"Content-Type": MEDIA_TYPE, "User-Agent": "hubbub", "Authorization": f"Bearer {secret}"}
        try:
            self._tls = ssl.create_default_context(cafile=ca)
        except OSError as error:
            raise CollectorError(f"{ca}: holds no certificate authorities in PEM ({error.strerror})") from None
        self._said = -_QUIET_SECONDS

    async def __aenter__(self) -> Forwarder:
        self._session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=_SECONDS), connector=aiohttp.TCPConnector(ssl=self._tls, limit=1)
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._session.close()

    async def send(self, batch: Batch) -> int:
        """The status of the answer, 0 where none came. 2xx: the analyst has ``batch`` on stable storage. Trouble is
        logged now and then for as long as it lasts.
        """
        body = pack(*batch)
        status = 0
        try:
            async with self._session.post(
                self._url, data=body, headers=self._headers, allow_redirects=False
            ) as response:
                status = response.status
                failing = "" if 200 <= status < 300 else f"status {status}"
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            failing = type(error).__name__
        now = time.monotonic()
        if failing and now - self._said >= _QUIET_SECONDS:
            self._said = now
            log.error("the analyst's collector did not take a batch (%s); it is kept and sent again", failing)
        return status


def read_secret(path: str | Path) -> str:
    """The secret that shuffler and analyst share: the first line of ``path``. Raises CollectorError."""
    try:
        text = Path(path).read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "not ASCII"
        raise CollectorError(f"{path}: cannot be read ({said}); name the secret that hubbub keys new made") from None
    if len(text) < _LEAST_SECRET or not all("!" <= letter <= "~" for letter in text):
        raise CollectorError(f"{path}: is no secret; name the one that hubbub keys new made")
    return text
