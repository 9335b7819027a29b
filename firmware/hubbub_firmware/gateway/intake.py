"""One frame at a time: checked, told from a repetition, and on stable storage before anybody is told that it is."""

from __future__ import annotations

import threading
from collections.abc import Callable

from hubbub_client.clock import unix_time
from hubbub_firmware.gateway.counters import GatewayCounters
from hubbub_firmware.gateway.duplicates import Duplicates
from hubbub_firmware.gateway.frames import ClockError, FrameError, FrameReader, FrameReport
from hubbub_firmware.gateway.store import FullError, GatewayStore

ACCEPTED = "accepted"
DUPLICATE = "duplicate"
TROUBLE = "trouble"


class Intake:
    """Takes frames into ``store``. Safe for several threads: they go one after another, so that a repetition which
    comes while the first is being stored waits for it, and is not acknowledged unless that one is."""

    def __init__(
        self,
        reader: FrameReader,
        store: GatewayStore,
        counters: GatewayCounters,
        repetition_seconds: int = 600,
        clock: Callable[[], int] = unix_time,
    ) -> None:
        self._reader = reader
        self._store = store
        self._counters = counters
        self._clock = clock
        self._duplicates = Duplicates(repetition_seconds)
        self._lock = threading.Lock()

    def take(self, frame: bytes, port: int | None = None, repetition: str | None = None) -> str:
        """Keeps what a frame says: ACCEPTED or TROUBLE; or DUPLICATE where this ``repetition`` was here lately.

        ``repetition`` is another one for each transmission, so it holds a counter of the sensor's; None where the link
        has no such thing. A sensor's name alone would not do: its reports are often alike, and each counts.

        Raises FrameError for a frame that never will be taken; ClockError, FullError and sqlite3.Error for one that may
        be, later. All are counted.
        """
        with self._lock:
            try:
                outcome = self._take(frame, port, repetition)
            except FrameError as error:
                self._counters.frames.labels(error.reason).inc()
                raise
            except (ClockError, FullError) as error:
                self._counters.frames.labels("clock" if isinstance(error, ClockError) else "full").inc()
                raise
            except Exception:
                self._counters.frames.labels("storage").inc()
                raise
            self._counters.frames.labels(outcome).inc()
            self._counters.waiting.set(self._store.waiting)
            return outcome

    def refuse(self, reason: str) -> None:
        """Counts what was no frame at all."""
        self._counters.frames.labels(reason).inc()

    def _take(self, frame: bytes, port: int | None, repetition: str | None) -> str:
        said = self._reader.read(frame, port, self._clock())
        token = None if repetition is None else self._duplicates.token(repetition, frame)
        if token is not None and self._duplicates.seen(token):
            return DUPLICATE
        self._store.add([said])
        if token is not None:
            self._duplicates.add(token)
        return ACCEPTED if isinstance(said, FrameReport) else TROUBLE
