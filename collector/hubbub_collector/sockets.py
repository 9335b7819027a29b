"""Listening sockets that several workers share (SO_REUSEPORT): the kernel deals connections out among them."""

from __future__ import annotations

import socket

from hubbub_collector.errors import CollectorError


def bound_socket(host: str, port: int, *, shared: bool = True) -> socket.socket:
    """A TCP socket bound to ``host`` and ``port`` (0: any free one), not listening yet. Raises CollectorError."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if shared:
                bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            bound.bind(address)
        except BaseException:
            bound.close()
            raise
    except OSError as error:
        raise CollectorError(
            f"{host}:{port}: cannot be listened on ({error.strerror}); choose another address or port"
        ) from None
    return bound


def reserve(host: str, port: int) -> socket.socket:
    """A shared socket that keeps the port for the workers without listening on it. Raises CollectorError.

    Sharing would also let two collectors of one user divide a port between them unnoticed, so the port is first tried
    unshared, which fails where anybody listens.
    """
    with bound_socket(host, port, shared=False) as trial:
        found: int = trial.getsockname()[1]
    return bound_socket(host, found)


def shown(host: str, port: int) -> str:
    """``host`` and ``port`` as they are written in a URL."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
