"""The reports that two parts can send, and how often a table makes each: what reports tell, known without seeing any.

Where they are few these are all of them. Else they are drawn, as many for each cell of the table, and stand for all by
how much likelier the table makes them than drawing did (importance sampling).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hubbub_decoder.joint.bloom import FloatArray
from hubbub_decoder.joint.outputs import AT_LEAST, MOST_BITS, Outputs, bits, outputs
from hubbub_decoder.joint.pairs import Pairs, merged
from hubbub_registry import Metric

# So many pairs at most, unless each cell then has fewer than AT_LEAST.
_PAIRS = 1 << 15
# Always the same: equal reports have equal results.
_SEED = 20_160_719


def possible_pairs(parts: Sequence[Metric], sides: Sequence[Sequence[str]]) -> Pairs:
    """Of the records of both parts, ``sides`` being either part's candidates.

    A pair's ``count`` is the factor of its chance that likelihoods leave out.
    """
    rng = np.random.default_rng(_SEED)
    first, second = (outputs(part, values, rng).merged() for part, values in zip(parts, sides, strict=True))
    most = max(_PAIRS, AT_LEAST * first.side.width * second.side.width)
    if sum(bits(part) for part in parts) > MOST_BITS and len(first) * len(second) > most:
        return merged(_drawn(first, second, most, rng))
    i, j = np.divmod(np.arange(len(first) * len(second)), len(second))
    return Pairs(first.side, second.side, i, j, first.weights[i] * second.weights[j])


def expected(possible: Pairs, table: FloatArray) -> Pairs:
    """``possible`` pairs, each with its chance where ``table`` is true."""
    chance = [np.einsum("ra,ra->r", first @ table, second) * factor for first, second, factor in possible.chunks()]
    flat = np.concatenate(chance)
    return replace(possible, count=flat / flat.sum())


def _drawn(first: Outputs, second: Outputs, most: int, rng: np.random.Generator) -> Pairs:
    """About ``most`` pairs: half as holders of each cell's values send them, half by what they tell of these."""
    a, b = first.side.width, second.side.width
    each = -(-most // (2 * a * b))
    ways = ((first.chances, second.chances), (first.telling, second.telling))
    drawn = [
        (_by_class(left, b * each, rng), _by_class(right, a * each, rng).reshape(b, a, each).swapaxes(0, 1))
        for left, right in ways
    ]
    i, j = (np.concatenate([pair[side].ravel() for pair in drawn]) for side in (0, 1))
    often = sum(left.mean(axis=1)[i] * right.mean(axis=1)[j] for left, right in ways)
    return Pairs(first.side, second.side, i, j, first.weights[i] * second.weights[j] / often)


def _by_class(chance: FloatArray, size: int, rng: np.random.Generator) -> np.ndarray:
    """``size`` records of each class, (classes, size), at equal steps of their chances added up.

    So each is among them as often as expected, or nearly.
    """
    at = (np.arange(size) + rng.random(size)) / size
    return np.array([rng.permutation(np.searchsorted(end[:-1], at, side="right")) for end in chance.cumsum(axis=0).T])
