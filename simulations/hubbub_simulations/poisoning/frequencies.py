"""How far fakes move the estimated frequency of a value, or a mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hubbub_decoder import estimate_mean, partial
from hubbub_decoder.mechanisms import mechanism
from hubbub_decoder.screen import Screen
from hubbub_registry import Metric
from hubbub_simulations.accuracy import Study
from hubbub_simulations.bits import Bytes
from hubbub_simulations.mechanisms import encode
from hubbub_simulations.support import supports

ATTACKS = ("holders", "picked", "repeated")
_TRIES = 4096


@dataclass(frozen=True)
class Damage:
    """What ``share`` of fakes among all reports do: ``shift`` of the target's frequency, and ``flagged`` or not.

    For a mean the shift is a share of the range, towards its upper end.
    """

    study: Study
    attack: str
    share: float
    shift: float
    flagged: bool


def attacked(study: Study, attack: str, share: float, seed: int, runs: int = 1) -> Damage:
    """The mean shift over ``runs``, and whether the screen flags the first run's reports as one batch."""
    rng = np.random.default_rng(seed)
    metric = study.metric(int(rng.integers(0, 1 << 64, dtype=np.uint64)))
    items = [value.encode() for value in study.values]
    index = np.repeat(np.arange(len(study.holders)), study.holders)
    fakes = round(share * study.reports)
    shifts, flagged = [], False
    for run in range(runs):
        honest = encode(metric, items, rng.permutation(index)[fakes:], rng)
        records = np.concatenate([honest, fake_records(metric, study.values, attack, fakes, rng)])
        shifts.append(_frequency(metric, study, records) - _frequency(metric, study, honest))
        if run == 0:
            screen = Screen(metric)
            screen.add(records)
            flagged = screen.verdict().suspicious
    return Damage(study, attack, share, float(np.mean(shifts)), flagged)


def fake_records(metric: Metric, values: list[str], attack: str, count: int, rng: np.random.Generator) -> Bytes:
    """``count`` records for the last of ``values``, as the attack makes them."""
    target = values[-1]
    if attack == "holders":
        return encode(metric, [target.encode()], np.zeros(count, np.intp), rng)
    found = np.empty((0, metric.device.record_bytes), np.uint8)
    wanted = 1 if attack == "repeated" else count
    while len(found) < wanted:
        tried = encode(metric, [target.encode()], np.zeros(_TRIES, np.intp), rng)
        found = np.concatenate([found, tried[supports(metric, target, tried)]])
    return np.resize(found[:wanted], (count, metric.device.record_bytes))


def _frequency(metric: Metric, study: Study, records: Bytes) -> float:
    """The target's estimated frequency, or the estimated mean from 0 (low) to 1 (high)."""
    if study.of_mean:
        mean = estimate_mean(metric, partial(metric, records))
        return (mean.mean - mean.bounds[0]) / (mean.bounds[1] - mean.bounds[0])
    found = mechanism(metric.mechanism).estimate(metric, partial(metric, records), study.values)
    return float(found.frequency[found.value.index(study.values[-1])])
