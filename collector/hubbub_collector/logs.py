"""What the collector writes to standard error: one line an event, as text or as JSON, never more than its message."""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from asyncio import AbstractEventLoop
from typing import Any

log = logging.getLogger("hubbub.collector")

FORMS = ("text", "json")


class _Lines(logging.Formatter):
    """An exception is told by its kind and its places: its message may quote what was sent, or from where."""

    command = "collect"

    def message(self, record: logging.LogRecord) -> str:
        """The event, with the exception that belongs to it if there is one."""
        said = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            said += f" ({_told(record.exc_info[1])})"
        return " ".join(said.splitlines())

    def format(self, record: logging.LogRecord) -> str:
        """One line of text."""
        return f"hubbub {self.command}: {self.message(record)}"


class _Json(_Lines):
    def __init__(self, worker: int | None) -> None:
        super().__init__()
        self._worker = worker

    def format(self, record: logging.LogRecord) -> str:
        when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        event = {
            "time": f"{when}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "worker": self._worker,
            "event": self.message(record),
        }
        return json.dumps(event, ensure_ascii=False)


def configure(form: str, worker: int | None = None, command: str = "collect") -> None:
    """Sends the log of this process to standard error, in one of ``FORMS``. ``worker`` is its number; the parent has
    none. ``command`` is what lines of text begin with.
    """
    handler = logging.StreamHandler(sys.stderr)
    lines = _Json(worker) if form == "json" else _Lines()
    lines.command = command
    handler.setFormatter(lines)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    for name in ("asyncio", "aiohttp"):  # they may name addresses and quote requests; what matters is logged by us
        logging.getLogger(name).setLevel(logging.CRITICAL)


def quiet_loop(loop: AbstractEventLoop, context: dict[str, Any]) -> None:  # noqa: ARG001 - asyncio's signature
    """For ``loop.set_exception_handler``: says that a callback failed, not with what."""
    error = context.get("exception")
    if isinstance(error, OSError):  # a connection or a handshake that broke: the other side's affair
        return
    log.error("defect: %s", _told(error) if error is not None else "a callback failed")


def _told(error: BaseException) -> str:
    places = [f"{frame.name} ({frame.filename}:{frame.lineno})" for frame in traceback.extract_tb(error.__traceback__)]
    return f"{type(error).__name__} in {' < '.join(reversed(places)) or 'an unknown place'}"
