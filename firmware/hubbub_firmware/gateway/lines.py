"""Frames as lines of text, one a line: from a serial device or from standard input.

A line is the frame in hexadecimal or base64; or an id and the frame; or an id, a sequence number and the frame, with
spaces between them. Id and number only serve to tell a repetition, and are not kept. Without a number every line
counts: randomised frames of one sensor are often alike, and dropping those that are would bias the estimates.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from base64 import b64decode
from collections.abc import Callable, Iterable

from hubbub_firmware.gateway.frames import ClockError, FrameError
from hubbub_firmware.gateway.intake import Intake
from hubbub_firmware.gateway.store import FullError

MOST_LINE_BYTES = 512
_RETRY_SECONDS = 5

log = logging.getLogger(__name__)
Decoding = Callable[[str], bytes]


def _base64(text: str) -> bytes:
    return b64decode(text, validate=True)


ENCODINGS: dict[str, Decoding] = {"hex": bytes.fromhex, "base64": _base64}


def take_lines(lines: Iterable[bytes], encoding: str, intake: Intake, stop: threading.Event) -> None:
    """Takes each line until they end or ``stop`` is set. A line that is none is counted.

    A frame that cannot be kept now (a full or broken disk, a clock that is not set) is tried again until it can: the
    next line is not read meanwhile, and whoever writes them waits.
    """
    for line in lines:
        if stop.is_set():
            return
        if not line.strip():
            continue
        *name, text = line.decode("ascii", "replace").split()
        try:
            if len(line) > MOST_LINE_BYTES or len(name) > 2:
                raise ValueError
            repetition = f"{name[0]} {int(name[1])}" if len(name) == 2 else None
            frame = ENCODINGS[encoding](text)
        except ValueError:
            intake.refuse("line")
            continue
        _take(frame, repetition, intake, stop)


def _take(frame: bytes, repetition: str | None, intake: Intake, stop: threading.Event) -> None:
    while not stop.is_set():
        try:
            intake.take(frame, None, repetition)
        except FrameError:
            return  # it is counted
        except (ClockError, FullError, sqlite3.Error) as error:
            log.warning("a frame could not be kept (%s); trying again", type(error).__name__)
            stop.wait(_RETRY_SECONDS)
        else:
            return
