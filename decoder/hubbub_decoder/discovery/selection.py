"""How high a count had to be for its string to be listed, the other strings' p-values being what they are.

What is said of a listed string's count is then conditional on that, and on nothing of its own.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hubbub_decoder.consistent import BoolArray, FloatArray
from hubbub_decoder.discovery.pooled import PooledLaw
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.statistics.bisection import crossing
from hubbub_decoder.statistics.significance import Correction, NullLaw, skewed_tail


def largest_p_values(p_value: FloatArray, listed: BoolArray, alpha: float, correction: Correction) -> FloatArray:
    """The largest p-value with which each string that is ``listed`` still would be; of their shape.

    The other strings keep theirs, and the same ones of them are listed all the while. ``listed`` are those whose
    ``adjusted`` p-value is at most ``alpha``.
    """
    tests, those = len(p_value), np.flatnonzero(listed)
    if correction == "holm":
        order = np.argsort(p_value, kind="stable")
        rank = np.empty(tests, np.int64)
        rank[order] = np.arange(tests)
        # With k others passed, a p-value passes at alpha / (tests - k). A string steps down past those behind it, up to
        # the first that would not pass without it, one place before its own.
        allowed = alpha / np.arange(tests, 0, -1)
        stops = np.append(np.flatnonzero(p_value[order[1:]] > allowed[:-1]), tests - 1)
        return np.asarray(allowed[stops[np.searchsorted(stops, rank[those])]], np.float64)
    among = {"none": 1.0, "bonferroni": 1 / tests, "bh": len(those) / tests}[correction] if tests else 1.0
    return np.full(len(those), alpha * among)


def listed_from(tested: Estimates, listed: BoolArray, alpha: float, correction: Correction) -> FloatArray:
    """The counts above which the ``listed`` strings are listed, shape (d,) of these: half a report below the least."""
    return least_counts(tested, listed, largest_p_values(tested.p_value, listed, alpha, correction))


def least_counts(tested: Estimates, listed: BoolArray, largest: FloatArray) -> FloatArray:
    """The counts above which the p-values of the ``listed`` strings are at most ``largest`` (d,), of these strings."""
    count = tested.count[listed]
    if tested.null_law is None or tested.support is None:
        variance, third = tested.null_variance[listed], tested.null_third[listed]
        return crossing(lambda x: skewed_tail(x, variance, third, tested.step) > largest, count, tested.n)
    support = tested.support[listed]
    law = tested.null_law
    step = law.steps(support, tested.step) if isinstance(law, PooledLaw) else np.full(len(count), tested.step)
    more = _first(support) - least_support(law, support, largest) + 0.5
    return np.asarray(count - more * step, np.float64)


def least_support(law: NullLaw, support: npt.NDArray[np.int64], largest: FloatArray) -> npt.NDArray[np.int64]:
    """The least support in place of each row's own, whose p-values are at most ``largest``, that is so, too."""
    own = _first(support)
    if not len(own):
        return own
    # Most strings share a law and a largest p-value: what is looked for is looked for once.
    law_of = support[:, 1:] if support.ndim > 1 else np.empty((len(support), 0))
    alike = np.column_stack([law_of, largest])
    _, examples, kind = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    example, at_most = support[examples], largest[examples]
    passing, failing = np.full(len(examples), own.max()), np.full(len(examples), -1)
    while (passing - failing > 1).any():
        middle = (passing + failing) // 2
        _first(example)[:] = middle
        passes = law.tail(example) <= at_most
        passing, failing = np.where(passes, middle, passing), np.where(passes, failing, middle)
    return np.asarray(np.minimum(passing[kind.ravel()], own), np.int64)


def _first(support: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How many reports support each: all of a row, or its first number. A view."""
    return support if support.ndim == 1 else support[:, 0]
