"""The exact distribution of an encoder's output, from runs of it, as a tree over the parts of its random input.

A level of the tree is a part. The numbers that a part can be fall into classes within which the output is the same
whatever the later parts are; a class carries its exact share of the numbers. Classes are found by trying every number,
or, where the output changes at few places as the number rises, by searching for those places. Two numbers are put in
one class where the output agrees for them at every *probe*: a setting of the later parts, one for each class that
those have at several numbers, and random ones. ``predict`` says what the tree expects of any input, so that the tree
can be held against the encoder at inputs that it was not made from.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from hubbub_simulations.audit.errors import AuditError
from hubbub_simulations.audit.noise import MOST_BITS, Part

Run = Callable[[tuple[int, ...]], bytes]
# For each level, the places where the output changed in earlier trees.
Hints = dict[int, list[list[int]]]
_PROBES = 24
_HINTS = 3


@dataclass
class Tree:
    """One level: ``shares`` and ``below`` for each class; ``firsts`` has each class's smallest number."""

    firsts: list[int]
    shares: list[Fraction]
    classes: list[int] | None
    """The class of every number, where every number was tried; else classes are stretches that begin at ``firsts``."""
    below: list[Tree | bytes] = field(default_factory=list)

    def leaves(self) -> Iterator[tuple[tuple[int, ...], Fraction, bytes]]:
        """(one number for each part, share of the inputs, output), for every way down."""
        for first, share, below in zip(self.firsts, self.shares, self.below, strict=True):
            if isinstance(below, bytes):
                yield (first,), share, below
            else:
                for numbers, rest, output in below.leaves():
                    yield (first, *numbers), share * rest, output

    def predict(self, numbers: Sequence[int]) -> bytes:
        """The output that the tree expects where the parts are ``numbers``."""
        found = bisect_right(self.firsts, numbers[0]) - 1 if self.classes is None else self.classes[numbers[0]]
        below = self.below[found]
        return below if isinstance(below, bytes) else below.predict(numbers[1:])

    def distribution(self) -> dict[bytes, Fraction]:
        """The exact probability of every output."""
        total: dict[bytes, Fraction] = {}
        for _, share, output in self.leaves():
            total[output] = total.get(output, Fraction(0)) + share
        return total


def grow(run: Run, parts: Sequence[Part], rng: random.Random, hints: Hints | None = None) -> Tree:
    """The tree of ``run`` over ``parts``. Raises AuditError for a part that is too wide to try and not ordered.

    ``hints`` carries the places where a level's output changed from one tree to the next; they are tried first.
    """
    return _Grower(run, parts, rng, {} if hints is None else hints).tree(())


class _Grower:
    def __init__(self, run: Run, parts: Sequence[Part], rng: random.Random, hints: Hints) -> None:
        self._run = run
        self._parts = parts
        self._rng = rng
        self._hints = hints

    def tree(self, before: tuple[int, ...]) -> Tree:
        level = len(before)
        part = self._parts[level]
        probes = self._probes(before)

        def key(number: int) -> Hashable:
            return tuple([self._run((*before, number, *later)) for later in probes])

        if part.every:
            if part.bits > MOST_BITS:
                raise AuditError(f"a part of {part.bits} random bits is too wide to try every number; use --empirical")
            tree = _try_every(key, 1 << part.bits)
        elif part.results:
            tree = _scaled(key, 1 << part.bits, part.results)
        else:
            known = self._hints.setdefault(level, [])
            tree = _search(key, 1 << part.bits, known)
            if tree.firsts not in known:
                self._hints[level] = [tree.firsts, *known][:_HINTS]
        last = level + 1 == len(self._parts)
        tree.below = [self._run((*before, first)) if last else self.tree((*before, first)) for first in tree.firsts]
        return tree

    def _probes(self, before: tuple[int, ...]) -> list[tuple[int, ...]]:
        later = self._parts[len(before) + 1 :]
        if not later:
            return [()]
        limit = (1 << self._parts[len(before)].bits) - 1
        probes = {tuple(0 for _ in later), tuple((1 << part.bits) - 1 for part in later)}
        probes |= {tuple(self._rng.getrandbits(part.bits) for part in later) for _ in range(4)}
        found = {
            numbers
            for number in (0, limit, self._rng.randint(0, limit))
            for numbers, _, _ in self.tree((*before, number)).leaves()
        }
        found -= probes
        probes |= set(self._rng.sample(sorted(found), min(len(found), _PROBES)))
        return sorted(probes)


def _try_every(key: Callable[[int], Hashable], total: int) -> Tree:
    seen: dict[Hashable, int] = {}
    firsts: list[int] = []
    counts: list[int] = []
    classes = []
    for number in range(total):
        found = seen.setdefault(key(number), len(seen))
        if found == len(firsts):
            firsts.append(number)
            counts.append(0)
        counts[found] += 1
        classes.append(found)
    return Tree(firsts, [Fraction(count, total) for count in counts], classes)


def _scaled(key: Callable[[int], Hashable], total: int, results: int) -> Tree:
    """A class for each result of a scaled draw; searched for where the ends of one give different outputs."""
    firsts = [-(-total * result // results) for result in range(results)]
    ends = [*firsts[1:], total]
    if any(key(first) != key(end - 1) for first, end in zip(firsts, ends, strict=True)):
        return _search(key, total, [])
    return Tree(firsts, [Fraction(end - first, total) for first, end in zip(firsts, ends, strict=True)], None)


def _search(key: Callable[[int], Hashable], total: int, hints: list[list[int]]) -> Tree:
    firsts = next((hint for hint in hints if _still_holds(key, total, hint)), None)
    if firsts is None:
        firsts = [0, *_changes(key, 0, key(0), total - 1, key(total - 1))]
    ends = [*firsts[1:], total]
    return Tree(firsts, [Fraction(b - a, total) for a, b in zip(firsts, ends, strict=True)], None)


def _still_holds(key: Callable[[int], Hashable], total: int, firsts: list[int]) -> bool:
    """Whether the output changes exactly at ``firsts``, judged as a search does: by the ends of every stretch."""
    before: Hashable = None
    for first, end in zip(firsts, [*firsts[1:], total], strict=True):
        here = key(first)
        if here == before or key(end - 1) != here:
            return False
        before = here
    return True


def _changes(key: Callable[[int], Hashable], low: int, at_low: Hashable, high: int, at_high: Hashable) -> Iterator[int]:
    """Every number in (low, high] at which the output changes, where equal ends mean no change between them."""
    if at_low == at_high:
        return
    if high - low == 1:
        yield high
        return
    middle = (low + high) // 2
    at_middle = key(middle)
    yield from _changes(key, low, at_low, middle, at_middle)
    yield from _changes(key, middle, at_middle, high, at_high)
