"""Runs hubbub's own commands one after another, as a person would type them, and shows each."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from hubbub_client.errors import HubbubError

PROGRAM = [sys.executable, "-m", "hubbub_registry"]
_STOP_SECONDS = 20


class DemoError(HubbubError):
    """A step of the demonstration that failed; its own message is above."""


def show(console: Console, *words: str) -> None:
    """Prints the command that is about to run."""
    console.print(f"[bold cyan]$ hubbub {' '.join(words)}[/]", highlight=False)


def command(console: Console, *words: str) -> str:
    """Runs one command; its progress goes to the terminal, its output is returned. Raises DemoError."""
    show(console, *words)
    done = subprocess.run([*PROGRAM, *words], stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603 - our own
    if done.returncode:
        raise DemoError(f"hubbub {words[0]} ended with {done.returncode}")
    return done.stdout


def decode(console: Console, registry: Path, metric: str, data: Path) -> dict[str, Any]:
    """The estimates of one metric, as the decoder's JSON document."""
    document: dict[str, Any] = json.loads(
        command(console, "decode", str(registry), metric, "--data", str(data), "--format", "json")
    )
    return document


@contextmanager
def collector(console: Console, registry: Path, data: Path, *more: str) -> Iterator[str]:
    """A running collector on a free loopback port, as its URL. It is stopped at the end, whatever happens."""
    words = ["collect", str(registry), "--data", str(data), "--port", "0", *more]
    show(console, *words)
    with subprocess.Popen([*PROGRAM, *words], stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own
        try:
            assert process.stdout is not None  # noqa: S101 - a pipe was asked for
            line = process.stdout.readline()
            if "listening on " not in line:
                raise DemoError("the collector did not start")
            yield line.split("listening on ", 1)[1].split()[0]
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
