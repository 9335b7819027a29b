"""The log-likelihood of a joint table, its gradient, and the second moment of the scores.

With l the vector of a report's likelihoods over all cells of a table p, the report's chance is l p, its score is
u = l / (l p), and the mean of u u' is what reports tell about the table: Fisher's information, where the reports are as
many of each kind as are expected.
"""

from __future__ import annotations

import numpy as np

from hubbub_decoder.errors import EstimateError
from hubbub_decoder.joint.bloom import FloatArray
from hubbub_decoder.joint.pairs import Pairs

# Multiply-adds of one pass over the reports: some minutes.
MOST_WORK = 1 << 41
_MOST_WORK_FOR_SHAPE = 1 << 34
# A side with so few different records has its matrices added up record by record.
_FEW = 256


def likelihood(pairs: Pairs, table: FloatArray) -> tuple[float, FloatArray]:
    """The mean log-likelihood of ``table`` (A, B), but for a constant, and the mean score (A, B)."""
    total, gradient = 0.0, np.zeros(pairs.shape)
    for first, second, count in pairs.chunks():
        chance = np.einsum("ra,ra->r", first @ table, second)
        total += float(count @ np.log(chance))
        gradient += first.T @ (second * (count / chance)[:, np.newaxis])
    n = pairs.count.sum()
    return total / n, gradient / n


def information(pairs: Pairs, table: FloatArray) -> FloatArray:
    """The mean of u u' at ``table``; (A B, A B). Raises EstimateError where that takes too long."""
    swap = len(pairs.second) > len(pairs.first)
    few = pairs.swapped() if swap else pairs
    a, b = few.shape
    grouped = len(few.second) <= _FEW
    _check_work(len(pairs) * a * a if grouped else len(pairs) * a * a * b * b, pairs)
    moment = (_by_record if grouped else _by_report)(few, table.T if swap else table)
    moment /= pairs.count.sum()
    if swap:
        moment = moment.reshape(a, b, a, b).transpose(1, 0, 3, 2).reshape(a * b, a * b)
    return moment


def third_moment(pairs: Pairs, table: FloatArray, inverse: FloatArray, mean: FloatArray) -> FloatArray:
    """The mean third power of a report's influence ``inverse`` (u - ``mean``) on each cell; (A, B).

    All NaN where that takes too long: for a thousand cells and more.
    """
    if len(pairs) * table.size**2 > _MOST_WORK_FOR_SHAPE:
        return np.full(table.shape, np.nan)
    total = np.zeros(table.size)
    for first, second, count in pairs.chunks():
        chance = np.einsum("ra,ra->r", first @ table, second)
        score = ((first / chance[:, np.newaxis])[:, :, np.newaxis] * second[:, np.newaxis, :]).reshape(len(first), -1)
        influence = (score - mean.ravel()) @ inverse
        total += count @ (influence * influence * influence)  # numpy's own third power takes fifty times as long
    return np.asarray((total / pairs.count.sum()).reshape(table.shape))


def _by_report(pairs: Pairs, table: FloatArray) -> FloatArray:
    cells = table.size
    moment = np.zeros((cells, cells))
    for first, second, count in pairs.chunks():
        chance = np.einsum("ra,ra->r", first @ table, second)
        rows = first * (np.sqrt(count) / chance)[:, np.newaxis]
        both = (rows[:, :, np.newaxis] * second[:, np.newaxis, :]).reshape(len(rows), cells)
        moment += both.T @ both
    return moment


def _by_record(pairs: Pairs, table: FloatArray) -> FloatArray:
    """All reports with one record on the second side share its likelihoods, so its matrix is an outer product."""
    a, b = table.shape
    moment = np.zeros((a, b, a, b))
    order = np.argsort(pairs.j, kind="stable")
    bounds = np.searchsorted(pairs.j[order], np.arange(len(pairs.second) + 1))
    likelihoods = pairs.second.at(slice(None))
    for record, own in enumerate(likelihoods):
        mixed = table @ own
        square = np.zeros((a, a))
        for start in range(bounds[record], bounds[record + 1], 1 << 14):
            part = order[start : min(start + (1 << 14), bounds[record + 1])]
            first = pairs.first.at(pairs.i[part])
            first *= (np.sqrt(pairs.count[part]) / (first @ mixed))[:, np.newaxis]
            square += first.T @ first
        moment += square[:, np.newaxis, :, np.newaxis] * np.outer(own, own)[np.newaxis, :, np.newaxis, :]
    return moment.reshape(a * b, a * b)


def _check_work(work: int, pairs: Pairs) -> None:
    if work > MOST_WORK:
        a, b = pairs.shape
        raise EstimateError(
            f"{len(pairs):,} different reports and a table of {a} x {b} are more than a joint estimate takes on; list "
            "fewer candidates, or decode fewer periods at a time"
        )
