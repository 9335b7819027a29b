"""Audits an encoder whose output is a vector of independent bits, beside public fields."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from hubbub_client.records import pack
from hubbub_simulations.audit.driver import Driver
from hubbub_simulations.audit.facts import Facts
from hubbub_simulations.audit.lanes import Lanes
from hubbub_simulations.audit.ratios import Worst, ratio_of_bits, worse, worst_pair_of_bits

_PAIRED = 256
_PROMOTED = 16


def audit_vector(
    driver: Driver,
    facts: Facts,
    values: Sequence[bytes],
    settings: Sequence[tuple[int, ...]],
    rng: random.Random,
    progress: Callable[[float], None],
) -> tuple[Worst, int]:
    """The worst over ``values`` at each of ``settings``, and the fewest values driven through all noise at one.

    The others are probed: their lanes are of kinds that a driven value has, or they are driven too. The worst pair is
    always driven.
    """
    worst: Worst | None = None
    driven = len(values)
    for at, setting in enumerate(settings):
        lanes = Lanes(driver, facts, setting, rng)
        here = _worst_at(lanes, values, lambda share, at=at: progress((at + share) / len(settings)))  # type: ignore[misc]
        driven = min(driven, len(lanes.driven))
        worst = here if worst is None else worse(worst, here)
    assert worst is not None  # noqa: S101 - there is at least one setting
    return worst, driven


def _worst_at(lanes: Lanes, values: Sequence[bytes], progress: Callable[[float], None]) -> Worst:
    for value in values[:2]:
        lanes.drive(value)
    chances = _chances(lanes, values, progress)
    while True:
        rows = _most_unusual(chances)
        matrix = np.array([[float(chance) for chance in chances[value]] for value in rows])
        likelier, rarer = (rows[row] for row in worst_pair_of_bits(matrix))
        missing = {likelier, rarer} - lanes.driven.keys()
        for value in missing:
            chances[value] = lanes.drive(value)
        if not missing:
            return _exactly(lanes, likelier, rarer)


def _chances(lanes: Lanes, values: Sequence[bytes], progress: Callable[[float], None]) -> dict[bytes, list[Fraction]]:
    """Each value's P(1) in each lane, driven where its lanes are of a kind not seen before."""
    found: dict[bytes, list[Fraction]] = {}
    for number, value in enumerate(values):
        chances = lanes.infer(value)
        if chances is None and len(lanes.driven) < _PROMOTED:
            chances = lanes.drive(value)
        lanes.facts.add("every value's lanes are of kinds driven through all their noise", chances is not None)
        if chances is not None:
            found[value] = chances
        if number % 16 == 0:
            progress((number + 1) / len(values))
    return {**found, **lanes.driven}


def _most_unusual(chances: dict[bytes, list[Fraction]]) -> list[bytes]:
    """The values to pair: those with the most lanes that are not as most values have them."""
    if len(chances) <= _PAIRED:
        return list(chances)
    matrix = np.array([[float(chance) for chance in row] for row in chances.values()])
    unusual = (matrix != np.median(matrix, axis=0)).sum(axis=1)
    order = np.argsort(-unusual, kind="stable")[:_PAIRED]
    names = list(chances)
    return [names[row] for row in order]


def _exactly(lanes: Lanes, likelier: bytes, rarer: bytes) -> Worst:
    driver, name = lanes.driver, lanes.driver.layout.vector
    ratio, bits = ratio_of_bits(lanes.driven[likelier], lanes.driven[rarer])
    fields = driver.fields(driver.run(likelier, driver.noise(lanes.settings, [0] * len(driver.layout.noise))))
    output = pack(driver.metric.device.fields, list({**fields, name: bits}.values()))
    return Worst(ratio, likelier, rarer, output)
