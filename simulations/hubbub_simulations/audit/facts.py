"""What the arithmetic rests on, checked by running the encoder: a ratio whose facts do not hold is no finding."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from hubbub_simulations.audit.driver import Driver
from hubbub_simulations.audit.tree import Tree

TRIALS = 64


@dataclass(frozen=True)
class Fact:
    """One thing that was checked, how often, and whether it held every time."""

    name: str
    trials: int
    holds: bool


class Facts:
    """Facts gathered over many values and settings, joined by name."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, bool]] = {}

    def add(self, name: str, holds: bool, trials: int = 1) -> None:
        """One more check, or ``trials`` of them."""
        before, held = self._found.get(name, (0, True))
        self._found[name] = before + trials, held and holds

    def all(self) -> tuple[Fact, ...]:
        """Every fact, in the order of its first check."""
        return tuple(Fact(name, trials, holds) for name, (trials, holds) in self._found.items())


def check_inputs(driver: Driver, facts: Facts, value: bytes, settings: Sequence[int], rng: random.Random) -> None:
    """No state, no padding, and the public parts sent as drawn, at random inputs."""
    layout = driver.layout
    for _ in range(TRIALS):
        noise = driver.random_noise(settings, rng)
        record = driver.run(value, noise)
        facts.add("the same random bytes give the same record", driver.run(value, noise) == record)
        padded = {channel: bits ^ (layout.unread(channel) & rng.getrandbits(8 * layout.channels[channel]))
                  for channel, bits in noise.items()}  # fmt: skip
        if padded != noise:
            facts.add("padding plays no role", driver.run(value, padded) == record)
        fields = driver.fields(record)
        for (name, _), number in zip(layout.public, settings, strict=True):
            facts.add(f"{name} is sent as it was drawn, whatever the value", fields[name] == number)


def check_numbers(
    driver: Driver, facts: Facts, value: bytes, settings: Sequence[int], tree: Tree, rng: random.Random
) -> None:
    """The tree foretells the record at random inputs, and on either side of where it says that it changes."""
    parts = driver.layout.noise
    inputs = [[rng.getrandbits(part.bits) for part in parts] for _ in range(TRIALS)]
    for first in rng.sample(tree.firsts, min(len(tree.firsts), TRIALS)):
        for number in (first - 1, first):
            if number >= 0:
                inputs.append([number, *(rng.getrandbits(part.bits) for part in parts[1:])])
    for numbers in inputs:
        record = driver.run(value, driver.noise(settings, numbers))
        facts.add("the output is what its classes of inputs foretell", record == tree.predict(numbers))


def check_lanes(
    driver: Driver, facts: Facts, value: bytes, settings: Sequence[int], tree: Tree, rng: random.Random
) -> None:
    """A lane reads only its own random bits: drawing other lanes' bits anew leaves it, and so does leaving step."""
    layout = driver.layout
    lanes = layout.noise[0].lanes
    for _ in range(TRIALS):
        noise = driver.random_noise(settings, rng)
        before = driver.fields(driver.run(value, noise))[layout.vector]
        drawn_anew = rng.getrandbits(lanes)
        other = driver.random_noise(settings, rng)
        changed = dict(noise)
        for part in layout.noise:
            mask = sum(drawn_anew << (part.at + k * part.stride) for k in range(part.bits))
            changed[part.channel] = changed[part.channel] & ~mask | other[part.channel] & mask
        after = driver.fields(driver.run(value, changed))[layout.vector]
        facts.add("a lane reads only its own random bits", (before ^ after) & ~drawn_anew == 0, lanes)
    seen: dict[tuple[int, ...], int] = {}
    noise = driver.random_noise(settings, rng)
    sent = driver.fields(driver.run(value, noise))[layout.vector]
    for lane in range(lanes):
        numbers = tuple(part.number(noise[part.channel], lane) for part in layout.noise)
        if numbers not in seen:
            seen[numbers] = driver.fields(tree.predict(numbers))[layout.vector]
        facts.add("a lane does out of step what it does in step", (sent ^ seen[numbers]) >> lane & 1 == 0)
