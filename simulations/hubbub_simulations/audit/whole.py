"""Audits an encoder whose output is judged whole: an index, or one bit beside public fields."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction

from hubbub_simulations.audit.driver import Driver
from hubbub_simulations.audit.facts import Facts, check_inputs, check_numbers
from hubbub_simulations.audit.ratios import Worst, worse, worst_of_distributions
from hubbub_simulations.audit.tree import Hints, Tree, grow

_OTHER_SETTINGS = 1000
_OTHER_INPUTS = 16


def audit_whole(
    driver: Driver,
    facts: Facts,
    values: Sequence[bytes],
    settings: Sequence[tuple[int, ...]],
    most_runs: int,
    rng: random.Random,
    progress: Callable[[float], None],
) -> tuple[Worst, int]:
    """The worst over ``values`` at each of ``settings``, and how many values were driven through all their noise.

    At least two values are, and as many more as ``most_runs`` runs of the encoder allow, for all settings together.
    """
    worst: Worst | None = None
    driven = len(values)
    trees: list[Tree] = []
    begun = driver.runs
    for at, setting in enumerate(settings):
        found: dict[bytes, dict[bytes, Fraction]] = {}
        hints: Hints = {}
        for number, value in enumerate(values):
            if number >= 2 and driver.runs - begun > most_runs * (at + 1) / len(settings):
                break
            tree = grow(lambda numbers, v=value, s=setting: driver.run(v, driver.noise(s, numbers)),  # type: ignore[misc]
                        driver.layout.noise, rng, hints)  # fmt: skip
            check_inputs(driver, facts, value, setting, rng)
            check_numbers(driver, facts, value, setting, tree, rng)
            found[value] = tree.distribution()
            trees.append(tree)
            progress((at + (number + 1) / len(values)) / len(settings))
        driven = min(driven, len(found))
        _check_other_values(driver, facts, values[len(found) :], setting, trees[-len(found) :], rng)
        here = worst_of_distributions(found)
        worst = here if worst is None else worse(worst, here)
    assert worst is not None  # noqa: S101 - there is at least one setting
    if driver.layout.public:
        worst = _check_other_settings(driver, facts, values, trees, rng, worst)
    return worst, driven


def _check_other_values(
    driver: Driver,
    facts: Facts,
    values: Sequence[bytes],
    setting: tuple[int, ...],
    trees: Sequence[Tree],
    rng: random.Random,
) -> None:
    """Where the noise hides which of the driven values is sent, it hides the others too, to the edge of that noise."""
    parts = driver.layout.noise
    inputs = {tuple(rng.getrandbits(part.bits) for part in parts) for _ in range(_OTHER_INPUTS)}
    for first in sorted({first for tree in trees for first in tree.firsts})[:_OTHER_INPUTS]:
        inputs.add((first, *(rng.getrandbits(part.bits) for part in parts[1:])))
    hiding = [(numbers, trees[0].predict(numbers)) for numbers in sorted(inputs)]
    hiding = [(numbers, sent) for numbers, sent in hiding if all(tree.predict(numbers) == sent for tree in trees)]
    for value in values:
        for numbers, sent in hiding:
            record = driver.run(value, driver.noise(setting, numbers))
            facts.add("noise that hides the driven values hides the others", record == sent)


def _check_other_settings(
    driver: Driver, facts: Facts, values: Sequence[bytes], trees: Sequence[Tree], rng: random.Random, worst: Worst
) -> Worst:
    """At settings that were not driven, a value's noise acts as that of some value at a setting that was.

    Where one acts as none did, as of a hash function that sends no driven value to some bucket, it is driven as well,
    beside another value. Returns the worst of those settings and of ``worst``.
    """
    public = {name for name, _ in driver.layout.public}
    probes = sorted({numbers for tree in trees for numbers, _, _ in tree.leaves()})

    def hidden(record: bytes) -> tuple[int, ...]:
        return tuple(number for name, number in driver.fields(record).items() if name not in public)

    def drive(value: bytes, setting: tuple[int, ...]) -> Tree:
        tree = grow(lambda numbers: driver.run(value, driver.noise(setting, numbers)), driver.layout.noise, rng, {})
        check_inputs(driver, facts, value, setting, rng)
        check_numbers(driver, facts, value, setting, tree, rng)
        return tree

    known = {tuple(hidden(tree.predict(numbers)) for numbers in probes) for tree in trees}
    for _ in range(_OTHER_SETTINGS):
        setting = tuple(rng.getrandbits(part.bits) for _, part in driver.layout.public)
        value = rng.choice(values)
        seen = tuple(hidden(driver.run(value, driver.noise(setting, numbers))) for numbers in probes)
        if seen not in known:
            beside = rng.choice([other for other in values if other != value])
            own, other = drive(value, setting), drive(beside, setting)
            worst = worse(worst, worst_of_distributions({value: own.distribution(), beside: other.distribution()}))
            known |= {tuple(hidden(tree.predict(numbers)) for numbers in probes) for tree in (own, other)}
        facts.add("other settings act as those driven through all their noise", seen in known)
    return worst
