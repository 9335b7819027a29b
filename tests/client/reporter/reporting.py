"""What the reporter's tests share: plans, transports that remember, storage that fails."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack

from hubbub_client import Answer, MemoryStorage, Plan, Reporter

from tests.registries import registry_of

NOW = 1_800_000_000
DAY = 86_400


_PLANS: dict[str, Plan] = {}


def plan_of(**metrics: dict[str, Any]) -> Plan:
    """A plan of these metrics, in the terms of tests.registries."""
    if repr(metrics) not in _PLANS:
        with tempfile.TemporaryDirectory() as folder:
            _PLANS[repr(metrics)] = registry_of(Path(folder), **metrics).plan
    return _PLANS[repr(metrics)]


def sketch_plan(reports: int = 1, lifetime: int = 10_000) -> Plan:
    """One metric ``m`` whose records (22 bytes, mostly noise) are never twice the same."""
    return plan_of(
        m={"mechanism": "count-mean-sketch", "reports_per_period": reports, "lifetime_epsilon": lifetime, "epsilon": 1}
    )


class Noise:
    """A byte source that never repeats and is the same in each run."""

    def __init__(self) -> None:
        self._calls = 0

    def __call__(self, count: int) -> bytes:
        self._calls += 1
        return hashlib.shake_128(self._calls.to_bytes(8, "big")).digest(count)


class Collector:
    """A transport that remembers what it was sent and gives the answers it was told to, then 200."""

    def __init__(self, *answers: Answer | Exception) -> None:
        self.bodies: list[bytes] = []
        self._answers = list(answers)

    def send(self, body: bytes) -> Answer:
        self.bodies.append(body)
        answer = self._answers.pop(0) if self._answers else Answer(200)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def uploads(self) -> dict[bytes, list[tuple[bytes, int, bytes]]]:
        """Upload id -> its batches; fails where one id came with two contents."""
        found: dict[bytes, bytes] = {}
        for body in self.bodies:
            upload_id = msgpack.unpackb(body)[1]
            assert found.setdefault(upload_id, body) == body
        return {
            upload_id: [(f, p, r) for f, p, r in msgpack.unpackb(body)[2]] for upload_id, body in found.items()
        }  # fmt: skip

    def records(self, width: int) -> list[bytes]:
        """Every record that arrived, one upload counted once."""
        return [
            records[at : at + width]
            for batches in self.uploads().values()
            for _, _, records in batches
            for at in range(0, len(records), width)
        ]


class PowerCut(BaseException):
    """The device dies here."""


class FailingStorage(MemoryStorage):
    """Storage whose operation number ``at`` fails with ``failure``, before it happened, half way, or after."""

    def __init__(self, at: int, how: str, failure: Callable[[], BaseException], files: dict[str, bytes]) -> None:
        super().__init__()
        self.files = files
        self.log: list[str] = []
        self._at = at
        self._how = how
        self._failure = failure

    @property
    def operations(self) -> int:
        return len(self.log)

    def _step(self, operation: str, change: Callable[[], None], half: Callable[[], None]) -> None:
        self.log.append(operation)
        if len(self.log) != self._at:
            change()
            return
        if self._how == "after":
            change()
        elif self._how == "half":
            half()
        raise self._failure()

    def write(self, name: str, data: bytes) -> None:
        self._step("write", lambda: MemoryStorage.write(self, name, data), lambda: None)

    def append(self, name: str, data: bytes) -> None:
        part = data[: len(data) // 2]
        self._step(
            "append", lambda: MemoryStorage.append(self, name, data), lambda: MemoryStorage.append(self, name, part)
        )

    def rename(self, old: str, new: str) -> None:
        self._step("rename", lambda: MemoryStorage.rename(self, old, new), lambda: None)

    def remove(self, name: str) -> None:
        self._step("remove", lambda: MemoryStorage.remove(self, name), lambda: None)

    def read(self, name: str) -> bytes | None:
        self._step("read", lambda: None, lambda: None)
        return super().read(name)

    def names(self) -> list[str]:
        self._step("names", lambda: None, lambda: None)
        return super().names()


def reporter_of(plan: Plan, state: Any = None, transport: Any = None, **keys: Any) -> Reporter:
    """A reporter on memory that stands at NOW, with a source that repeats in each run, and never sleeps."""
    given = {"clock": lambda: NOW, "source": Noise(), "sleep": lambda _: None, **keys}
    return Reporter(
        plan,
        state=MemoryStorage() if state is None else state,
        transport=Collector() if transport is None else transport,
        **given,
    )
