"""Merges two states, whatever their mechanism."""

from __future__ import annotations

from hubbub_decoder.counting.state import State, check_mechanism
from hubbub_decoder.mechanisms import mechanism


def merge(a: State, b: State) -> State:
    """The state of the records of both, as their mechanism merges states.

    Raises StateError where they are of different definitions, of no mechanism, or differ in shape.
    """
    check_mechanism(a.mechanism)
    return mechanism(a.mechanism).merge(a, b)
