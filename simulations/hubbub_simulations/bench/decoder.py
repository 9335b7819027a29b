"""What decoding costs: aggregation beside plain numpy on the same array, and HCMS estimation beside the peer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from hubbub_decoder.mechanisms import mechanism
from hubbub_registry import Metric
from hubbub_simulations.bench.client import METRICS
from hubbub_simulations.bench.floors import plain_numpy
from hubbub_simulations.bench.measure import Comparison, Timer, at_most, in_turn, timer
from hubbub_simulations.bits import Bytes
from hubbub_simulations.mechanisms import encode

_REPEATS = 15
AGGREGATION_LIMIT = 1.5
_ESTIMATE_SECONDS, _ESTIMATE_FACTOR = 0.010, 25
_DOMAIN = 1024
# Reports in an array: small records, and those of many bits.
_MANY, _FEW = 1_000_000, 50_000


def reports(metric: Metric, count: int) -> Bytes:
    """Records of ``count`` devices over the first values."""
    rng = np.random.default_rng(1)
    items = [value.encode() for value in metric.values] or [f"value {i}".encode() for i in range(_DOMAIN)]
    return encode(metric, items, rng.integers(0, len(items), count), rng)


def aggregation() -> Iterator[Comparison]:
    """``partial`` of every mechanism beside plain numpy on the same array; seconds are for one report."""
    for name, define_metric in METRICS.items():
        metric = define_metric()
        records = reports(metric, _MANY if metric.device.record_bytes <= 4 else _FEW)
        forms = plain_numpy(metric, records)
        aggregate = partial(mechanism(metric.mechanism).partial, metric, records)
        calls: list[Callable[[], object]] = [aggregate, *forms]
        ours, *floors = (seconds / len(records) for seconds in in_turn(*map(timer, calls), number=1, repeats=_REPEATS))
        floor = min(floors)
        wanted, met = f"at most {AGGREGATION_LIMIT}x", at_most(ours, floor, AGGREGATION_LIMIT)
        yield Comparison(f"aggregate: {name}", ours, "numpy, fastest form", floor, wanted, met)
        if len(forms) > 1:
            yield Comparison(f"aggregate: {name}", ours, "numpy, one line", floors[0], "", None)


def estimation(peer: Callable[[str], Timer] | None) -> Iterator[Comparison]:
    """All of 1024 values from an HCMS sketch of k=256, m=1024: in 10 ms, or 25 times as fast as the peer."""
    metric = METRICS["hadamard-count-mean-sketch, m=1024"]()
    module = mechanism(metric.mechanism)
    state = module.partial(metric, reports(metric, 100_000))
    values = [f"value {i}" for i in range(_DOMAIN)]
    ours = timer(lambda: module.estimate(metric, state, values))
    seconds, *rest = in_turn(ours, *([peer("hcms-estimate")] if peer else []), number=1, repeats=_REPEATS)
    theirs = rest[0] if rest else None
    met: bool | None = True if seconds <= _ESTIMATE_SECONDS else at_most(_ESTIMATE_FACTOR * seconds, theirs, 1)
    yield Comparison(
        "estimate all: hadamard-count-mean-sketch, d=1024, k=256, m=1024",
        seconds,
        "pure-ldp server",
        theirs,
        "at most 10 ms, or 25x faster",
        met,
    )
