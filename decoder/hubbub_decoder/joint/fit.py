"""The joint table by maximum likelihood: the most likely one, and a step from it that may be negative, with errors.

At a table p, the step p + A^-1 (mean score - 1), with A what u u' is expected to be, is linear in the reports, unbiased
whatever the truth is, and near the truth as exact as any unbiased estimate (Fisher's scoring; Le Cam's one-step
estimate). It may be negative where few hold a pair, so its errors have no boundary to be wrong at. The table that EM
climbs to (Fanti, Pihur, Erlingsson 2016, section 4), the most likely of those that are not negative, is found faster by
proximal Newton steps: each maximises the quadratic form that the log-likelihood nearly is, among such tables (Kim,
Carbonetto, Stephens, Anitescu, "A fast algorithm for maximum likelihood estimation of mixture proportions", 2020).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize

from hubbub_decoder.errors import EstimateError
from hubbub_decoder.joint.bloom import FloatArray
from hubbub_decoder.joint.information import likelihood
from hubbub_decoder.joint.pairs import Pairs
from hubbub_decoder.joint.question import Question
from hubbub_decoder.joint.step import Step

_MOST_STEPS = 60
_STEPS_OF_ONE_CURVATURE = 4
_HALVINGS = 10
# Log-likelihood of all reports that a step must gain; what one standard error is worth is a half.
_ENOUGH = 1e-4
# The errors of so many cells with each other take an eighth of a GiB, and the fit some minutes.
MOST_CELLS = 1 << 12


@dataclass(frozen=True, eq=False)
class Fit:
    """Shares of the pairs, (A, B); ``free`` may be negative and adds up to 1 all the same."""

    free: FloatArray
    likeliest: FloatArray
    """The table that ``free`` is a step from."""
    step: Step
    covariance: FloatArray
    """Of ``free``, flat, (A B, A B), where each report's pair is drawn anew and ``likeliest`` is true."""
    steps: int


def fit(question: Question, pairs: Pairs) -> Fit:
    """The tables of ``pairs``, alike ones merged. Raises EstimateError."""
    check_size(question)
    a, b = pairs.shape
    step = Step.at(question, pairs, np.full((a, b), 1 / (a * b)))
    steps, gained = 0, np.inf
    while gained >= _ENOUGH and steps < _MOST_STEPS:
        likeliest, taken, gained = _climb(pairs, step)
        steps += taken
        step = Step.at(question, pairs, likeliest)
    free = step.taken()
    # Few reports, equal ones, and cells that noise seldom reaches have scores without a spread, and errors all the
    # same: how large they are is known.
    return Fit(free, likeliest, step, step.covariance(), steps)


def check_size(question: Question) -> None:
    """Raises EstimateError for a table of more cells than there is memory for."""
    a, b = (len(labels) for labels in question.labels)
    if a * b > MOST_CELLS:
        raise EstimateError(
            f"{question.name}: a table of {a:,} x {b:,} is more than a joint estimate takes on ({MOST_CELLS:,} cells); "
            "list fewer candidates, or report coarser values"
        )


def _climb(pairs: Pairs, step: Step) -> tuple[FloatArray, int, float]:
    """A more likely table, by a few steps with one curvature; how many they were, and what the last one gained."""
    n = float(pairs.count.sum())
    table, value, mean = step.table, step.value, step.mean
    taken, gained = 0, np.inf
    while gained >= _ENOUGH and taken < _STEPS_OF_ONE_CURVATURE:
        taken += 1
        new = _best(step, table, mean)
        new_value, new_mean = likelihood(pairs, new)
        for _ in range(_HALVINGS):  # the log-likelihood is concave, so a part of the way is a gain
            if new_value >= value:
                break
            new = (table + new) / 2
            new_value, new_mean = likelihood(pairs, new)
        gained = n * (new_value - value)
        if gained > 0:
            table, value, mean = new, new_value, new_mean
    return table, taken, gained


def _best(step: Step, table: FloatArray, mean: FloatArray) -> FloatArray:
    """The table that is not negative and maximises the form around ``table``, whose mean score is ``mean``."""
    # Its sum comes out as 1 by itself: the form is that of reports whose number is not fixed either.
    target = step.curvature @ table.ravel() + mean.ravel() - 1
    found, _ = optimize.nnls(step.factor, linalg.solve_triangular(step.factor, target, trans="T"))
    return np.asarray((found / found.sum()).reshape(table.shape))
