"""One step of Fisher's scoring from a table, and the errors of where it leads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from hubbub_decoder.errors import EstimateError
from hubbub_decoder.joint.bloom import FloatArray
from hubbub_decoder.joint.information import information, likelihood, third_moment
from hubbub_decoder.joint.pairs import Pairs
from hubbub_decoder.joint.question import Question

# Where 1 / condition number of the information is below this, some cells cannot be told apart.
_SINGULAR = 1e-10


@dataclass(frozen=True, eq=False)
class Step:
    """What the log-likelihood is near ``table`` (A, B): its ``value``, its slope, its curvature; of one report each.

    A report's influence on where the step leads is ``inverse`` times (its score - the mean score), over n.
    """

    table: FloatArray
    n: float
    value: float
    mean: FloatArray
    """The mean score, (A, B)."""
    curvature: FloatArray
    """The mean of u u' as it is expected where ``table`` is true; (A B, A B)."""
    factor: FloatArray
    """Upper: curvature = factor' factor."""
    inverse: FloatArray
    """Of the curvature."""

    @staticmethod
    def at(question: Question, pairs: Pairs, table: FloatArray) -> Step:
        """The step from ``table``. Raises EstimateError where reports cannot tell cells apart, or it takes too long."""
        value, mean = likelihood(pairs, table)
        curvature = information(question.expected(table), table)
        factor = _factor(question, curvature)
        inverse = linalg.cho_solve((factor, False), np.eye(table.size))
        return Step(table, float(pairs.count.sum()), value, mean, curvature, factor, inverse)

    def taken(self) -> FloatArray:
        """Where the step leads."""
        free = self.table.ravel() + self.inverse @ (self.mean.ravel() - 1)
        return np.asarray((free / free.sum()).reshape(self.table.shape))

    def covariance(self) -> FloatArray:
        """Of where it leads, flat, where ``table`` is true: A^-1 - p p', over n."""
        flat = self.table.ravel()
        return np.asarray((self.inverse - np.outer(flat, flat)) / self.n)

    def third_moment(self, question: Question) -> FloatArray:
        """Of one report's influence on each cell where ``table`` is true; (A, B). NaN where it takes too long."""
        return third_moment(question.expected(self.table), self.table, self.inverse, np.ones(self.table.shape))


def _factor(question: Question, curvature: FloatArray) -> FloatArray:
    values, vectors = linalg.eigh(curvature)
    if values[0] > _SINGULAR * values[-1]:
        return np.asarray(linalg.cholesky(curvature))
    first, second = question.labels
    alike = np.argsort(-np.abs(vectors[:, 0]), kind="stable")[:2]
    named = " and ".join(f"({first[at // len(second)]}, {second[at % len(second)]})" for at in alike)
    raise EstimateError(
        f"{question.name}: the reports cannot tell some pairs apart, {named} among them; leave out candidates that "
        "share their bits with others"
    )
