from __future__ import annotations

import pytest

from hubbub_client import Answer
from hubbub_client.backoff import CAP_MS
from hubbub_client.delivery import ATTEMPTS, KEPT, REFUSED, SENT, deliver, verdict_on

from tests.client.reporter.reporting import DAY, NOW, Collector, reporter_of, sketch_plan


def test_each_status_has_the_verdict_the_protocol_gives_it() -> None:
    """2xx is delivered; 400, 413 and 415 are refused for good; everything else is kept for later."""
    sent = set(range(200, 300))
    refused = {400, 413, 415}
    for status in range(100, 600):
        assert verdict_on(status) == (SENT if status in sent else REFUSED if status in refused else KEPT)


def longest(count: int) -> bytes:
    return b"\xff" * count


def test_attempts_are_bounded_and_carry_the_same_body() -> None:
    """An upload is tried ATTEMPTS times with one body, with waits between that double."""
    collector = Collector(*[Answer(503)] * 10)
    waits: list[int] = []
    outcome = deliver(collector, b"body", longest, waits.append)
    assert outcome.verdict == KEPT
    assert collector.bodies == [b"body"] * ATTEMPTS
    assert waits == [1000, 2000, 4000]


def test_a_short_retry_after_is_waited_for() -> None:
    """The wait is what the collector asked for, and the jitter on top of it."""
    waits: list[int] = []
    assert deliver(Collector(Answer(429, 7)), b"", longest, waits.append).verdict == SENT
    assert waits == [8000]


def test_a_long_retry_after_ends_the_attempts() -> None:
    """Where the collector asks for more than CAP_MS there is no second attempt now."""
    collector = Collector(Answer(503, CAP_MS // 1000 + 1))
    outcome = deliver(collector, b"", longest, lambda _: pytest.fail("it slept"))
    assert (outcome.verdict, outcome.retry_after, len(collector.bodies)) == (KEPT, CAP_MS // 1000 + 1, 1)


@pytest.mark.parametrize(("asked", "obeyed"), [(-5, 0), (10**9, DAY)])
def test_an_absurd_retry_after_is_brought_within_a_day(asked: int, obeyed: int) -> None:
    """A negative wait is none, and nobody can silence a device for longer than a day."""
    assert deliver(Collector(*[Answer(503, asked)] * ATTEMPTS), b"", longest, lambda _: None).retry_after == obeyed


@pytest.mark.parametrize("failure", [OSError("gone"), ValueError("what"), KeyError("k"), MemoryError()])
def test_whatever_a_transport_raises_the_upload_is_kept(failure: Exception) -> None:
    """A transport that raises anything gave no answer, and its text, which may hold the payload, is not passed on."""
    outcome = deliver(Collector(*[failure] * ATTEMPTS), b"", longest, lambda _: None)
    assert (outcome.verdict, outcome.problem) == (KEPT, type(failure).__name__)


def test_the_next_flush_leaves_the_collector_alone_for_as_long_as_it_asked() -> None:
    """After a Retry-After no flush sends before it has passed, and the first one after it does."""
    now = [NOW]
    collector = Collector(Answer(503, 3600))
    reporter = reporter_of(sketch_plan(), transport=collector, clock=lambda: now[0])
    assert reporter.record("m", "a")
    assert reporter.flush().kept == 1
    now[0] += 3599
    assert (reporter.flush().kept, len(collector.bodies)) == (1, 1)
    now[0] += 1
    assert (reporter.flush().sent, len(collector.bodies)) == (1, 2)
    assert collector.bodies[0] == collector.bodies[1]


def test_a_clock_that_goes_back_does_not_silence_the_device() -> None:
    """A Retry-After that seems to lie more than a day ahead is the clock's doing and is not obeyed."""
    now = [NOW + 400 * DAY]
    collector = Collector(Answer(503, 3600))
    reporter = reporter_of(sketch_plan(), transport=collector, clock=lambda: now[0])
    assert reporter.record("m", "a")
    assert reporter.flush().kept == 1
    now[0] = NOW
    assert reporter.flush().sent == 1


def test_a_flush_without_a_clock_still_uploads() -> None:
    """A clock that fails stops recording and not uploading, a Retry-After or not."""
    broken = [False]

    def clock() -> int:
        if broken[0]:
            raise OSError("no clock")
        return NOW

    collector = Collector(Answer(503, 3600))
    reporter = reporter_of(sketch_plan(), transport=collector, clock=clock)
    assert reporter.record("m", "a")
    broken[0] = True
    assert reporter.flush().kept == 1
    assert reporter.flush().sent == 1
