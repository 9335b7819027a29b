"""Servers on loopback that tests speak to: raw TCP or TLS, with whatever certificate and whatever answer."""

from __future__ import annotations

import contextlib
import datetime
import functools
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import trustme

Answering = Callable[[bytes], bytes | None]
NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)


@functools.cache
def authority(name: str = "good") -> trustme.CA:
    """A certificate authority of the tests'; another one for another name."""
    return trustme.CA(organization_name=name)


@functools.cache
def server_context(kind: str) -> ssl.SSLContext:
    """A server's TLS context: a good certificate for localhost, or one with the fault that ``kind`` names."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate = {
        "good": lambda: authority().issue_cert("localhost", "127.0.0.1"),
        "wrong-host": lambda: authority().issue_cert("elsewhere.example.org"),
        "expired": lambda: authority().issue_cert("localhost", not_before=NOW - 9 * DAY, not_after=NOW - DAY),
        "not-yet": lambda: authority().issue_cert("localhost", not_before=NOW + DAY, not_after=NOW + 9 * DAY),
        "strange-authority": lambda: authority("strange").issue_cert("localhost"),
        "self-signed": lambda: trustme.CA(organization_name="localhost").issue_cert("localhost"),
    }[kind]()
    certificate.configure_cert(context)
    return context


class Server:
    """Takes one request a connection, remembers it, and answers as ``answering`` says; None answers nothing at all.

    ``requests`` holds what arrived, headers and body. ``greedy`` False answers before the body is read.
    """

    def __init__(
        self, answering: Answering, context: ssl.SSLContext | None = None, greedy: bool = True, port: int = 0
    ) -> None:
        self.answering = answering
        self.requests: list[bytes] = []
        self._context = context
        self._greedy = greedy
        self._listening = socket.create_server(("127.0.0.1", port))
        self.port: int = self._listening.getsockname()[1]
        self._stop = threading.Event()

    @property
    def url(self) -> str:
        """Where it is, by the name in its certificate."""
        return f"{'http' if self._context is None else 'https'}://localhost:{self.port}"

    def serve(self) -> None:
        while not self._stop.is_set():
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with contextlib.suppress(OSError), connection:
                connection.settimeout(10)
                self._handle(connection)

    def _handle(self, connection: socket.socket) -> None:
        if self._context is None:
            self._answer(connection)
            return
        with self._context.wrap_socket(connection, server_side=True) as stream:
            self._answer(stream)
            with contextlib.suppress(OSError):
                stream.unwrap()

    def _answer(self, stream: socket.socket) -> None:
        request = b""
        while b"\r\n\r\n" not in request:
            more = stream.recv(65536)
            if not more:
                return
            request += more
        head, _, body = request.partition(b"\r\n\r\n")
        lengths = [int(line[16:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length: ")]
        while self._greedy and len(body) < sum(lengths):
            more = stream.recv(65536)
            if not more:
                return  # cut off: not a request
            body += more
        self.requests.append(head + b"\r\n\r\n" + body)
        answer = self.answering(self.requests[-1])
        if answer is None:
            stream.recv(1)  # silent until the other side gives up
            return
        stream.sendall(answer)

    def stop(self) -> None:
        self._stop.set()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()


@contextmanager
def serving(answering: Answering, context: ssl.SSLContext | None = None, **keys: Any) -> Iterator[Server]:
    """A server that runs in a thread."""
    server = Server(answering, context, **keys)
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()


def response(status: int, *headers: str, body: bytes = b"") -> bytes:
    """A whole HTTP answer."""
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
