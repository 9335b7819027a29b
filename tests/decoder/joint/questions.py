"""From records, or exact chances, to pairs and fits: for tests of what lies between them and the result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hubbub_decoder.counting.records import Records
from hubbub_decoder.joint.decode import _pairs
from hubbub_decoder.joint.distinct import partial
from hubbub_decoder.joint.pairs import Pairs
from hubbub_decoder.joint.question import Question
from hubbub_registry import Metric

Table = NDArray[np.float64]


def question(metric: Metric, first: list[str], second: list[str]) -> Question:
    """What is asked of ``metric``."""
    return Question("m", metric.parts, (tuple(first), tuple(second)))


def pairs_of(metric: Metric, records: Records, first: list[str], second: list[str]) -> Pairs:
    """The distinct pairs of ``records``."""
    return _pairs(metric, partial(metric, records), (tuple(first), tuple(second)))[0]


def expected_pairs(asked: Question, table: Table, n: int) -> Pairs:
    """Every pair of records, each seen exactly as often as it is expected of ``n`` reports."""
    pairs = asked.expected(table)
    return replace(pairs, count=pairs.count * n)


def climb_by_em(pairs: Pairs, steps: int) -> Table:
    """The table after so many steps of plain EM, from the uniform one (Fanti, Pihur, Erlingsson 2016, section 4)."""
    table = np.full(pairs.shape, 1 / (pairs.shape[0] * pairs.shape[1]))
    first, second = pairs.first.at(pairs.i), pairs.second.at(pairs.j)
    for _ in range(steps):
        weight = pairs.count / np.einsum("ra,ab,rb->r", first, table, second)
        table = table * (first.T @ (second * weight[:, np.newaxis])) / pairs.count.sum()
    return np.asarray(table)
