"""Are the two sides independent? A test on what the table has beyond the product of its marginals."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg, stats

from hubbub_decoder.joint.bloom import FloatArray

_SINGULAR = 1e-12


class Independence(NamedTuple):
    """A ``statistic`` that is chi-squared with ``degrees`` where the sides are independent, and its ``p_value``."""

    statistic: float
    degrees: int
    p_value: float


def independence(share: FloatArray, covariance: FloatArray) -> Independence:
    """Tests t = p_ab - p_a. p_.b = 0 for all a and b but the last ones, which follow from the rest.

    The errors of t follow from those of the table by its derivative: of p_ab itself, less p_.b of all cells in row a,
    less p_a. of all cells in column b. ``covariance`` is that of ``share`` (A, B), flat, where devices are drawn too:
    two sides that are independent in the population are not exactly so among some of its devices.
    """
    a, b = share.shape
    rows, columns = share.sum(axis=1), share.sum(axis=0)
    beyond = (share - np.outer(rows, columns))[:-1, :-1].ravel()
    derivative = np.zeros((a, b, a, b))
    for i in range(a):
        derivative[i, :, i, :] -= columns[:, np.newaxis]
    for j in range(b):
        derivative[:, j, :, j] -= rows[:, np.newaxis]
    own = np.arange(a * b)
    flat = derivative.reshape(a * b, a * b)
    flat[own, own] += 1
    kept = derivative[:-1, :-1].reshape((a - 1) * (b - 1), a * b)
    errors = kept @ covariance @ kept.T
    values, vectors = linalg.eigh(errors)
    good = values > _SINGULAR * values[-1]
    statistic = float((((beyond @ vectors)[good]) ** 2 / values[good]).sum())
    degrees = int(good.sum())
    return Independence(statistic, degrees, float(stats.chi2.sf(statistic, degrees)) if degrees else 1.0)
