"""What the arrays of a state must hold: those that its mechanism makes, with sums that its reports can have."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hubbub_decoder.counting.state import IntArray, State
from hubbub_decoder.errors import RecordError, StateError
from hubbub_decoder.joint.distinct import partial, records_of
from hubbub_decoder.mechanisms import mechanism
from hubbub_registry import Metric

_ONE_EACH = frozenset({"counts", "fragments", "reports"})
"""Each report is counted in one place of these, so they add up to n."""
_SEVERAL_EACH = {"covering": "bits"}
"""And in so many of these, by the name of a parameter; of two the same place twice, where no client made it."""
_WITHIN = {"sums": "reports", "ones": "covering"}
"""Of a group of reports some are counted here; in each place as many as are in the group at most. n without groups."""
_SIGNED = frozenset({"signed"})
"""Each report adds 1 or -1 in one place of these."""
_ROWS = 1 << 8  # that are copied at a time


def check_contents(metric: Metric, state: State) -> None:
    """Raises StateError where ``state``, of the definition of ``metric``, holds what no reports add up to.

    The names and shapes are those of a state of no records, which the mechanism itself makes; where that has none in
    a first dimension, there may be any number. Damage that keeps all sums as they were is not seen.
    """
    if state.n < 0:
        raise _wrong(metric, f"it is of {state.n} reports")
    own = metric.undivided
    empty = mechanism(own.mechanism).partial(own, np.zeros((0, own.device.record_bytes), np.uint8)).arrays
    if state.arrays.keys() != empty.keys():
        raise _wrong(metric, f"it holds {_listed(state.arrays)}, and not {_listed(empty)}")
    for name, array in state.arrays.items():
        shape = empty[name].shape
        any_number = shape[0] == 0
        if array.ndim != len(shape) or array.shape[any_number:] != shape[any_number:]:
            raise _wrong(metric, f"{name} has shape {array.shape}, and not {shape}")
        if any_number and len(array) != len(state.arrays[next(iter(empty))]):
            raise _wrong(metric, f"{name} has {len(array)} rows, and {next(iter(empty))} another number")
    for name in empty:
        _check_sums(metric, state, name)
    if "words" in empty:
        _check_words(own, state)


def _check_words(metric: Metric, state: State) -> None:
    """Raises StateError unless the words are those of distinct records that devices send, in order."""
    try:
        words = partial(metric, records_of(metric, state)[0]).arrays["words"]
    except RecordError as error:
        raise _wrong(metric, str(error)) from None
    if not np.array_equal(words, state.arrays["words"]):
        raise _wrong(metric, "its records are not in order, each once")


def _check_sums(metric: Metric, state: State, name: str) -> None:
    array, n = state.arrays[name], state.n
    if name in _SIGNED:
        blocks = (array[start : start + _ROWS] for start in range(0, len(array), _ROWS))
        if not _within(array, -n, n) or sum(int(np.abs(block).sum(dtype=np.int64)) for block in blocks) > n:
            raise _wrong(metric, f"{name} holds more than n = {n} reports add")
    elif name in _WITHIN:
        group = state.arrays.get(_WITHIN[name], np.array([n]))
        rows = array.reshape(len(group), -1)
        if not _within(array, 0, None) or (rows.max(axis=1) > group).any():
            raise _wrong(metric, f"{name} holds more than {_WITHIN[name]}, or less than 0 of n = {n} reports")
    elif name in _ONE_EACH or name in _SEVERAL_EACH:
        total = n * metric.device.parameters[_SEVERAL_EACH[name]] if name in _SEVERAL_EACH else n
        if not _within(array, 0, total) or int(array.sum(dtype=np.int64)) != total:
            raise _wrong(metric, f"{name} does not add up to {total}, with n = {n} reports")


def _within(array: IntArray, least: int, most: int | None) -> bool:
    return not array.size or (int(array.min()) >= least and (most is None or int(array.max()) <= most))


def _wrong(metric: Metric, what: str) -> StateError:
    return StateError(f"metric {metric.name}: this is no state of {metric.mechanism}: {what}; aggregate again")


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
