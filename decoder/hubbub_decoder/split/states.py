"""The states of all cells as one state, so that they are stored and cached as any other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from hubbub_decoder.counting.merging import merge as merge_states
from hubbub_decoder.counting.state import IntArray, State
from hubbub_decoder.errors import StateError
from hubbub_registry import Metric

Cells = Mapping[int, State]
"""Place of the dimension's value -> the state of its reports; without those of no reports."""
_SIZES = "sizes"


def merged(a: Cells, b: Cells) -> dict[int, State]:
    """The cells of both. Raises StateError where they are of different definitions."""
    both = dict(a)
    for cell, state in b.items():
        both[cell] = merge_states(both[cell], state) if cell in both else state
    return both


def pooled(cells: Cells) -> State | None:
    """The state of all reports together; None where there are none."""
    total: State | None = None
    for state in cells.values():
        total = state if total is None else merge_states(total, state)
    return total


def joined(metric: Metric, cells: Cells) -> State:
    """One state that holds them all: each array by its cell's place, and how many reports each cell has."""
    arrays: dict[str, IntArray] = {f"{cell}/{name}": a for cell, s in cells.items() for name, a in s.arrays.items()}
    arrays[_SIZES] = np.array([[cell, state.n] for cell, state in sorted(cells.items())], np.int64).reshape(-1, 2)
    return State.of(metric, sum(state.n for state in cells.values()), **arrays)


def taken_apart(state: State) -> dict[int, State]:
    """The inverse of ``joined``. Raises StateError for a state that is none of all cells."""
    if _SIZES not in state.arrays:
        raise StateError("this state is not one of all cells; aggregate again")
    found = {}
    for cell, n in state.arrays[_SIZES].tolist():
        prefix = f"{cell}/"
        arrays = {name.removeprefix(prefix): a for name, a in state.arrays.items() if name.startswith(prefix)}
        found[cell] = State(state.mechanism, state.fingerprint, n, arrays)
    return found
