"""The parent of the workers: holds the lock and the ports, starts them, starts again one that died, has them read
things again on SIGHUP, stops them all.
"""

from __future__ import annotations

import contextlib
import logging
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, cast

from prometheus_client import multiprocess

from hubbub_collector.admin import Admin
from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.lock import exclusive
from hubbub_collector.quarantine_listing import list_quarantine, rows
from hubbub_collector.reloads import Reloads
from hubbub_collector.sockets import bound_socket, reserve, shown
from hubbub_collector.status import RUNNING, STOPPING, Status
from hubbub_collector.worker import WorkerSettings
from hubbub_collector.worker_store import WorkerStore

log = logging.getLogger("hubbub.collector")

MAX_DEATHS = 5
DEATHS_WITHIN = 60.0
"""More than MAX_DEATHS workers dying within this many seconds end the collector: restarting does not help."""
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
        )
        self._count = count
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._starting: int | None = None
        self._deaths: deque[float] = deque(maxlen=MAX_DEATHS)
        self._stop = threading.Event()
        self._hangup = threading.Event()
        self._admin = admin

    def run(self) -> None:
        """Runs until SIGTERM or SIGINT, then stops the workers gracefully. Prints the address once all are ready.

        Raises CollectorError where the data directory or the port cannot be used, or the workers keep dying.
        """
        data = DataDirectory(Path(self._settings.data))
        with exclusive(data.collector_lock, "collector") as lock:
            for number in range(self._count):  # here, where an error can still be told plainly
                WorkerStore(data, number, self._settings.late).close()
            with (
                reserve(self._settings.host, self._settings.port) as port,
                tempfile.TemporaryDirectory(prefix="hubbub-metrics-") as metrics,
            ):
                status = Status(metrics)
                reloads = Reloads(self._settings, Path(metrics), status.reloaded)
                self._settings = replace(reloads.settings(), port=port.getsockname()[1])
                for number in (signal.SIGTERM, signal.SIGINT):
                    signal.signal(number, lambda *_: self._stop.set())
                signal.signal(signal.SIGHUP, lambda *_: self._hangup.set())
                with self._administration(status, data) as addresses:
                    try:
                        for worker in range(self._count):
                            if not self._stop.is_set():
                                self._start(worker, lock, metrics)
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
    def _administration(self, status: Status, data: DataDirectory) -> Iterator[list[str]]:
        """Serves the operator for as long as the block lasts; yields the lines to print about it."""
        if self._admin is None:
            yield []
            return
        host, port = self._admin
        with bound_socket(host, port, shared=False) as listening:
            admin = Admin(listening, status, lambda: rows(list_quarantine(data)))
            try:
                yield [f"admin on http://{shown(host, listening.getsockname()[1])}"]
            finally:
                admin.close()

    def _start(self, number: int, lock: int, metrics: str) -> None:
        """Starts worker ``number`` and waits until it listens. It inherits the lock, so that the data directory stays
        locked until the last worker has gone, whatever became of the parent.
        """
        process = subprocess.Popen(  # noqa: S603 - the command is ours
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(lock,),
            env={**os.environ, "PROMETHEUS_MULTIPROC_DIR": metrics},
        )
        self._processes[number] = process
        self._starting = number
        told, heard = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
        with contextlib.suppress(BrokenPipeError):  # it is dead already, which the answer will show
            told.write(replace(self._settings, number=number).to_json().encode() + b"\n")
            told.flush()
        if self._hear_ready(number, heard):
            self._starting = None
        elif not self._stop.is_set():
            raise CollectorError(f"worker {number} did not start; what it said is above")

    def _hear_ready(self, number: int, heard: IO[bytes]) -> bool:
        """Waits for the worker's line, but no longer than it may take, and not once the collector is to stop."""
        deadline = time.monotonic() + self._start_seconds
        line = b""
        while not self._stop.is_set():
            if time.monotonic() > deadline:
                raise CollectorError(
                    f"worker {number} did not start within {self._start_seconds:g} seconds; start the collector again "
                    "when the machine is less busy, and see that its disk answers"
                )
            if select.select([heard], [], [], 0.1)[0]:
                said = os.read(heard.fileno(), 64)
                line += said
                if not said or line.endswith(b"\n"):
                    return line == b"ready\n"
        return False

    def _watch(self, lock: int, metrics: str, status: Status, reloads: Reloads) -> None:
        while not self._stop.wait(0.2):
            if self._hangup.is_set():
                self._hangup.clear()
                self._tell(reloads.run())
            for number, process in list(self._processes.items()):
                code = process.poll()
                if code is None or self._stop.is_set():
                    continue
                _close(process)
                multiprocess.mark_process_dead(process.pid, metrics)  # type: ignore[no-untyped-call]
                now = time.monotonic()
                if len(self._deaths) == MAX_DEATHS and now - self._deaths[0] < DEATHS_WITHIN:
                    raise CollectorError(f"worker {number} ended with {code}, the last of many; what it said is above")
                self._deaths.append(now)
                log.error("worker %d ended with %d; starting it again", number, code)
                status.died()
                status.listens(self._count - 1)
                self._start(number, lock, metrics)
                status.listens(self._count)

    def _tell(self, what: list[str]) -> None:
        """Has every worker read again what is named."""
        for process in self._processes.values():
            with contextlib.suppress(OSError):  # it is dead, and its successor reads everything
                told = cast(IO[bytes], process.stdin)
                told.write("".join(f"{name}\n" for name in what).encode())
                told.flush()

    def _stop_all(self) -> None:
        for number, process in self._processes.items():
            _close(process)  # standard input at its end means: stop
            if number == self._starting:  # it never listened, and may hang
                process.kill()
        deadline = time.monotonic() + self._stop_seconds
        for number, process in self._processes.items():
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                log.error("worker %d did not stop within %g seconds; it is killed", number, self._stop_seconds)
                process.kill()
                process.wait()


def _close(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None and not pipe.closed:
            pipe.close()
