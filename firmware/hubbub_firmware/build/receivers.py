"""Collectors for a check, on loopback: they take every upload, and know how large each was."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from io import BufferedIOBase


@dataclass
class Receiver:
    """What arrived at ``port``: the sizes of the uploads, and the troubles as they were told."""

    port: int
    sizes: list[int] = field(default_factory=list)
    troubles: list[dict[str, int]] = field(default_factory=list)

    def take(self, where: str, body: bytes) -> None:
        """Takes what came to a path or a topic."""
        if where.endswith("/reports"):
            self.sizes.append(len(body))
        elif where.endswith("/troubles"):
            self.troubles.append(json.loads(body))


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, handler: type[socketserver.StreamRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.taken = Receiver(self.server_address[1])


class _Http(socketserver.StreamRequestHandler):
    """One request a connection, which is all that a board makes."""

    def handle(self) -> None:
        path = self.rfile.readline().split(b" ")[1].decode()
        length = 0
        for line in iter(self.rfile.readline, b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        body = self.rfile.read(length)
        self.server.taken.take(path, body)  # type: ignore[attr-defined]
        answer = f"HTTP/1.1 200 OK\r\nDate: {formatdate(usegmt=True)}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        self.wfile.write(answer.encode())


class _Mqtt(socketserver.StreamRequestHandler):
    """A broker that accepts everybody and acknowledges every message. Source: MQTT 3.1.1, sections 2.2 and 3."""

    def handle(self) -> None:
        while first := self.rfile.read(1):
            body = self.rfile.read(_remaining(self.rfile))
            kind = first[0] >> 4
            if kind == 1:  # CONNECT
                self.wfile.write(b"\x20\x02\x00\x00")
            elif kind == 3:  # PUBLISH at QoS 1
                topic = 2 + int.from_bytes(body[:2], "big")
                self.server.taken.take(body[2:topic].decode(), body[topic + 2 :])  # type: ignore[attr-defined]
                self.wfile.write(b"\x40\x02" + body[topic : topic + 2])
            elif kind == 14:  # DISCONNECT
                return


def _remaining(file: BufferedIOBase) -> int:
    """The length of the rest of a packet: seven bits a byte, the lowest first."""
    length = shift = 0
    while byte := file.read(1):
        length |= (byte[0] & 0x7F) << shift
        shift += 7
        if byte[0] < 0x80:
            break
    return length


@contextmanager
def receiver(transport: str) -> Iterator[Receiver]:
    """A running collector (``https``, without TLS) or broker (``mqtt``); for ``frames`` there is nobody to run."""
    if transport == "frames":
        yield Receiver(0)
        return
    with _Server({"https": _Http, "mqtt": _Mqtt}[transport]) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield server.taken
        finally:
            server.shutdown()
            thread.join()
