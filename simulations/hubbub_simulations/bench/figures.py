"""The decoder's figures: aggregation and estimation beside plain numpy, and beside peers in their own environments.

Each figure is the median, over rounds, of a ratio of two processor times that were measured one right after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from hubbub_decoder.mechanisms import mechanism
from hubbub_registry import Metric
from hubbub_simulations.bench import floors
from hubbub_simulations.bench.decoder import AGGREGATION_LIMIT, reports
from hubbub_simulations.bench.measure import Timer, in_rounds, timer
from hubbub_simulations.bits import Bytes
from hubbub_simulations.definitions import define

ROUNDS = 15
DOMAIN = 1024
VALUES = [f"value {i}" for i in range(DOMAIN)]
_SKETCH: dict[str, Any] = {"epsilon": 1, "hashes": 256, "width": DOMAIN}
_RAPPOR: dict[str, Any] = {"epsilon": 1.08, "bits": 128, "hashes": 2, "cohorts": 64, "f": 0.5, "p": 0.5, "q": 0.75}
# Name, mechanism, registry keys, reports.
AGGREGATED: list[tuple[str, str, dict[str, Any], int]] = [
    ("k-RR d=1024", "randomized-response", {"epsilon": 1, "values": VALUES}, 1_000_000),
    ("Hadamard response d=1024", "hadamard-response", {"epsilon": 1, "values": VALUES}, 1_000_000),
    ("PGR d=1024", "projective-geometry-response", {"epsilon": 1, "values": VALUES}, 1_000_000),
    ("local hashing k=65536", "local-hashing", {"epsilon": 1, "hashes": 65536}, 1_000_000),
    ("HCMS k=256 m=1024", "hadamard-count-mean-sketch", _SKETCH, 1_000_000),
    ("OUE d=64", "unary-encoding", {"epsilon": 1, "values": VALUES[:64]}, 500_000),
    ("OUE d=1024", "unary-encoding", {"epsilon": 1, "values": VALUES}, 100_000),
    ("subset selection d=1024", "subset-selection", {"epsilon": 1, "values": VALUES}, 100_000),
    ("RAPPOR 128 bits, 64 cohorts", "rappor", _RAPPOR, 200_000),
    ("CMS k=256 m=1024", "count-mean-sketch", _SKETCH, 100_000),
    ("CMS k=65536 m=1024", "count-mean-sketch", {"epsilon": 4, "hashes": 65536, "width": DOMAIN}, 2_000_000),
]
# What pure-ldp aggregates too: its task, the calls in a round, and how many times as fast we want to be.
BESIDE_PURE_LDP = {
    "HCMS k=256 m=1024": ("hcms-server", 2000, 100),
    "CMS k=256 m=1024": ("cms-server", 500, 30),
    "OUE d=1024": ("oue-server", 2000, 5),
}
LOCAL_HASHING_FACTOR = 100
# The C++ of projective geometry response's authors took this long for 1,000,000 reports of 1024 values, decoding
# included, by epsilon. On the same machine numpy's bincount took 1.1 ms for as many reports.
CPP_SECONDS = {1: 0.018, 3: 0.035}
CPP_BINCOUNT_SECONDS = 0.0011
CPP_FACTOR, TRANSFORM_FACTOR = 10, 1.5


@dataclass(frozen=True)
class Figure:
    """``subject`` took ``seconds``, and ``reference`` took ``reference_seconds``; see ``unit``."""

    subject: str
    seconds: float
    reference: str
    reference_seconds: float | None
    """None where the peer could not be run."""
    unit: str
    """What was done in that time: one report, or all of something."""
    ratio: float | None
    """The median of ``seconds / reference_seconds`` over the rounds."""
    limit: float
    """What the ratio should be at most."""

    @property
    def held(self) -> bool | None:
        """Whether the ratio is within the limit; None where there is no ratio."""
        return None if self.ratio is None else self.ratio <= self.limit

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "held": self.held}


def compare(subject: str, unit: str, ours: Timer, reference: str, theirs: Sequence[Timer], limit: float) -> Figure:
    """Measures ``ours`` and all of ``theirs`` in turn, after a first round that does not count.

    The reference is the fastest of ``theirs``; without any there is no ratio.
    """
    in_rounds(ours, *theirs, number=1, repeats=1)
    times, *others = in_rounds(ours, *theirs, number=1, repeats=ROUNDS)
    if not others:
        return Figure(subject, median(times), reference, None, unit, None, limit)
    fastest = min(others, key=median)
    ratio = median(a / b for a, b in zip(times, fastest, strict=True))
    return Figure(subject, median(times), reference, median(fastest), unit, ratio, limit)


def of_each(whole: Timer, reports: int) -> Timer:
    """The time for one of the ``reports`` that ``whole`` takes together."""
    return lambda number: whole(number) / reports


def repeated(call: Timer, calls: int) -> Timer:
    """The mean time of ``call`` over so many in a row, as short ones need."""
    return lambda number: call(calls * number)


Peer = Callable[[str], Timer] | None
"""Gives the timer of a peer's task; None where the peer cannot be run."""


def figures(pure_ldp: Peer, multi_freq_ldpy: Peer) -> Iterator[Figure]:
    """All of them, one after the other as they are measured."""
    yield from aggregation(pure_ldp)
    yield from local_hashing(pure_ldp, multi_freq_ldpy)
    yield from projective_geometry()
    yield transform()


def aggregation(pure_ldp: Peer) -> Iterator[Figure]:
    """``partial`` beside the fastest form of plain numpy on the same records, and beside the peer's server."""
    for name, mechanism_name, keys, count in AGGREGATED:
        metric = define(mechanism_name, **keys)
        records = reports(metric, count)
        ours = of_each(timer(partial(mechanism(mechanism_name).partial, metric, records)), count)
        forms = [of_each(timer(form), count) for form in floors.plain_numpy(metric, records)]
        yield compare(f"aggregate {name}", "report", ours, "numpy, fastest form", forms, AGGREGATION_LIMIT)
        if name in BESIDE_PURE_LDP:
            task, calls, factor = BESIDE_PURE_LDP[name]
            theirs = [repeated(pure_ldp(task), calls)] if pure_ldp else []
            yield compare(f"aggregate {name}", "report", ours, "pure-ldp server", theirs, 1 / factor)


def local_hashing(pure_ldp: Peer, multi_freq_ldpy: Peer) -> Iterator[Figure]:
    """Aggregation and the estimates of all values, since the peers' servers go through all values for each report."""
    count = 1_000_000
    metric = define("local-hashing", epsilon=1, hashes=65536)
    ours = of_each(timer(partial(decode, metric, reports(metric, count))), count)
    for peer, reference, task, calls, together in (
        (pure_ldp, "pure-ldp OLH server", "olh-server", 50, 1),
        (multi_freq_ldpy, "multi-freq-ldpy OLH", "olh-server-20-reports", 3, 20),
    ):
        theirs = [of_each(repeated(peer(task), calls), together)] if peer else []
        yield compare(
            "decode all, local hashing d=1024 k=65536", "report", ours, reference, theirs, 1 / LOCAL_HASHING_FACTOR
        )


def projective_geometry() -> Iterator[Figure]:
    """Records to estimates of all 1024 values, beside ``bincount`` of the same records."""
    for epsilon, seconds in CPP_SECONDS.items():
        metric = define("projective-geometry-response", epsilon=epsilon, values=VALUES)
        records = reports(metric, 1_000_000)
        points = records.view("<u2")[:, 0]
        name = f"decode all, PGR d=1024 n=1e6 eps={epsilon}"
        limit = CPP_FACTOR * seconds / CPP_BINCOUNT_SECONDS
        count = timer(partial(np.bincount, points))
        yield compare(name, "all", timer(partial(decode, metric, records)), "numpy bincount", [count], limit)


def transform() -> Figure:
    """Estimates of all 1024 values from an HCMS sketch, beside the transform of its table alone."""
    metric = define("hadamard-count-mean-sketch", **_SKETCH)
    module = mechanism(metric.mechanism)
    state = module.partial(metric, reports(metric, 100_000))
    table = state.arrays["signed"].astype(np.float64)
    forms = [
        timer(partial(floors.walsh_hadamard_of_columns, table)),
        timer(partial(floors.walsh_hadamard_of_rows, np.ascontiguousarray(table.T))),
    ]
    ours = timer(lambda: module.estimate(metric, state, VALUES))
    name = "estimate all, HCMS d=1024 k=256 m=1024"
    return compare(name, "all", repeated(ours, 5), "numpy Walsh-Hadamard", forms, TRANSFORM_FACTOR)


def decode(metric: Metric, records: Bytes) -> object:
    """From records to the estimates of all of the domain."""
    module = mechanism(metric.mechanism)
    return module.estimate(metric, module.partial(metric, records), VALUES)
