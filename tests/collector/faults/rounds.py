"""Rounds of a real collector under load, each of which ends by a kill at a random moment."""

from __future__ import annotations

import asyncio
import fcntl
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hubbub_collector.layout import DataDirectory
from hubbub_registry import load_registry

from tests.collector.faults.senders import Senders
from tests.collector.faults.verdict import Verdict, judge
from tests.collector.server_process import HUBBUB, Collector
from tests.registries import write_registry

KINDS = ("collector", "worker", "sealer", "collector and sealer", "stop")
"""What a round ends by. ``stop`` is SIGTERM; all others are SIGKILL."""
_CONNECTIONS = 16
_WORKERS = "2"


def faulty(fault: str) -> list[str]:
    """The command of a collector with that fault; see ``broken.py``."""
    return [sys.executable, "-m", "tests.collector.faults.broken", fault]


@dataclass
class Outcome:
    """What was done to the collector, and what became of the uploads."""

    kinds: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    seals: int = 0
    """Runs of the sealer that were left to end."""
    seconds: float = 0.0
    verdict: Verdict = field(default_factory=Verdict)


class Rounds:
    """Rounds on one data directory in ``folder``, which is empty. ``hubbub`` is the command under test."""

    def __init__(self, folder: Path, seed: int, hubbub: Sequence[str] = HUBBUB) -> None:
        self._hubbub = list(hubbub)
        self._dice = random.Random(seed)
        sketch: dict[str, Any] = {"mechanism": "count-mean-sketch"}
        self._registry = write_registry(folder / "registry.toml", {"sketch": sketch})
        self._newer = write_registry(folder / "newer.toml", {"sketch": sketch, "later": {**sketch, "hashes": 32}})
        self._metrics = list(load_registry(self._newer).metrics.values())
        self._data = DataDirectory(folder / "data")
        self._said = folder / "said"
        self.senders = Senders(self._metrics[0], self._metrics[1], self._dice)

    def run(self, rounds: int, tell: Callable[[str], None] = lambda kind: None) -> Outcome:
        """Plays the rounds, seals what is left, and judges. ``tell`` is called after each round with its kind."""
        outcome = Outcome()
        began = time.monotonic()
        for number in range(rounds):
            kind = KINDS[number % len(KINDS)] if number < len(KINDS) else self._dice.choice(KINDS)
            asyncio.run(self._round(kind, outcome))
            outcome.kinds[kind] += 1
            tell(kind)
        done = subprocess.run(self._seal(self._newer), capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"the last seal failed: {done.stderr}")
        outcome.verdict = judge(self._data, self._metrics, self.senders)
        outcome.seconds = time.monotonic() - began
        return outcome

    def _seal(self, registry: Path) -> list[str]:
        return [*self._hubbub, "seal", str(registry), "--data", str(self._data.root), "--all", "--min-batch", "1"]

    async def _round(self, kind: str, outcome: Outcome) -> None:
        command = [*self._hubbub, "collect", str(self._registry), "--data", str(self._data.root), "--port", "0"]
        with (
            open(self._said, "a") as said,
            subprocess.Popen(
                [*command, "--workers", _WORKERS],
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
                start_new_session=True,
            ) as process,
        ):
            sealer: subprocess.Popen[bytes] | None = None
            try:
                collector = await asyncio.to_thread(Collector, process)
                until = asyncio.Event()
                running = asyncio.create_task(self.senders.run(collector.url, _CONNECTIONS, until))
                await asyncio.sleep(self._dice.uniform(0.05, 0.6))
                if kind == "worker":
                    os.kill(self._dice.choice(collector.workers()), signal.SIGKILL)
                    await asyncio.sleep(self._dice.uniform(0.0, 1.5))
                elif kind in ("sealer", "collector and sealer"):
                    sealer = await self._start_sealer(said.fileno())
                    await asyncio.sleep(self._dice.uniform(0.0, 0.4))
                if kind == "sealer" and sealer is not None:
                    outcome.seals += sealer.poll() is not None
                    sealer.kill()
                    await asyncio.sleep(self._dice.uniform(0.0, 0.3))
                if kind == "stop":
                    process.terminate()
                    if status := await asyncio.to_thread(process.wait, 60):
                        raise RuntimeError(f"the collector ended with {status} on SIGTERM: {self._said.read_text()}")
                else:
                    collector.kill_all()
                until.set()
                await running
                if sealer is not None and kind != "sealer":
                    if self._dice.random() < 0.5:
                        sealer.kill()
                    outcome.seals += await asyncio.to_thread(sealer.wait, 60) == 0
            finally:
                if sealer is not None:
                    sealer.kill()
                    sealer.wait(10)
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)

    async def _start_sealer(self, said: int) -> subprocess.Popen[bytes]:
        """A sealer that has begun to work, or has ended already."""
        sealer = subprocess.Popen(self._seal(self._registry), stdout=subprocess.DEVNULL, stderr=said)
        while sealer.poll() is None and not _held(self._data.seal_lock):
            await asyncio.sleep(0.005)
        return sealer


def _held(lock: Path) -> bool:
    """Whether a process holds the lock. Asks for a shared one, which keeps a sealer out for a moment at most."""
    if not lock.exists():
        return False
    with open(lock) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
