"""Consistent shares: posterior quantiles under a prior learnt from all candidates.

Of all shares with the expected total they have the least expected total variation from the truth. Where the list is
short enough the posterior is that of the whole regression, by expectation propagation (Minka 2001; for linear models
Hernandez-Lobato et al., "Expectation propagation in linear regression models with spike-and-slab priors", 2015): each
candidate's prior is replaced by a normal *site* that has the same effect on its posterior mean and variance, so that
knowing that one value is not negative sharpens those that share bits with it. For long lists each candidate is judged
by its own estimate and variance.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from hubbub_decoder.consistent import FloatArray, within_simplex
from hubbub_decoder.rappor.joint import inverse_of
from hubbub_decoder.rappor.prior import Falling

_ITERATIONS = 10
_FIRST_STEPS, _STEPS = 40, 3  # of the prior's EM: in the first iteration, and in each other
_DAMPING = 0.7
# No prior is weaker than that of a share, which is within [0, 1].
_WEAKEST = 1.0
# A cubic matter: this many take a second or two.
MOST_JOINTLY = 1500


def shrunk(share: FloatArray, variance: FloatArray) -> FloatArray:
    """Posterior quantiles from each candidate's own estimate; not negative, together at most 1."""
    variance = np.minimum(np.maximum(variance, np.finfo(float).tiny), _WEAKEST)
    prior = Falling(share, variance)
    prior.fit(share, variance, _FIRST_STEPS)
    return within_simplex(prior.consistent(share, variance), 1.0)


def shrunk_jointly(
    normal: FloatArray, moment: FloatArray, prior_of: Callable[[FloatArray, FloatArray], Falling] = Falling
) -> FloatArray:
    """Posterior quantiles under the likelihood exp(-f' N f / 2 + m' f); not negative, together at most 1."""
    precision = np.full(len(moment), 1 / _WEAKEST)
    shift = np.zeros(len(moment))
    mean, variance = _cavity(normal, moment, precision, shift)
    prior = prior_of(mean, variance)
    for iteration in range(_ITERATIONS):
        prior.fit(mean, variance, _STEPS if iteration else _FIRST_STEPS)
        centre, spread = prior.moments(mean, variance)
        spread = np.maximum(spread, 1e-3 * variance)
        wanted = np.maximum(1 / spread - 1 / variance, 1e-6 / variance)
        precision += _DAMPING * (wanted - precision)
        shift += _DAMPING * (centre / spread - mean / variance - shift)
        mean, variance = _cavity(normal, moment, precision, shift)
    return within_simplex(prior.consistent(mean, variance), 1.0)


def _cavity(
    normal: FloatArray, moment: FloatArray, precision: FloatArray, shift: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """What all but a candidate's own site say of it: mean and variance."""
    tilted = normal + np.diag(precision)
    scale = 1 / np.sqrt(np.diag(tilted))
    inverse = inverse_of(linalg.cholesky(tilted * scale[:, np.newaxis] * scale, lower=True))
    variance = np.diag(inverse) * scale**2
    mean = scale * (inverse @ (scale * (moment + shift)))
    left = np.maximum(1 / variance - precision, 1e-9 / variance)
    return (mean / variance - shift) / left, 1 / left
