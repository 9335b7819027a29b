from __future__ import annotations

import threading

import pytest

from hubbub_client import Answer, TransportError
from hubbub_firmware.bridge.link import (
    TOKEN,
    CollectorLink,
    link_to,
    post_until_settled,
    troubles_verdict,
    upload_verdict,
)

from tests.firmware.transports.servers import response, serving


class Stop(threading.Event):
    """Waits for nothing, and remembers for how long it was to."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.waits.append(timeout)
        if len(self.waits) == 20:
            self.set()
        return self.is_set()


def test_it_goes_on_until_there_is_a_verdict_and_waits_as_asked() -> None:
    """429, 5xx, another status and no answer at all are tried again, after Retry-After and a growing random wait."""
    script: list[Answer | Exception] = [Answer(429, 7), Answer(500), TransportError("no answer"), Answer(404)]
    script += [Answer(503, 10**9), Answer(200)]
    answers = iter(script)
    failures: list[str] = []

    def send(body: bytes) -> Answer:
        assert body == b"x"
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    stop = Stop()
    settled = post_until_settled(send, b"x", stop, failed=failures.append)
    assert (settled.verdict, settled.problem) == ("sent", None)
    assert failures == ["status 429", "status 500", "no answer", "status 404", "status 503"]
    assert 7 <= stop.waits[0] <= 8
    assert all(wait <= 2**n for n, wait in enumerate(stop.waits) if n in (1, 2, 3))
    assert 86_400 <= stop.waits[4] <= 86_416


def test_a_stop_ends_it_without_a_verdict() -> None:
    """Once told to stop it sends no more, and says that the upload is kept."""
    stop = Stop()
    assert post_until_settled(lambda _: Answer(503), b"x", stop).verdict == "kept"
    assert len(stop.waits) == 20


@pytest.mark.parametrize("status", [200, 202, 400, 401, 403, 404, 408, 413, 415, 429, 500, 503, 507, 302])
def test_only_the_upload_s_own_fault_refuses_it(status: int) -> None:
    """Reports are refused by 400, 413 and 415 alone; counts of troubles by any 4xx but those that ask to come back."""
    reports = "sent" if status < 300 else "refused" if status in (400, 413, 415) else "kept"
    troubles = "sent" if status < 300 else "refused" if 400 <= status < 500 and status not in (408, 429) else "kept"
    assert upload_verdict(status) == reports
    assert troubles_verdict(status) == troubles


def test_troubles_go_to_their_own_address() -> None:
    """Troubles are posted as JSON beside the reports' address, whatever the base; any status is an answer."""
    answers = iter([response(200), response(503), b""])
    with serving(lambda _: next(answers)) as server:
        link = CollectorLink(server.url + "/base", token="abc.def")  # noqa: S106
        assert link.send_troubles(b"{}").status == 200
        assert link.send_troubles(b"{}").status == 503
        with pytest.raises(TransportError, match="no answer"):
            link.send_troubles(b"{}")
    assert all(request.startswith(b"POST /base/v1/troubles HTTP/1.1\r\n") for request in server.requests)
    assert b"Content-Type: application/json" in server.requests[0]
    assert all(b"Authorization: Bearer abc.def\r\n" in request for request in server.requests)


def test_the_token_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token in HUBBUB_TOKEN goes with each upload; without one there is no such header."""
    with serving(lambda _: response(200)) as server:
        for token in ("abc.def", None):
            monkeypatch.setenv(TOKEN, token) if token else monkeypatch.delenv(TOKEN)
            assert link_to(server.url).send(b"x").status == 200
    assert [b"Authorization: Bearer abc.def" in request for request in server.requests] == [True, False]
