"""Everything that reads bytes of a stranger, and what must hold whatever they are."""

from __future__ import annotations

import datetime
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack

from hubbub_collector.errors import Refusal
from hubbub_collector.shuffler import sealed_body
from hubbub_collector.troubles import BODY, read_troubles
from hubbub_collector.upload import MAX_PERIOD, Batch, Validator, pack
from hubbub_collector.window import Window
from hubbub_registry import load_registry

from tests.collector.uploads import NOW, TODAY
from tests.registries import write_registry

CORPUS = Path(__file__).with_name("corpus")
"""Inputs that reached something new, as the fuzzer found them."""
SECONDS = 2.0
"""An input may take this long, on a machine that does much else."""
TIMES, BASE = 74, 64 << 10
"""And this many times its size, and bytes, of memory: what a worker's bound reckons with."""
_TODAY_IS = datetime.datetime.fromtimestamp(NOW, datetime.UTC).date()
_METRICS: dict[str, dict[str, Any]] = {
    "sketch": {"mechanism": "count-mean-sketch"},
    "choice": {"mechanism": "randomized-response"},
    "brief": {"mechanism": "randomized-response", "expires": _TODAY_IS + datetime.timedelta(days=1)},
}


def _load() -> tuple[Validator, list[bytes]]:
    with tempfile.TemporaryDirectory(prefix="hubbub-fuzz-") as folder:
        metrics = load_registry(write_registry(Path(folder) / "registry.toml", _METRICS)).metrics
    sketch, choice, brief = (metrics[name] for name in _METRICS)
    known, wide, id = choice.fingerprint, sketch.fingerprint, bytes(range(16))
    width = sketch.device.record_bytes

    def one(fingerprint: bytes, period: int, content: bytes) -> bytes:
        return pack(id, [Batch(fingerprint, period, content)])

    seeds = [
        one(known, TODAY, b"\x04"), one(wide, TODAY, bytes(2 * width)), one(wide, TODAY, bytes(40 * width)),
        one(b"unknown!", TODAY, b"x"), one(known, TODAY, b"\x05"), one(known, TODAY, b"\x04" * 40 + b"\x07"),
        one(wide, TODAY, b"x"), one(known, TODAY + 9, b"\x04"), one(known, TODAY - 99, b"\x04"),
        one(brief.fingerprint, TODAY + 1, b"\x01"), one(known, TODAY, b""), one(b"short", TODAY, b"x"),
        one(known, MAX_PERIOD + 1, b"\x04"),
        pack(id, [Batch(known, TODAY, b"\x01"), Batch(known, TODAY - 99, b"\x01"), Batch(b"unknown!", 1, b"x")]),
        pack(id, []), pack(b"short", []),
        *map(msgpack.packb, ([2, id, [[known, 1, b"x"]]], [1, id, [[known, 1]]], [1, id], {}, "text", 1.5, None)),
        b"\xdd\xff\xff\xff\xff", b"\xc1", b"\x93" * 1000, b"\xdc\x10\x00" * 1024, b"",
        b'{"clock":3}', b'{"clock":3,"clock":4}', b'{"clock":-1}', b'{"other":1}', b"[]", b"[" * 1000, b"\xff",
        sealed_body.pack(id, b"8 bytes.", [b"c" * 90, b"d" * 90]), sealed_body.pack(id, b"8 bytes.", [b"c" * 90, b"d"]),
    ]  # fmt: skip
    return Validator(metrics.values(), Window()), seeds


_VALIDATOR, SEEDS = _load()
TARGETS: dict[str, Callable[[bytes], object]] = {
    "upload": lambda data: _VALIDATOR.check(data, NOW),
    "troubles": lambda data: read_troubles(data[:BODY]),
    "sealed": sealed_body.parse,
}


class OverrunError(AssertionError):
    """An input took more than it may."""


def feed(name: str, data: bytes) -> str:
    """What a target says of ``data``: the code of a refusal, or "taken". Anything else that it raises is a defect, and
    so is OverrunError, for more than SECONDS.
    """
    began = time.perf_counter()
    try:
        TARGETS[name](data)
        said = "taken"
    except Refusal as refused:
        if not 400 <= refused.status < 500:
            raise AssertionError(f"{name}: a stranger's input made a {refused.status}") from refused
        said = refused.code
    took = time.perf_counter() - began
    if took > SECONDS:
        raise OverrunError(f"{name}: {len(data)} bytes took {took:.1f} seconds")
    return said


def feed_measured(name: str, data: bytes) -> str:
    """The same, and OverrunError for more memory than ``TIMES * len(data) + BASE`` bytes. Several times as slow."""
    tracemalloc.start()
    try:
        said = feed(name, data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    if peak > TIMES * len(data) + BASE:
        raise OverrunError(f"{name}: {len(data)} bytes took {peak} bytes of memory")
    return said
