"""The share of each second value among holders of a first one; its intervals know that the denominator errs too."""

from __future__ import annotations

import numpy as np

from hubbub_decoder.joint.bloom import FloatArray


def shares(share: FloatArray, noise: FloatArray, quantile: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """p_ab / p_a. with the ends of its intervals; each of shape (A, B).

    An interval is all shares t in [0, 1] with |p_ab - t p_a.| within ``quantile`` of its standard errors (Fieller
    1954): where the row may be empty it is all of [0, 1], as it should be. ``noise`` is the covariance of ``share``.
    The quotient itself is held within [0, 1], and is NaN where the row's count is not positive.
    """
    a, b = share.shape
    four = noise.reshape(a, b, a, b)
    own = np.einsum("abab->ab", four)
    with_row = np.einsum("abac->ab", four)
    row_variance = np.einsum("abac->a", four)[:, np.newaxis]
    row = share.sum(axis=1, keepdims=True)
    square = quantile**2
    # (p - t r)**2 <= square (own - 2 t with_row + t**2 row_variance), as q2 t**2 + q1 t + q0 <= 0.
    q2 = np.broadcast_to(row**2 - square * row_variance, share.shape)
    q1 = -2 * (share * row - square * with_row)
    q0 = share**2 - square * own
    low, high = np.zeros(share.shape), np.ones(share.shape)
    for at in np.ndindex(share.shape):
        low[at], high[at] = _within(float(q2[at]), float(q1[at]), float(q0[at]))
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.where(row > 0, np.clip(share / row, 0, 1), np.nan)
    return quotient, low, high


def _within(q2: float, q1: float, q0: float) -> tuple[float, float]:
    """The ends of the part of [0, 1] where the quadratic is not positive; the nearer end of it twice where none is."""
    root = q1 * q1 - 4 * q2 * q0
    ends = [0.0, 1.0]
    if root >= 0 and q2 != 0:
        ends += [(-q1 - root**0.5) / (2 * q2), (-q1 + root**0.5) / (2 * q2)]
    inside = [t for t in ends if 0 <= t <= 1 and (t not in (0.0, 1.0) or q2 * t * t + q1 * t + q0 <= 0)]
    if not inside:
        nearer = 0.0 if q0 <= q2 + q1 + q0 else 1.0
        return nearer, nearer
    return min(inside), max(inside)
