"""Statistics of a report: each fits a score on some reports of two values, the higher the likelier the first.

All are likelihood ratios, of different models of a report: the report whole, its first or last element, its elements
or its bits as if independent, the order of its elements, pairs of bits as if independent, and its size. A wrong model
costs power and nothing else: the bound comes from counts of reports that no score was fitted on.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub_simulations.audit.views import View

Scores = NDArray[np.float64]
Score = Callable[[View], Scores]
_SINGLE_BITS = 8
_PAIRS = 256
_PAIRED_BITS = 512
_ORDERED = 6
_BINS = 32


def scores(one: View, other: View) -> dict[str, Score]:
    """Every statistic that these reports allow, fitted on reports of ``one`` value and of the ``other``, by name."""
    found = {"the whole report": _symbol(one, other, lambda view: view.symbols)}
    if one.elements is not None and other.elements is not None:
        found |= _of_elements(one, other)
    if one.numbers is not None and other.numbers is not None:
        found |= _of_numbers(one, other)
    if one.bits is not None and other.bits is not None and one.bits.shape[1] == other.bits.shape[1]:
        found |= _of_bits(one.bits, other.bits)
    return found


def _symbol(one: View, other: View, symbols_of: Callable[[View], Sequence[Hashable]]) -> Score:
    """The log-likelihood ratio of a symbol, from counts; 0 for one that was not seen."""
    table = _table(symbols_of(one), symbols_of(other))
    return lambda view: np.array([table.get(symbol, 0.0) for symbol in symbols_of(view)])


def _table(one: Iterable[Hashable], other: Iterable[Hashable]) -> dict[Hashable, float]:
    here, there = Counter(one), Counter(other)
    return {symbol: math.log((here[symbol] + 0.5) / (there[symbol] + 0.5)) for symbol in here.keys() | there.keys()}


def _of_elements(one: View, other: View) -> dict[str, Score]:
    def at(position: int) -> Callable[[View], Sequence[Hashable]]:
        return lambda view: [row[position] if row else None for row in view.elements or ()]

    def order(view: View) -> Sequence[Hashable]:
        rows = view.elements or ()
        return [tuple(sorted(range(min(len(row), _ORDERED)), key=lambda i, row=row: repr(row[i]))) for row in rows]  # type: ignore[misc]

    def members(view: View) -> list[set[Hashable]]:
        return [set(row) for row in view.elements or ()]

    def places(view: View) -> list[list[Hashable]]:
        return [list(enumerate(row)) for row in view.elements or ()]

    return {
        "the first element": _symbol(one, other, at(0)),
        "the last element": _symbol(one, other, at(-1)),
        "the number of elements": _symbol(one, other, lambda view: [len(row) for row in view.elements or ()]),
        "the order of the elements": _symbol(one, other, order),
        "which elements there are": _sum_of_symbols(one, other, members),
        "each element in its place": _sum_of_symbols(one, other, places),
    }


def _sum_of_symbols(one: View, other: View, rows_of: Callable[[View], Iterable[Iterable[Hashable]]]) -> Score:
    table = _table((s for row in rows_of(one) for s in row), (s for row in rows_of(other) for s in row))
    return lambda view: np.array([sum(table.get(symbol, 0.0) for symbol in row) for row in rows_of(view)])


def _of_numbers(one: View, other: View) -> dict[str, Score]:
    assert one.numbers is not None  # noqa: S101 - the caller looked
    assert other.numbers is not None  # noqa: S101
    edges = np.unique(np.quantile(np.concatenate([one.numbers, other.numbers]), np.linspace(0, 1, _BINS + 1)[1:-1]))

    def bins(view: View) -> list[Hashable]:
        return list(np.searchsorted(edges, _numbers(view), side="right").tolist())

    return {
        "how large it is": lambda view: _numbers(view),
        "how small it is": lambda view: -_numbers(view),
        "how large it is, in bins": _symbol(one, other, bins),
    }


def _numbers(view: View) -> Scores:
    return np.array([]) if view.numbers is None else view.numbers


def _of_bits(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> dict[str, Score]:
    weights = _log_odds(one.sum(axis=0), len(one), other.sum(axis=0), len(other))
    found: dict[str, Score] = {
        "all bits, as if independent": lambda view: _weighted(_bits(view), *weights),
        "the number of ones": lambda view: _bits(view).sum(axis=1, dtype=np.float64),
        "the number of zeros": lambda view: -_bits(view).sum(axis=1, dtype=np.float64),
    }
    telling = np.argsort(-np.maximum(np.abs(weights[0]), np.abs(weights[1])))
    found |= {f"bit {bit}": _bit(int(bit), *weights) for bit in telling[:_SINGLE_BITS]}
    if 1 < one.shape[1] <= _PAIRED_BITS:
        found["pairs of bits that are equal, as if independent"] = _pairs(one, other)
    return found


def _bit(bit: int, for_one: Scores, for_zero: Scores) -> Score:
    only = slice(bit, bit + 1)
    return lambda view: _weighted(_bits(view)[:, only], for_one[only], for_zero[only])


def _pairs(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> Score:
    """The pairs of bits whose being unequal differs most, by the normal approximation, summed as if independent."""
    first, second = np.triu_indices(one.shape[1], 1)
    here, there = _unequal(one)[first, second], _unequal(other)[first, second]
    rate = (here + there + 1) / (len(one) + len(other) + 2)
    deviation = np.abs(here / len(one) - there / len(other)) / np.sqrt(rate * (1 - rate))
    chosen = np.argsort(-deviation)[:_PAIRS]
    first, second = first[chosen], second[chosen]
    weights = _log_odds(here[chosen], len(one), there[chosen], len(other))
    return lambda view: _weighted(_bits(view)[:, first] ^ _bits(view)[:, second], *weights)


def _unequal(bits: NDArray[np.uint8]) -> Scores:
    """How many reports have bit i unlike bit j, for every i and j."""
    wide = bits.astype(np.float32)
    both = (wide.T @ wide).astype(np.float64)
    ones = both.diagonal()
    return ones[:, None] + ones[None, :] - 2 * both


def _log_odds(
    here: NDArray[np.generic], here_of: int, there: NDArray[np.generic], there_of: int
) -> tuple[Scores, Scores]:
    """What a 1 and what a 0 adds to the score, for each bit, from counts of ones."""
    k, m = np.asarray(here, np.float64), np.asarray(there, np.float64)
    for_one = np.log((k + 0.5) / (here_of + 1)) - np.log((m + 0.5) / (there_of + 1))
    for_zero = np.log((here_of - k + 0.5) / (here_of + 1)) - np.log((there_of - m + 0.5) / (there_of + 1))
    return for_one, for_zero


def _weighted(bits: NDArray[np.uint8], for_one: Scores, for_zero: Scores) -> Scores:
    total: Scores = bits @ (for_one - for_zero) + for_zero.sum()
    return total


def _bits(view: View) -> NDArray[np.uint8]:
    return np.zeros((len(view.symbols), 0), np.uint8) if view.bits is None else view.bits
