"""The real ``hubbub collect``, as processes of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

HUBBUB = [sys.executable, "-c", "import sys; from hubbub_registry.commands import main; sys.exit(main())"]


class Collector:
    """A running collector: its parent process and its address."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith(("listening on http://", "listening on https://")), line
        self.url = line.split()[-1]
        self.port = int(self.url.rpartition(":")[2])

    def admin(self) -> str:
        """The address of the operator's listener, where ``--admin`` was given: the line after the first."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("admin on http://"), line
        return line.split()[-1]

    def workers(self) -> list[int]:
        """The process ids of the workers."""
        pid = self.process.pid
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def kill_all(self) -> None:
        """SIGKILL to the parent and every worker at once, as if the machine had stopped."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    def stop(self) -> int:
        """SIGTERM; the exit status."""
        self.process.terminate()
        return self.process.wait(30)


@contextmanager
def collecting(
    registry: Path, data: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> Iterator[Collector]:
    """Runs a collector in a process group of its own; whatever is left of it at the end is killed."""
    command = [*HUBBUB, "collect", str(registry), "--data", str(data), "--port", "0", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True, env=environment
    ) as process:
        try:
            yield Collector(process)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def hubbub(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end."""
    return subprocess.run([*HUBBUB, *arguments], capture_output=True, text=True, timeout=60, check=False)
