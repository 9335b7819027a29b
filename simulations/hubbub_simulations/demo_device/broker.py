"""A real mosquitto, and the bridge from it to the collector."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from hubbub_simulations.demo.pipeline import PROGRAM, DemoError, show
from hubbub_simulations.demo_device.counters import counted, wait_until

_STOP_SECONDS = 20


@contextmanager
def broker(console: Console, folder: Path) -> Iterator[int]:
    """A running mosquitto on a free loopback port, as that port. Raises DemoError where there is none."""
    program = shutil.which("mosquitto") or "/usr/sbin/mosquitto"  # Debian keeps it off an ordinary user's path
    if not Path(program).exists():
        raise DemoError("mosquitto is missing; make demo-device installs it, as does: apt-get install mosquitto")
    port = free_port()
    settings = folder / "mosquitto.conf"
    # No limit on what waits for the bridge: a broker that drops what it said it took would lose reports.
    lines = [
        f"listener {port} 127.0.0.1",
        "allow_anonymous true",
        "max_queued_messages 0",
        "log_dest none",
        "user root",
    ]
    settings.write_text("\n".join(lines) + "\n")
    console.print(f"[bold cyan]$ mosquitto -c {settings}[/]", highlight=False)
    with _running([program, "-c", str(settings)]):
        wait_until(lambda: _answers(port), "mosquitto took no connection")
        yield port


@contextmanager
def bridge(console: Console, port: int, url: str) -> Iterator[None]:
    """A running ``hubbub bridge mqtt``, which has subscribed."""
    words = ["bridge", "mqtt", "--broker", f"127.0.0.1:{port}", "--collector", url, "--plain"]
    show(console, *words)
    metrics = free_port()
    with _running([*PROGRAM, *words, "--metrics", f"127.0.0.1:{metrics}"]):
        wait_until(lambda: counted(metrics, "hubbub_bridge_connections_total") > 0, "the bridge did not subscribe")
        yield


def free_port() -> int:
    """A loopback port that nobody has now."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


@contextmanager
def _running(words: list[str]) -> Iterator[None]:
    with subprocess.Popen(words, stderr=subprocess.DEVNULL) as process:  # noqa: S603 - our own
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
