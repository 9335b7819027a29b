"""What the lanes of a vector do for one value at one public setting: each lane's exact chance of a 1, and its kind.

Driving a value through all of its noise is dear, and most values' lanes are of two kinds only: holding a bit, or not.
So a lane also has a *kind*: what it sends at a few probes of the noise, in step. A value all of whose lanes are of
known kinds is not driven; any other is.
"""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from hubbub_simulations.audit.driver import Driver
from hubbub_simulations.audit.facts import Facts, check_inputs, check_lanes, check_numbers
from hubbub_simulations.audit.tree import Tree, grow

_RANDOM_PROBES = 8


class Lanes:
    """The lanes of one encoder at one public setting."""

    def __init__(self, driver: Driver, facts: Facts, settings: tuple[int, ...], rng: random.Random) -> None:
        self.driver = driver
        self.facts = facts
        self.settings = settings
        self.driven: dict[bytes, list[Fraction]] = {}
        self._rng = rng
        self._count = driver.layout.noise[0].lanes
        self._probes: list[tuple[int, ...]] = []
        self._kinds: dict[bytes, Fraction] = {}

    def drive(self, value: bytes) -> list[Fraction]:
        """Each lane's P(1) for ``value``, exactly, with the facts that make it so checked."""
        if value in self.driven:
            return self.driven[value]
        tree = grow(lambda numbers: self._record(value, numbers), self.driver.layout.noise, self._rng)
        arguments = (self.driver, self.facts, value, self.settings)
        check_inputs(*arguments, self._rng)
        check_numbers(*arguments, tree, self._rng)
        check_lanes(*arguments, tree, self._rng)
        self.driven[value] = marginals = self._marginals(tree)
        self.facts.add("every bit is randomised", all(0 < chance < 1 for chance in marginals), self._count)
        if len(self.driven) == 1:
            self._choose_probes(tree)
        for kind, chance in zip(self._kinds_of(value), marginals, strict=True):
            held = self._kinds.setdefault(kind, chance)
            self.facts.add("lanes that answer alike at the probes have the same chance of a 1", held == chance)
        return marginals

    def infer(self, value: bytes) -> list[Fraction] | None:
        """Each lane's P(1) for ``value`` from the kinds of its lanes; None where one of them is of no known kind."""
        found = [self._kinds.get(kind) for kind in self._kinds_of(value)]
        known = [chance for chance in found if chance is not None]
        return known if len(known) == len(found) else None

    def _record(self, value: bytes, numbers: tuple[int, ...]) -> bytes:
        return self.driver.run(value, self.driver.noise(self.settings, numbers))

    def _vector(self, record: bytes) -> int:
        return self.driver.fields(record)[self.driver.layout.vector]

    def _marginals(self, tree: Tree) -> list[Fraction]:
        total = [Fraction(0)] * self._count
        by_column: dict[tuple[int, ...], Fraction] = {}
        outputs = [(self._vector(record), share) for record, share in tree.distribution().items()]
        for lane in range(self._count):
            column = tuple(vector >> lane & 1 for vector, _ in outputs)
            if column not in by_column:
                by_column[column] = sum((s for bit, (_, s) in zip(column, outputs, strict=True) if bit), Fraction(0))
            total[lane] = by_column[column]
        return total

    def _choose_probes(self, tree: Tree) -> None:
        """One input of each class that the first value's noise has, and random ones."""
        found = {numbers for numbers, _, _ in tree.leaves()}
        for _ in range(_RANDOM_PROBES):
            found.add(tuple(self._rng.getrandbits(part.bits) for part in self.driver.layout.noise))
        self._probes = sorted(found)

    def _kinds_of(self, value: bytes) -> list[bytes]:
        size = (self._count + 7) // 8
        vectors = b"".join(
            self._vector(self._record(value, numbers)).to_bytes(size, "little") for numbers in self._probes
        )
        packed = np.frombuffer(vectors, np.uint8).reshape(len(self._probes), size)
        bits: NDArray[np.uint8] = np.unpackbits(packed, axis=1, bitorder="little")[:, : self._count]
        columns = np.ascontiguousarray(np.packbits(bits, axis=0).T)
        return [column.tobytes() for column in columns]
