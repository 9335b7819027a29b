"""Sending one upload: attempts, waits, and what an answer means for the upload."""

from hubbub_client.backoff import CAP_MS, wait_ms
from hubbub_client.reasons import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hubbub_client.sampling import ByteSource
    from hubbub_client.transport import Transport

SENT = "sent"
REFUSED = "refused"
KEPT = "kept"
ATTEMPTS = 4
DAY = 86400


class FlushResult:
    """What a flush did, in reports.

    ``sent``; ``kept`` for later; ``refused`` by the collector for good; ``dropped`` by the client, to stay within its
    limit, since the flush before. ``problem`` says why some were kept or refused.
    """

    def __init__(self) -> None:
        self.sent = 0
        self.kept = 0
        self.refused = 0
        self.dropped = 0
        self.problem: str | None = None

    def __repr__(self) -> str:
        return "FlushResult(sent=%d, kept=%d, refused=%d, dropped=%d, problem=%r)" % (
            self.sent, self.kept, self.refused, self.dropped, self.problem,
        )  # fmt: skip


class Outcome:
    """``verdict`` is SENT, REFUSED or KEPT; ``retry_after`` the seconds that the collector asked to be left alone."""

    def __init__(self, verdict: str, retry_after: int, problem: "str | None") -> None:
        self.verdict = verdict
        self.retry_after = retry_after
        self.problem = problem


def verdict_on(status: int) -> str:
    """What becomes of an upload that was answered with ``status``.

    Refused for good only where the collector says that the upload is at fault (docs/wire.md). Anything else is the
    collector's trouble, or an address that leads elsewhere, and may be mended: the upload is kept, within the limit.
    """
    if 200 <= status < 300:
        return SENT
    if status in (400, 413, 415):
        return REFUSED
    return KEPT


def deliver(
    transport: "Transport",
    body: bytes,
    source: "ByteSource",
    sleep: "Callable[[int], None]",
    cancelled: "Callable[[], bool]" = lambda: False,
) -> Outcome:
    """Sends ``body``, at most ``ATTEMPTS`` times, until there is a verdict other than KEPT, or it is ``cancelled``.

    Between attempts it sleeps as backoff.wait_ms says, on top of what the collector asked for in Retry-After; where
    that is more than ``CAP_MS`` it gives up for now.
    """
    retry_after = 0
    problem: str | None = None
    for attempt in range(ATTEMPTS):
        if cancelled():
            break
        retry_after = 0
        try:
            answer = transport.send(body)
            verdict = verdict_on(answer.status)
            problem = None if verdict == SENT else ("status %d %s" % (answer.status, answer.text)).strip()
            if answer.retry_after is not None:
                retry_after = min(max(answer.retry_after, 0), DAY)
        except Exception as error:  # noqa: BLE001 - whatever a transport raises, there was no answer
            verdict, problem = KEPT, text_of(error)
        if verdict != KEPT:
            return Outcome(verdict, 0, problem)
        wait = 1000 * retry_after + wait_ms(attempt, source)
        if attempt + 1 < ATTEMPTS:
            if wait > CAP_MS:
                break
            sleep(wait)
    return Outcome(KEPT, retry_after, problem)
