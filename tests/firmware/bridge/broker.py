"""A real mosquitto on a free loopback port, which keeps its sessions over a restart."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("mosquitto") or "/usr/sbin/mosquitto"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


class Broker:
    """Started and stopped by hand, or by ``with``."""

    def __init__(self, folder: Path, *lines: str) -> None:
        if not Path(PROGRAM).exists():
            raise RuntimeError("mosquitto is missing; run tests/firmware/install_mosquitto.sh")
        self.port = free_port()
        self._configuration = folder / "mosquitto.conf"
        settings = [
            f"listener {self.port} 127.0.0.1", "allow_anonymous true", "persistence true",
            f"persistence_location {folder}/", "autosave_interval 1", "autosave_on_changes true",
            "max_queued_messages 0", "user root", "log_dest none", *lines,
        ]  # fmt: skip
        self._configuration.write_text("\n".join(settings) + "\n")
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Returns once it takes connections."""
        self._process = subprocess.Popen([PROGRAM, "-c", str(self._configuration)])
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
            except OSError:
                assert self._process.poll() is None, "mosquitto ended"
                time.sleep(0.02)
            else:
                return
        raise AssertionError("mosquitto takes no connection")

    def stop(self) -> None:
        """Ends it, with its state on disk."""
        if self._process is not None:
            self._process.terminate()
            assert self._process.wait(10) == 0
            self._process = None

    def __enter__(self) -> Broker:
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()
