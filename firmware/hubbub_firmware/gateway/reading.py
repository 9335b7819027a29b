"""Lines out of a serial device or standard input, of which no more than one is held in memory."""

from __future__ import annotations

import os
import select
import sys
import threading
from collections.abc import Callable, Iterator

import serial

from hubbub_firmware.bridge.errors import BridgeError
from hubbub_firmware.gateway.lines import MOST_LINE_BYTES

_LOOK_EVERY = 0.5  # seconds


def standard_input(stop: threading.Event) -> Iterator[bytes]:
    """The lines of standard input until it ends, or ``stop`` is set."""
    descriptor = sys.stdin.fileno()

    def read() -> bytes | None:
        if not select.select([descriptor], [], [], _LOOK_EVERY)[0]:
            return b""
        return os.read(descriptor, MOST_LINE_BYTES) or None

    return lines_of(read, stop)


def serial_device(name: str, baud: int, stop: threading.Event) -> Iterator[bytes]:
    """The lines of the serial device ``name`` until ``stop`` is set. Raises BridgeError where it cannot be opened, and,
    while lines are read, where it is gone."""
    try:
        port = serial.Serial(name, baud, timeout=_LOOK_EVERY)
    except (serial.SerialException, ValueError) as error:
        raise BridgeError(f"{name}: the serial device cannot be opened ({error})") from None

    def read() -> bytes | None:
        try:
            return port.read(max(1, min(port.in_waiting, MOST_LINE_BYTES)))
        except (serial.SerialException, OSError) as error:
            raise BridgeError(f"{name}: the serial device is gone ({type(error).__name__})") from None

    return lines_of(read, stop)


def lines_of(read: Callable[[], bytes | None], stop: threading.Event) -> Iterator[bytes]:
    """Lines of what ``read`` gives: some bytes, none where there are none yet, None at the end.

    Of a line that is too long only the start is given, which take_lines counts as none.
    """
    line = bytearray()
    while not stop.is_set():
        some = read()
        for piece in (some or b"").splitlines(keepends=True):
            line += piece[: MOST_LINE_BYTES + 1 - len(line)]
            if piece.endswith(b"\n"):
                yield bytes(line)
                line.clear()
        if some is None:
            if line:
                yield bytes(line)
            return
