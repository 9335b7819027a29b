"""What fakes put on the list of strings that nobody named: prefix extending method and sequence fragment puzzle.

``noiseless`` fakes do all that a holder's client does, but for the noise: whatever part, hash function and position
they draw, they send the bucket of the string, or of what the part shows of it. Where a client keeps the bucket with
probability a, and else draws one of g, a holder's report supports an item with a + (1 - a) / g and any other with
1 / g; always to support it is 1 / a times as much above 1 / g. So a noiseless fake counts as 1 / a holders, in every
part that finds the string and in every one that counts it, and with public parts that are drawn no fake can count as
more. The screen looks at public parts only, and sees honest devices.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes
from hubbub_simulations.mechanisms import encode

LIST_ATTACKS = ("holders", "noiseless")
# What a threshold of the plan is of.
_PRECISION = {"threshold": "precision", "fragment_threshold": "fragment_precision"}


def noiseless(metric: Metric) -> Metric:
    """The same metric with clients that always keep the bucket: what a fake would run. No plan would hold it."""
    p = metric.device.parameters
    device = copy.copy(metric.device)
    device.parameters = {**p, **{name: 1 << p[of] for name, of in _PRECISION.items() if name in p}}
    return replace(metric, device=device)


def holders_each(metric: Metric) -> dict[str, float]:
    """How many holders a noiseless fake counts as, by the threshold of the report: one for each in a record."""
    p = metric.device.parameters
    return {name: float((1 << p[of]) / p[name]) for name, of in _PRECISION.items() if name in p}


def list_records(metric: Metric, strings: Sequence[str], attack: str, count: int, rng: np.random.Generator) -> Bytes:
    """``count`` records for ``strings``, which share them evenly."""
    clients = noiseless(metric) if attack == "noiseless" else metric
    return encode(clients, [each.encode() for each in strings], np.arange(count) % len(strings), rng)
