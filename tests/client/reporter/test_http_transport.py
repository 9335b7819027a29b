from __future__ import annotations

import email.utils
import http.server
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import msgpack
import pytest

from hubbub_client import HttpTransport, MemoryStorage, TransportError

from tests.client.reporter.reporting import Noise, reporter_of, sketch_plan

Handler = Callable[[http.server.BaseHTTPRequestHandler], None]


class Server:
    """An HTTP server on a free loopback port that answers as it is told, and remembers the requests."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.respond: Handler = lambda request: answer(request, 200)
        outer = self

        class Handling(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append((self.command, self.path, dict(self.headers), body))
                outer.respond(self)

            do_GET = do_POST  # noqa: N815

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handling)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def running(self) -> Iterator[Server]:
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            thread.join()
            self._server.server_close()


def answer(
    request: http.server.BaseHTTPRequestHandler, status: int, headers: dict[str, str] | None = None, body: bytes = b""
) -> None:
    request.send_response(status)
    for key, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
        request.send_header(key, value)
    request.end_headers()
    request.wfile.write(body)


def raw(data: bytes) -> Handler:
    def respond(request: http.server.BaseHTTPRequestHandler) -> None:
        request.wfile.write(data)
        request.close_connection = True

    return respond


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server().running() as running:
        yield running


@pytest.mark.parametrize("tail", ["", "/", "/base", "/base/"])
def test_a_request_is_what_the_protocol_says_and_says_nothing_of_the_device(server: Server, tail: str) -> None:
    """One POST to /v1/reports below the URL, of exactly these headers, with a User-Agent that is the same for all."""
    assert HttpTransport(server.url + tail).send(b"the body").status == 200
    ((method, path, headers, body),) = server.requests
    assert (method, path, body) == ("POST", tail.rstrip("/") + "/v1/reports", b"the body")
    assert headers == {
        "Accept-Encoding": "identity",
        "Connection": "close",
        "Content-Length": "8",
        "Content-Type": "application/msgpack",
        "Host": server.url.removeprefix("http://"),
        "User-Agent": "hubbub",
    }


@pytest.mark.parametrize("status", [200, 202, 204, 400, 404, 413, 415, 429, 500, 503, 507])
def test_any_status_is_an_answer(server: Server, status: int) -> None:
    """Each status comes back as it was sent, with the seconds of Retry-After, and none is an exception."""
    server.respond = lambda request: answer(request, status, {"Retry-After": "17"})
    found = HttpTransport(server.url).send(b"x")
    assert (found.status, found.retry_after) == (status, 17)


def test_the_reason_for_a_refusal_is_passed_on_short_and_printable(server: Server) -> None:
    """The start of the answer's body is kept as text, without control characters, and no more of it is read."""
    server.respond = lambda request: answer(request, 400, body=b"odd length\r\n\x1b[31m" + b"x" * 1_000_000)
    text = HttpTransport(server.url).send(b"x").text
    assert text.startswith("odd length   [31mxxx")
    assert len(text) <= 200


def test_retry_after_may_be_a_date_or_nonsense(server: Server) -> None:
    """A date is turned into seconds from now, one in the past into 0, and what cannot be read into None."""
    headers = {
        email.utils.formatdate(time.time() + 1000, usegmt=True): range(990, 1001),
        "Thu, 01 Jan 1970 00:00:00 GMT": [0],
        "soon": [None],
        "-5": [None],
        "²": [None],
        "9" * 400: [None],
        "": [None],
    }
    for value, expected in headers.items():
        server.respond = lambda request, value=value: answer(  # type: ignore[misc]
            request, 503, {"Retry-After": value.encode().decode("latin-1")}
        )
        assert HttpTransport(server.url).send(b"x").retry_after in expected


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed(server: Server, status: int) -> None:
    """A redirect, to another origin or to the same one, is an answer like any other, and nobody else is contacted."""
    with Server().running() as stranger:
        for target in (stranger.url + "/v1/reports", server.url + "/elsewhere"):
            server.requests.clear()
            server.respond = lambda request, target=target: answer(  # type: ignore[misc]
                request, status, {"Location": target}
            )
            assert HttpTransport(server.url).send(b"x").status == status
            assert [path for _, path, _, _ in server.requests] == ["/v1/reports"]
            assert stranger.requests == []


def test_no_cookie_is_kept(server: Server) -> None:
    """A cookie that an answer sets does not come back with the next upload."""
    server.respond = lambda request: answer(request, 200, {"Set-Cookie": "id=42; Path=/"})
    transport = HttpTransport(server.url)
    for _ in range(2):
        transport.send(b"x")
    assert "Cookie" not in server.requests[1][2]


GARBAGE = {
    "nothing": b"",
    "not HTTP": b"\x00\xff\x16\x03garbage\r\n\r\n",
    "no status": b"HTTP/1.1 banana\r\n\r\n",
    "half a status": b"HTTP/1.1 20",
    "an endless header": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    "too many headers": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 500 + b"\r\n",
}


@pytest.mark.parametrize("kind", GARBAGE)
def test_what_is_no_answer_is_a_transport_error(server: Server, kind: str) -> None:
    """A connection that closes early or speaks something else gives TransportError and nothing else."""
    server.respond = raw(GARBAGE[kind])
    with pytest.raises(TransportError, match="no answer from"):
        HttpTransport(server.url).send(b"x")


def test_a_status_counts_though_its_body_is_cut_short(server: Server) -> None:
    """2xx means on stable storage, so an answer whose body is torn still delivered the upload."""
    server.respond = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort")
    assert HttpTransport(server.url).send(b"x").status == 200
    server.respond = raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
    assert HttpTransport(server.url).send(b"x").status == 200


def test_nobody_listening_and_nobody_answering_are_transport_errors() -> None:
    """A refused connection, an address that is none, and a server that never answers within the timeout."""
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        closed = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(TransportError, match="timed out"):
            HttpTransport(closed, timeout=1).send(b"x")
    for url in (closed, "http://[::bad", "http://127.0.0.1:99999", "http://127.0.0.1:port"):
        with pytest.raises(TransportError):
            HttpTransport(url, timeout=5).send(b"x")


@pytest.mark.parametrize(
    "url",
    ["", "collector.example.org", "ftp://x", "file:///etc/passwd", "http://", "https:///v1", "http://u:p@h", "http://h?q=1",
     "http://h#f", "http://h /x", "HTTP://h"],
)  # fmt: skip
def test_a_url_that_is_no_collector_s_is_refused_at_once(url: str) -> None:
    """Only http and https with a host, and neither login, query nor fragment."""
    with pytest.raises(TransportError, match=r"https://collector\.example\.org"):
        HttpTransport(url)


def test_certificates_are_checked() -> None:
    """The opener's TLS context demands a certificate that matches the host's name."""
    import ssl
    from urllib.request import HTTPSHandler

    opener: Any = HttpTransport("https://collector.example.org")._opener
    (handler,) = [handler for handler in opener.handlers if isinstance(handler, HTTPSHandler)]
    context = handler._context or ssl._create_default_https_context()  # type: ignore[attr-defined]
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname


@pytest.mark.parametrize(
    ("respond", "sent", "kept", "refused"),
    [
        (lambda r: answer(r, 200), 2, 0, 0),
        (lambda r: answer(r, 400, body=b"odd record length"), 0, 0, 2),
        (lambda r: answer(r, 413), 0, 0, 2),
        (lambda r: answer(r, 415), 0, 0, 2),
        (lambda r: answer(r, 429, {"Retry-After": "1"}), 0, 2, 0),
        (lambda r: answer(r, 503), 0, 2, 0),
        (lambda r: answer(r, 302, {"Location": "http://127.0.0.1:1/"}), 0, 2, 0),
        (raw(GARBAGE["not HTTP"]), 0, 2, 0),
        (raw(GARBAGE["nothing"]), 0, 2, 0),
    ],
)
def test_a_flush_over_http_does_what_the_answer_means(
    server: Server, respond: Handler, sent: int, kept: int, refused: int
) -> None:
    """Over a real connection: 200 removes, 400, 413 and 415 refuse, everything else keeps, with identical retries."""
    server.respond = respond
    storage = MemoryStorage()
    plan = sketch_plan(reports=2)
    reporter = reporter_of(plan, storage, server.url, source=Noise())
    for _ in range(2):
        assert reporter.record("m", "a")
    result = reporter.flush()
    assert (result.sent, result.kept, result.refused, result.dropped) == (sent, kept, refused, 0)
    assert (result.problem is None) == (sent == 2)
    if refused:
        assert reporter.counts == {"refused": 2}
    first = server.requests[0][3]
    version, upload_id, batches = msgpack.unpackb(first)
    assert (version, len(upload_id), len(batches)) == (1, 16, 1)
    assert {body for _, _, _, body in server.requests} == {first}
    if kept:
        server.respond = lambda request: answer(request, 200)
        assert reporter_of(plan, storage, server.url).flush().sent == 2
        assert server.requests[-1][3] == first
