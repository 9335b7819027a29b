"""The way to the collector: one body at a time, again and again until there is a verdict on it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from http.client import HTTPException
from urllib.error import HTTPError
from urllib.request import Request

from hubbub_client.backoff import wait_ms
from hubbub_client.delivery import DAY, KEPT, REFUSED, SENT, verdict_on
from hubbub_client.http_transport import HttpTransport
from hubbub_client.reasons import text_of
from hubbub_client.transport import Answer, TransportError

TOKEN = "HUBBUB_TOKEN"  # noqa: S105 - the name of the variable


class CollectorLink(HttpTransport):
    """An HttpTransport that posts troubles besides uploads."""

    def send_troubles(self, body: bytes) -> Answer:
        """Posts counts of troubles, as JSON. Raises TransportError where no answer came."""
        url = self.url.removesuffix("/reports") + "/troubles"
        headers = {"Content-Type": "application/json", "User-Agent": "hubbub"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        request = Request(url, body, headers, method="POST")  # noqa: S310 - http or https, checked by HttpTransport
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                return Answer(response.status)
        except HTTPError as error:
            error.close()
            return Answer(error.code)
        except (OSError, HTTPException, ValueError) as error:
            raise TransportError(f"no answer from {url} ({type(error).__name__})") from None


def link_to(url: str) -> CollectorLink:
    """The link to the collector at ``url``, with the token of the environment, if any. Raises TransportError."""
    return CollectorLink(url, token=os.environ.get(TOKEN))


def upload_verdict(status: int) -> str:
    """As a client has it: refused for good only where the collector says that the upload is at fault."""
    return verdict_on(status)


def troubles_verdict(status: int) -> str:
    """Refused by any answer of 4xx but 408 and 429: counts must not hold up reports."""
    if 400 <= status < 500 and status not in (408, 429):
        return REFUSED
    return verdict_on(status)


class Settled:
    """``verdict`` is SENT, REFUSED, or KEPT where it was stopped before there was one; ``problem`` says why, or is
    None. It never quotes a body."""

    def __init__(self, verdict: str, problem: str | None) -> None:
        self.verdict = verdict
        self.problem = problem


def post_until_settled(
    send: Callable[[bytes], Answer],
    body: bytes,
    stop: threading.Event,
    verdict_of: Callable[[int], str] = upload_verdict,
    failed: Callable[[str], None] = lambda _: None,
) -> Settled:
    """Sends ``body`` until it is taken or refused for good, with exponential backoff on top of any Retry-After.

    ``failed`` is told of each attempt in vain. Ends with KEPT once ``stop`` is set.
    """
    attempt = 0
    while not stop.is_set():
        retry_after = 0
        try:
            answer = send(body)
        except TransportError as error:
            problem = text_of(error)
        else:
            verdict = verdict_of(answer.status)
            problem = f"status {answer.status} {answer.text}".strip()
            if verdict != KEPT:
                return Settled(verdict, None if verdict == SENT else problem)
            retry_after = min(max(answer.retry_after or 0, 0), DAY)
        failed(problem)
        stop.wait(retry_after + wait_ms(attempt, os.urandom) / 1000)
        attempt += 1
    return Settled(KEPT, "stopped")
