"""Rounds of two hosts' collectors on one database under load, each of which ends by a crash at a random moment."""

from __future__ import annotations

import asyncio
import random
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hubbub_collector.layout import DataDirectory
from hubbub_registry import load_registry

from tests.collector.faults.senders import Senders
from tests.collector.faults.verdict import Verdict, judge
from tests.collector.postgres.server import Server
from tests.collector.server_process import HUBBUB, Collector
from tests.registries import write_registry

KINDS = ("host", "server", "sealer")
"""What is ended, by SIGKILL, or for the server by an immediate stop: a crash that the next start recovers from."""
_CONNECTIONS = 8


@dataclass
class Outcome:
    """What was done, and what became of the uploads."""

    kinds: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    verdict: Verdict = field(default_factory=Verdict)


class Rounds:
    """On the empty database ``url`` of ``server``, with everything else in ``folder``. The senders of both hosts keep
    what is unanswered in one place, so that a retry goes to either. ``hubbub`` is the command under test.
    """

    def __init__(self, server: Server, url: str, folder: Path, seed: int, hubbub: Sequence[str] = HUBBUB) -> None:
        self._server = server
        self._url = url
        self._folder = folder
        self._hubbub = list(hubbub)
        self._dice = random.Random(seed)
        sketch: dict[str, Any] = {"mechanism": "count-mean-sketch"}
        self._registry = write_registry(folder / "registry.toml", {"sketch": sketch})
        self._newer = write_registry(folder / "newer.toml", {"sketch": sketch, "later": {**sketch, "hashes": 32}})
        self._metrics = list(load_registry(self._newer).metrics.values())
        self._sealed = DataDirectory(folder / "sealed")
        self.senders = Senders(self._metrics[0], self._metrics[1], self._dice)

    def run(self, kinds: Sequence[str]) -> Outcome:
        """Plays a round of each of ``kinds``, seals what is left, and judges."""
        outcome = Outcome()
        for kind in kinds:
            asyncio.run(self._round(kind))
            outcome.kinds[kind] += 1
        done = subprocess.run(self._seal(self._newer), capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"the last seal failed: {done.stderr}")
        outcome.verdict = judge(self._sealed, self._metrics, self.senders)
        return outcome

    def _seal(self, registry: Path) -> list[str]:
        where = ["--data", str(self._sealed.root), "--store", self._url]
        return [*self._hubbub, "seal", str(registry), *where, "--all", "--min-batch", "1"]

    async def _round(self, kind: str) -> None:
        with open(self._folder / "said", "a") as said, ExitStack() as ended:
            hosts = await asyncio.gather(*[asyncio.to_thread(self._start, name, said, ended) for name in "ab"])
            until = asyncio.Event()
            running = [asyncio.create_task(self.senders.run(host.url, _CONNECTIONS, until)) for host in hosts]
            await asyncio.sleep(self._dice.uniform(0.3, 0.8))
            if kind == "host":
                hosts[0].kill_all()
            elif kind == "server":
                await asyncio.to_thread(self._server.stop)
                await asyncio.to_thread(self._server.start)
            else:
                sealer = subprocess.Popen(self._seal(self._registry), stdout=subprocess.DEVNULL, stderr=said)
                await self._kill_while_it_works(sealer)
            # Those that are left go on, and the retries of the others come to them.
            await asyncio.sleep(self._dice.uniform(0.5, 1.0))
            until.set()
            await asyncio.gather(*running)
            for host in hosts:
                if host.process.poll() is None:
                    host.kill_all()

    def _start(self, name: str, said: Any, ended: ExitStack) -> Collector:
        where = ["--data", str(self._folder / name), "--store", self._url, "--port", "0"]
        process = ended.enter_context(
            subprocess.Popen(
                [*self._hubbub, "collect", str(self._registry), *where],
                stdout=subprocess.PIPE, stderr=said, text=True, start_new_session=True,
            )
        )  # fmt: skip
        ended.callback(process.kill)  # runs before the wait
        return Collector(process)

    async def _kill_while_it_works(self, sealer: subprocess.Popen[bytes]) -> None:
        """Once it has its own database, after a random time."""
        while sealer.poll() is None and not self._sealed.seal_lock.exists():
            await asyncio.sleep(0.01)
        await asyncio.sleep(self._dice.uniform(0.0, 0.5))
        sealer.kill()
        await asyncio.to_thread(sealer.wait, 60)
