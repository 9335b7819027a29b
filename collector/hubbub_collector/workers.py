"""The parent of the workers: holds the lock and the ports, starts them, starts again one that died, has them read
things again on SIGHUP, stops them all.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from hubbub_collector.admin import Admin
from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.lock import exclusive
from hubbub_collector.metrics import forget_gauges
from hubbub_collector.open_store import kept_aside, prepare_stores
from hubbub_collector.quarantine_listing import rows
from hubbub_collector.reloads import Reloads
from hubbub_collector.run_folder import run_folder
from hubbub_collector.sockets import bound_socket, reserve, shown
from hubbub_collector.status import RUNNING, STOPPING, Status
from hubbub_collector.worker import WorkerSettings
from hubbub_collector.worker_process import WorkerProcess

log = logging.getLogger("hubbub.collector")

MAX_DEATHS = 5
DEATHS_WITHIN = 60.0
"""More than MAX_DEATHS workers dying within this many seconds, the last of them while no other listens, end the
collector: restarting does not help."""
_PAUSE_SECONDS = 5.0
"""Before a worker is started again that did not start, or after so many deaths."""
_FOLLOW_SECONDS = 1.0
START_SECONDS = 60.0
"""How long a worker may take until it listens."""
STOP_SECONDS = 60.0
"""How long a worker may take to finish what is in flight; then it is killed. Nothing acknowledged is lost by that."""
_COMMAND = (sys.executable, "-m", "hubbub_collector.worker")


class Workers:
    """Runs ``count`` workers like ``settings``, whose budgets are the whole collector's."""

    def __init__(
        self, settings: WorkerSettings, count: int, command: Sequence[str] = _COMMAND,
        start_seconds: float = START_SECONDS, stop_seconds: float = STOP_SECONDS,
        admin: tuple[str, int] | None = None,
    ) -> None:  # fmt: skip
        """``admin`` is the host and port of the operator's listener, None for no such listener."""
        self._command = list(command)
        self._start_seconds = start_seconds
        self._stop_seconds = stop_seconds
        self._settings = replace(
            settings,
            queue=settings.queue // count,
            disk=None if settings.disk is None else settings.disk // count,
            quarantine=settings.quarantine // count,
            share=count,
        )
        self._count = count
        self._processes: dict[int, WorkerProcess] = {}
        self._due: dict[int, float] = {}
        self._deaths: deque[float] = deque(maxlen=MAX_DEATHS)
        self._stop = threading.Event()
        self._hangup = threading.Event()
        self._admin = admin

    def run(self) -> None:
        """Runs until SIGTERM or SIGINT, then stops the workers gracefully. Prints the address once all are ready.

        Raises CollectorError where the data directory or the port cannot be used, or the workers keep dying.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._stop.set())
        signal.signal(signal.SIGHUP, lambda *_: self._hangup.set())  # one that comes early waits until all listen
        data = DataDirectory(Path(self._settings.data))
        with exclusive(data.collector_lock, "collector") as lock:
            prepare_stores(self._settings, self._count)
            with (
                reserve(self._settings.host, self._settings.port) as port,
                run_folder(data.run, self._count) as metrics,
            ):
                status = Status(str(metrics))
                reloads = Reloads(self._settings, status.reloaded)
                self._settings = replace(reloads.settings(), port=port.getsockname()[1])
                with self._administration(status) as addresses:
                    try:
                        for worker in range(self._count):
                            if not self._stop.is_set():
                                self._start(worker, lock, metrics)
                                self._await(worker)
                        if not self._stop.is_set():
                            status.listens(self._count)
                            status.phase = RUNNING
                            scheme = "http" if self._settings.tls_cert is None else "https"
                            address = shown(self._settings.host, self._settings.port)
                            print("\n".join([f"listening on {scheme}://{address}", *addresses]), flush=True)
                        self._watch(lock, metrics, status, reloads)
                    finally:
                        status.phase = STOPPING
                        self._stop_all()

    @contextlib.contextmanager
    def _administration(self, status: Status) -> Iterator[list[str]]:
        """Serves the operator for as long as the block lasts; yields the lines to print about it."""
        if self._admin is None:
            yield []
            return
        host, port = self._admin
        with bound_socket(host, port, shared=False) as listening:
            admin = Admin(listening, status, lambda: rows(kept_aside(self._settings)))
            try:
                yield [f"admin on http://{shown(host, listening.getsockname()[1])}"]
            finally:
                admin.close()

    def _start(self, number: int, lock: int, metrics: Path) -> None:
        """Starts worker ``number``. Raises OSError."""
        self._processes[number] = WorkerProcess(self._command, replace(self._settings, number=number), lock, metrics)

    def _await(self, number: int) -> None:
        """Waits until it listens, but no longer than it may take, and not once the collector is to stop."""
        process = self._processes[number]
        while not process.listens and not self._stop.is_set():
            if self._is_late(process):
                raise CollectorError(
                    f"worker {number} did not start within {self._start_seconds:g} seconds; start the collector again "
                    "when the machine is less busy, and see that its disk answers"
                )
            process.hear(0.1)
            if process.failed and not self._stop.is_set():
                raise CollectorError(f"worker {number} did not start; what it said is above")

    def _is_late(self, process: WorkerProcess) -> bool:
        return not process.listens and time.monotonic() - process.began > self._start_seconds

    def _watch(self, lock: int, metrics: Path, status: Status, reloads: Reloads) -> None:
        followed = time.monotonic()
        while not self._stop.wait(0.2):
            if self._hangup.is_set():
                self._hangup.clear()
                self._tell(reloads.run())
            if time.monotonic() - followed > _FOLLOW_SECONDS:
                followed = time.monotonic()
                reloads.follow()
            for number in range(self._count):
                self._look_after(number, lock, metrics, status)
            if (listening := self._listening()) != status.workers:
                status.listens(listening)

    def _look_after(self, number: int, lock: int, metrics: Path, status: Status) -> None:
        """Starts worker ``number`` again where it has ended, without waiting for it: the others are to be told things
        meanwhile. Raises CollectorError where restarting does not help and no worker listens.
        """
        process = self._processes.get(number)
        if process is None:
            if time.monotonic() >= self._due[number]:
                try:
                    self._start(number, lock, metrics)
                except OSError as error:
                    self._died(number, f"could not be started ({error.strerror})", status, listened=False)
            return
        process.hear()
        if self._is_late(process):
            log.error("worker %d did not start within %g seconds; it is killed", number, self._start_seconds)
            process.kill()
            process.wait(self._stop_seconds)
        code = process.ended()
        if code is not None and not self._stop.is_set():
            process.close()
            del self._processes[number]
            forget_gauges(metrics, number)
            self._died(number, f"ended with {code}", status, listened=process.listens)

    def _died(self, number: int, how: str, status: Status, *, listened: bool) -> None:
        status.died()
        now = time.monotonic()
        often = len(self._deaths) == MAX_DEATHS and now - self._deaths[0] < DEATHS_WITHIN
        if often and not self._listening():
            raise CollectorError(f"worker {number} {how}, the last of many; what it said is above")
        self._deaths.append(now)
        pause = 0.0 if listened and not often else _PAUSE_SECONDS
        self._due[number] = now + pause
        log.error("worker %d %s; starting it again%s", number, how, f" in {pause:g} seconds" if pause else "")

    def _listening(self) -> int:
        return sum(process.listens for process in self._processes.values())

    def _tell(self, what: list[str]) -> None:
        """Has every worker read again what is named."""
        for process in self._processes.values():
            for name in what:
                process.tell(name)

    def _stop_all(self) -> None:
        for process in self._processes.values():
            process.close()  # standard input at its end means: stop
            if not process.listens:  # it never listened, and may hang
                process.kill()
        deadline = time.monotonic() + self._stop_seconds
        for number, process in self._processes.items():
            if not process.wait(max(0.0, deadline - time.monotonic())):
                log.error("worker %d did not stop within %g seconds; it is killed", number, self._stop_seconds)
