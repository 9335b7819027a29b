"""The error of RAPPOR's regression over Bloom filters: n times the mean squared error, to first order in 1/n."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hubbub_decoder.rappor.bloom import candidate_bits
from hubbub_registry import Metric
from hubbub_simulations.bits import Floats


def regression_scaled_mse(
    metric: Metric, values: Sequence[str], frequencies: Floats, held: float, not_held: float
) -> Floats:
    """n x MSE ``(d,)`` of weighted least squares where ``values`` are all that anybody holds.

    ``held`` and ``not_held`` are q* and p*, the probabilities that a report shows 1 where its filter holds 1 and 0.

    Own derivation. The estimate is f^ = G y, where y_j are the debiased bit rates of cohort j less the background r,
    y = (A - r) f in expectation, and G are the least-squares coefficients with the rates' own variances. It errs
    because bits are noisy (their variance given what devices hold), and because which holders are in which cohort is
    random: cohorts of n/J are drawn without replacement from a fixed population, so their compositions have covariance
    J S/n less S/n over any two, with S = diag(f) - f f'. G A S = S, hence the last term. N_j = n/J is the first order.

    Raises numpy.linalg.LinAlgError where two values have the same bits in every cohort: no regression tells them apart.
    """
    p = metric.device.parameters
    cohorts, bits = p["cohorts"], p["bits"]
    filters = candidate_bits(metric, values).toarray()
    background = 1 - (1 - 1 / bits) ** p["hashes"]
    gain = held - not_held
    set_share = filters @ frequencies
    rate = not_held + gain * set_share
    design = filters - background
    weight = 1 / (rate * (1 - rate))
    normal = design.T @ (weight[:, np.newaxis] * design)
    coefficients = np.linalg.solve(normal, design.T * weight)
    noise = set_share * held * (1 - held) + (1 - set_share) * not_held * (1 - not_held)
    spread = np.diag(frequencies) - np.outer(frequencies, frequencies)
    total = cohorts / gain**2 * (coefficients**2 @ noise) - np.diag(spread)
    for cohort in range(cohorts):
        rows = slice(cohort * bits, (cohort + 1) * bits)
        moved = coefficients[:, rows] @ filters[rows]
        total += cohorts * np.einsum("iv,vw,iw->i", moved, spread, moved, optimize=True)
    return np.asarray(total)
