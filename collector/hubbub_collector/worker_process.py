"""One process of the workers, as its parent sees it: it is starting, then it listens, then it has ended."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, cast

from hubbub_collector.worker import WorkerSettings


class WorkerProcess:
    """``listens`` and ``failed`` are as ``hear`` last heard; ``began`` is when it began, on the monotonic clock."""

    def __init__(self, command: Sequence[str], settings: WorkerSettings, lock: int, metrics: Path) -> None:
        """Starts it. It inherits the lock, so that the data directory stays locked until the last worker has gone,
        whatever became of the parent. Raises OSError.
        """
        self.began = time.monotonic()
        self.listens = False
        self.failed = False
        self._line = b""
        # SIGHUP is for the parent, and some send it to all: the worker inherits that it does not come.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the command is ours
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                pass_fds=(lock,),
                env={**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(metrics)},
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self.tell(settings.to_json())

    def tell(self, line: str) -> None:
        """Writes a line to its standard input. Where it is dead, nothing happens: its successor is told everything."""
        told = cast(IO[bytes], self._process.stdin)
        with contextlib.suppress(OSError):
            told.write(line.encode() + b"\n")
            told.flush()

    def hear(self, seconds: float = 0) -> None:
        """Waits for up to ``seconds`` for it to say that it listens; ``failed`` where it says anything else or ends."""
        heard = cast(IO[bytes], self._process.stdout)
        if self.listens or self.failed or not select.select([heard], [], [], seconds)[0]:
            return
        said = os.read(heard.fileno(), 64)
        self._line += said
        self.listens = self._line == b"ready\n"
        self.failed = not self.listens and (not said or self._line.endswith(b"\n"))

    def ended(self) -> int | None:
        """Its exit status, None while it runs."""
        return self._process.poll()

    def kill(self) -> None:
        """Ends it at once."""
        self._process.kill()

    def close(self) -> None:
        """Closes its pipes; standard input at its end means: stop."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None and not pipe.closed:
                with contextlib.suppress(OSError):  # what was not taken by one that is dead
                    pipe.close()

    def wait(self, seconds: float) -> bool:
        """Whether it ends within ``seconds``; otherwise it is killed."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return False
        return True
