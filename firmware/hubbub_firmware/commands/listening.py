"""Addresses on a command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable


def address(default_port: int | None = None) -> Callable[[str], tuple[str, int]]:
    """Reads ``HOST:PORT``, or ``HOST`` where there is a default port. Raises ArgumentTypeError."""

    def read(text: str) -> tuple[str, int]:
        host, colon, port = text.rpartition(":")
        if not colon and default_port is not None:
            host, port = text, str(default_port)
        if not host or not port.isdecimal() or not port.isascii() or int(port) > 65535:
            raise argparse.ArgumentTypeError(f"{text!r} is not an address: write HOST:PORT")
        return host.strip("[]"), int(port)

    return read
