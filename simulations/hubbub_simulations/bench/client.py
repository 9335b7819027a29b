"""What one report costs on CPython: the embeddable client's encoders, one value at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from hubbub_registry import Metric
from hubbub_registry.mechanisms import client_module
from hubbub_simulations.bench.measure import Comparison, Timer, at_most, in_turn, timer
from hubbub_simulations.definitions import define

# Rounds of a few milliseconds: some of them meet an undisturbed machine.
_ROUND = {"number": 200, "repeats": 100}
_VALUES = [f"value {i}" for i in range(64)]
_RANDOM = "os.urandom(512)"
_RAPPOR_LIMIT = 12

METRICS: dict[str, Callable[[], Metric]] = {
    "randomized-response, d=64": lambda: define("randomized-response", epsilon=1, values=_VALUES),
    "unary-encoding, d=64": lambda: define("unary-encoding", epsilon=1, values=_VALUES),
    "hadamard-response, d=64": lambda: define("hadamard-response", epsilon=1, values=_VALUES),
    "projective-geometry-response, d=64": lambda: define("projective-geometry-response", epsilon=1, values=_VALUES),
    "local-hashing, k=65536": lambda: define("local-hashing", epsilon=1, hashes=65536),
    "subset-selection, d=64": lambda: define("subset-selection", epsilon=1, values=_VALUES),
    "count-mean-sketch, m=1024": lambda: define("count-mean-sketch", epsilon=1, hashes=256, width=1024),
    "hadamard-count-mean-sketch, m=1024": lambda: define(
        "hadamard-count-mean-sketch", epsilon=1, hashes=256, width=1024
    ),
    "rappor, 128 bits, PRR and IRR": lambda: define(
        "rappor", epsilon=1.08, bits=128, hashes=2, cohorts=64, f=0.5, p=0.5, q=0.75
    ),
}
PEER_TASKS = {"count-mean-sketch, m=1024": "cms-client", "hadamard-count-mean-sketch, m=1024": "hcms-client"}


def report(metric: Metric) -> Callable[[], bytes]:
    """Encodes one value with fresh random bytes of the operating system, as a device does."""
    encoder = client_module(metric.mechanism).Encoder(metric.device, os.urandom(32))
    value = b"value 17"
    encode: Callable[[], bytes] = lambda: encoder.encode(value, os.urandom)  # noqa: E731 - the thing that is timed
    return encode


def against_randomness() -> Iterator[Comparison]:
    """Every mechanism beside ``os.urandom(512)``; RAPPOR with its limit."""
    draw = timer(lambda: os.urandom(512))
    for name, metric in METRICS.items():
        ours, random = in_turn(timer(report(metric())), draw, **_ROUND)
        limited = name.startswith("rappor")
        yield Comparison(
            f"client: {name}",
            ours,
            _RANDOM,
            random,
            f"at most {_RAPPOR_LIMIT}x" if limited else "",
            at_most(ours, random, _RAPPOR_LIMIT) if limited else None,
        )


def against_peer(peer: Callable[[str], Timer] | None) -> Iterator[Comparison]:
    """The two sketches beside the peer's; ``peer`` gives the timer of a task, or is None where there is none."""
    for name, task in PEER_TASKS.items():
        ours = timer(report(METRICS[name]()))
        seconds, *rest = in_turn(ours, *([peer(task)] if peer else []), **_ROUND)
        theirs = rest[0] if rest else None
        yield Comparison(f"client: {name}", seconds, "pure-ldp client", theirs, "faster", at_most(seconds, theirs, 1))
