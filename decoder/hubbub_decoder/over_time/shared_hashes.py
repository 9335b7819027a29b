"""Two periods of one sketch share their hash functions: what collides in both cancels in the difference.

A count's error from the hash set has variance S/((m - 1) k) in shares of n, with S the sum of the other values' squared
shares, and no number of reports removes it. In the difference of two periods it is D in place of both S, with D the sum
of the squared *changes* of the other values' shares: 0 where nothing changed. D is estimated from the two sketches.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from hubbub_decoder.counting.state import State
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.support.colliding import CollidingSupport
from hubbub_registry import Metric

# How many standard errors are added to D, so that it is hardly ever taken to be less than it is.
_MARGIN = 4.0
# Cells that are in floating point at a time.
_ROWS = 1 << 8


def without_shared_collisions(
    metric: Metric, states: tuple[State, State], estimates: tuple[Estimates, Estimates]
) -> tuple[Estimates, Estimates]:
    """``estimates`` of these two ``states`` with the errors that count in their difference.

    As they are where the mechanism has no fixed set of hash functions.
    """
    changed = _SQUARED_CHANGE.get(metric.mechanism)
    laws = [each.null_law for each in estimates]
    if changed is None or not all(isinstance(law, CollidingSupport) for law in laws) or min(s.n for s in states) < 2:
        return estimates
    squares = changed(metric, *states)
    first, second = (_with_squares(each, squares) for each in estimates)
    return first, second


def _with_squares(estimates: Estimates, squares: float) -> Estimates:
    """The hash set's part in the variance as half of what ``squares`` give, for the other period has the other half."""
    law = estimates.null_law
    assert isinstance(law, CollidingSupport)  # noqa: S101 - the caller has looked
    own = (np.clip(estimates.count, 0, estimates.n) / estimates.n) ** 2
    stated = np.clip(law.squares - own, 0.0, 1.0)
    saved = np.maximum(stated - squares / 2, 0.0) * estimates.n**2 / ((law.width - 1) * law.hashes)
    nothing = np.zeros_like(estimates.count)
    # The most that changes of this size skew a difference, in either direction; the least is that of no change.
    most = replace(law, squares=squares).third_moment(nothing).most
    least = replace(law, squares=0.0).third_moment(nothing).least
    return replace(
        estimates,
        null_variance=estimates.null_variance - saved,
        null_third=np.minimum(most, estimates.null_third),
        null_third_least=np.minimum(least, estimates.null_third_least),
        null_law=None,
        support=None,
    )


def _hadamard(metric: Metric, a: State, b: State) -> float:
    """Both are histograms of signed cells; in their difference each cell has variance (1/n_a + 1/n_b)/(m k) from noise,
    and all cells' squares add up to D/(c**2 m k) beside that, with c = 1/(1 - 2t)."""
    parameters = metric.device.parameters
    one, other = a.arrays["signed"], b.arrays["signed"]
    gain = 1 / (1 - 2 * parameters["threshold"] / (1 << parameters["precision"]))
    width, hashes = one.shape
    squared = 0.0
    for start in range(0, width, _ROWS):
        rows = slice(start, start + _ROWS)
        squared += float(np.square(one[rows] / a.n - other[rows] / b.n).sum())
    noise = 1 / a.n + 1 / b.n
    change = gain**2 * width * hashes * (squared - noise)
    return _upper(change, width, hashes, gain**2, width * gain**4, noise)


def _plain(metric: Metric, a: State, b: State) -> float:
    """Rows of debiased bits, one a hash function: of a's and b's means under it the squared distance is D on average,
    and the noise of the bits beside that."""
    parameters = metric.device.parameters
    flip = parameters["threshold"] / (1 << parameters["precision"])
    gain = 1 - 2 * flip
    noisy = flip * (1 - flip) / gain**2
    reports = [state.arrays["reports"].astype(np.float64) for state in (a, b)]
    both = np.flatnonzero((reports[0] > 1) & (reports[1] > 1))
    if not len(both):
        return 2.0
    width, total = a.arrays["sums"].shape[1], 0.0
    for start in range(0, len(both), _ROWS):
        rows = both[start : start + _ROWS]
        mean, own = np.zeros((2, len(rows), width)), 0.0
        for i, state in enumerate((a, b)):
            r = reports[i][rows][:, np.newaxis]
            mean[i] = (state.arrays["sums"][rows] / r - flip) / gain
            # How far a mean of r rows lies from its own expectation, squared: unbiased, from the bits' own spread.
            ones = mean[i] * gain + flip
            own += float((ones * (1 - ones) / gain**2 / (r - 1)).sum())
        total += float(np.square(mean[0] - mean[1]).sum()) - own
    used = sum(float((1 / each[both]).mean()) for each in reports) / len(both)
    return _upper(total / len(both), width, len(both), noisy + 1, width * noisy**2 + 1, used)


def _hashed(metric: Metric, a: State, b: State) -> float:
    """Counts of hash functions and buckets: how often two reports under one function sent one bucket, within a, within
    b and between them. Reports that do so say that their values share it, see ``local_hashing``; what is expected of
    those that do not is the same in all three and cancels in a + b - 2 ab, which is D, less 1/m of it, on average."""
    parameters = metric.device.parameters
    gain = (1 << parameters["precision"]) / parameters["threshold"]
    one, other = a.arrays["counts"], b.arrays["counts"]
    hashes, width = one.shape
    alike, pairs = np.zeros(3), np.zeros(3)
    for start in range(0, hashes, _ROWS):
        x, y = (counts[start : start + _ROWS].astype(np.float64) for counts in (one, other))
        r, t = x.sum(axis=1), y.sum(axis=1)
        alike += float(np.square(x).sum() - r.sum()), float(np.square(y).sum() - t.sum()), float((x * y).sum())
        pairs += float(r @ (r - 1)), float(t @ (t - 1)), float(r @ t)
    if not pairs.all():
        return 2.0
    alike /= pairs
    change = gain**2 * float(alike[0] + alike[1] - 2 * alike[2])
    return _upper(change, width, hashes, gain**2, float(alike.max()) * gain**4, 1 / a.n + 1 / b.n)


def _upper(change: float, width: int, hashes: int, linear: float, square: float, noise: float) -> float:
    """D from how often buckets changed, with ``_MARGIN`` standard errors: the noise's own, and what it adds to D."""
    squares = max(width / (width - 1) * change, 0.0)
    variance = 2 * hashes * square * noise**2 + 4 * linear * squares * noise
    return min(squares + _MARGIN * float(np.sqrt(variance)), 2.0)


_SQUARED_CHANGE: dict[str, Callable[[Metric, State, State], float]] = {
    "hadamard-count-mean-sketch": _hadamard,
    "count-mean-sketch": _plain,
    "local-hashing": _hashed,
}
"""An upper bound of D, for the mechanisms whose collisions are the same in two periods."""
