"""Runs a built folder's loop on the real interpreter, with what a test changes of the board."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hubbub_firmware.build.interpreter import find_interpreter
from hubbub_firmware.build.receivers import Receiver, receiver

from tests.firmware.build.folders import HEAP, folder_of

METRICS: dict[str, dict[str, Any]] = {
    "band": {"mechanism": "randomized-response", "reports_per_period": 100},
    "level": {"mechanism": "one-bit-mean", "low": -20, "high": 60, "lifetime_epsilon": 10000},
}
_PROGRAM = """\
import sys
import board
from hubbub_firmware.loop import run

READINGS = {readings!r}


def read():
    return READINGS


{setup}
print("ran", run(board, read, rounds={rounds}))
"""


@dataclass
class Board:
    """A folder, and where its reports arrive."""

    folder: Path
    receiver: Receiver
    settings: dict[str, Any] = field(default_factory=dict)

    def run(
        self,
        readings: list[tuple[str, object]] | None = None,
        setup: str = "",
        rounds: int = 1,
        words: list[str] | None = None,
    ) -> str:
        """The console of one start of the board, which reads ``readings`` in each of ``rounds``.

        ``words`` is another interpreter than MicroPython with little memory.
        """
        text = _PROGRAM.format(readings=[("band", "a")] if readings is None else readings, setup=setup, rounds=rounds)
        (self.folder / "main.py").write_text(text)
        done = subprocess.run(
            [*(words or [find_interpreter(), "-X", f"heapsize={HEAP}"]), "main.py"],
            cwd=self.folder, env={**os.environ, "MICROPYPATH": ":.frozen:lib", "PYTHONPATH": "lib"},
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
        return done.stdout

    def set(self, **settings: Any) -> None:
        """Changes the board's settings."""
        self.settings.update(settings)
        (self.folder / "settings.json").write_text(json.dumps(self.settings))

    def state(self, name: str) -> Path:
        """A file of the board's state."""
        return self.folder / "state" / name

    def reports(self) -> int:
        """How many uploads arrived."""
        return len(self.receiver.sizes)

    def troubles(self) -> Mapping[str, int]:
        """The troubles that arrived, added up."""
        total: dict[str, int] = {}
        for counts in self.receiver.troubles:
            for reason, count in counts.items():
                total[reason] = total.get(reason, 0) + count
        return total


def built(place: Path) -> Path:
    """A folder for all tests of a module to copy."""
    return folder_of(place, METRICS, mpy=True)


@contextmanager
def board(original: Path, place: Path) -> Iterator[Board]:
    """A board with a copy of a built folder, whose reports arrive at a collector of a test's own."""
    shutil.copytree(original, place / "flash")
    with receiver("https") as where:
        made = Board(place / "flash", where)
        made.set(collector=f"http://127.0.0.1:{where.port}", plain=True)
        yield made
