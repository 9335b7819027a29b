"""Targets for tests of ``hubbub audit --target``: functions of a value that return one report."""

from __future__ import annotations

import random

VALUES = ["a", "b", "c"]
_RNG = random.Random(7)


def honest(value: str) -> str:
    """Three-ary randomized response that tells the truth with 1/2: a ratio of 2, epsilon 0.694."""
    return value if _RNG.random() < 0.25 else _RNG.choice(VALUES)


def broken(value: str) -> list[str]:
    """The same in a list that begins with the true value."""
    return [value, honest(value)]


not_a_function = 1
