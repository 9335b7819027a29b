"""A server that says what a script tells it to, whatever it hears."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class RawServer:
    """After each thing it hears it says the next line of the script; ``b""`` closes, and None waits to be given up."""

    def __init__(self, script: Sequence[bytes | None], context: ssl.SSLContext | None, connections: int) -> None:
        self.heard = b""
        self._script = iter(script)
        self._context = context
        self._connections = connections
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]

    def serve(self) -> None:
        for _ in range(self._connections):
            with contextlib.suppress(OSError):
                connection, _ = self._listening.accept()
                with connection:
                    connection.settimeout(10)
                    if self._context is None:
                        self._talk(connection)
                    else:
                        with self._context.wrap_socket(connection, server_side=True) as stream:
                            self._talk(stream)

    def _talk(self, stream: socket.socket) -> None:
        while heard := stream.recv(65536):
            self.heard += heard
            if heard[:1] not in (b"\x10", b"\x32"):  # the rest of a packet
                continue
            line = next(self._script, b"")
            if line == b"":
                return
            if line is None:
                while stream.recv(65536):
                    pass
                return
            stream.sendall(line)

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()


@contextmanager
def talking(
    script: Sequence[bytes | None], context: ssl.SSLContext | None = None, connections: int = 1
) -> Iterator[RawServer]:
    server = RawServer(script, context, connections)
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()
