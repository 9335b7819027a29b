"""Compares two periods: the same values' frequencies, or the same mean, in each."""

from __future__ import annotations

import numpy as np
from scipy import special

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.errors import ArgumentError, EstimateError
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.mean import Mean
from hubbub_decoder.over_time.change import Change
from hubbub_decoder.over_time.mean_change import mean_change
from hubbub_decoder.over_time.no_change import Places, p_values

# The least variance that a report is taken to have where a share is weighed: rounding can leave none.
_LEAST = 1e-9


def compare(
    before: Estimates | Mean, after: Estimates | Mean, *, level: float = 0.95, simultaneous: bool = False,
    sampled: bool = False, names: tuple[str, str] = ("before", "after"),
) -> Change:  # fmt: skip
    """The change from ``before`` to ``after``: two estimates of the same values, from reports of their own.

    By default the question is whether the share among *those who reported* changed. ``sampled=True`` asks whether the
    population's did, of which each period's reporters are a fresh sample: errors grow by that of the sample. For a mean
    the errors hold that anyway. ``simultaneous=True`` widens the intervals, so that all of them cover together.

    Raises EstimateError where the two are not of the same values or for a level not strictly between 0 and 1, and
    ArgumentError for anything but two Estimates or two Means.
    """
    if not 0 < level < 1:
        raise EstimateError(f"level = {level!r} is not strictly between 0 and 1; 0.95 is usual")
    notes = tuple(dict.fromkeys((*before.notes, *after.notes))) if _results(before, after) else ()
    if isinstance(before, Estimates) and isinstance(after, Estimates):
        return _of_counts(before, after, level, names, notes, simultaneous=simultaneous, sampled=sampled)
    if isinstance(before, Mean) and isinstance(after, Mean):
        return mean_change(before, after, level, names, notes)
    raise ArgumentError(
        f"compare: {type(before).__name__} and {type(after).__name__} do not compare; pass two Estimates, or two Means"
    )


def _results(*either: object) -> bool:
    return all(isinstance(each, (Estimates, Mean)) for each in either)


def _of_counts(
    before: Estimates, after: Estimates, level: float, names: tuple[str, str], notes: tuple[str, ...], *,
    simultaneous: bool, sampled: bool,
) -> Change:  # fmt: skip
    place = {value: i for i, value in enumerate(after.value)}
    if set(before.value) != set(place):
        only = sorted(set(before.value) ^ set(place))
        raise EstimateError(
            f"compare: {len(only)} values are in one estimate and not in the other, the first is {only[0]!r}; estimate "
            "both with the same candidates"
        )
    own = np.arange(len(before))
    other = np.array([place[value] for value in before.value], np.intp)
    earlier, later = before.frequency, after.frequency[other]
    share = _common_share(before, after, other)
    p_value = p_values(before, after, (own, other), share, sampled=sampled)
    sampling = [share * (1 - share) / n if sampled else np.zeros_like(share) for n in (before.n, after.n)]
    variance = (before.std_error / before.n) ** 2 + (after.std_error[other] / after.n) ** 2 + sampling[0] + sampling[1]
    outside = (1 - level) / (max(1, len(before)) if simultaneous else 1)
    z = -special.ndtri(outside / 2)
    ends = [np.array(each.confidence_interval(1 - outside)) / each.n for each in (before, after)]
    down, up = ends[0], ends[1][:, other]
    extra = z * z * (sampling[0] + sampling[1])
    difference = later - earlier
    order = np.lexsort((-np.abs(difference), p_value))
    return Change(
        metric=after.metric,
        what="frequency",
        n=(before.n, after.n),
        value=tuple(before.value[i] for i in order),
        before=earlier[order],
        after=later[order],
        std_error=np.sqrt(variance)[order],
        low=(difference - np.sqrt((later - up[0]) ** 2 + (down[1] - earlier) ** 2 + extra))[order],
        high=(difference + np.sqrt((up[1] - later) ** 2 + (earlier - down[0]) ** 2 + extra))[order],
        p_value=p_value[order],
        level=level,
        names=names,
        notes=notes,
    )


def _common_share(before: Estimates, after: Estimates, other: Places) -> FloatArray:
    """The best estimate of a share that is the same in both, within [0, 1]; weights that do not follow the noise."""
    counts, total = (before.count, after.count[other]), before.n + after.n
    share = np.clip((counts[0] + counts[1]) / total, 0.0, 1.0)
    weight = [
        each.n**2 / np.maximum(each.null_variance[at] + each.slope[at] * share * each.n, _LEAST * each.n)
        for each, at in ((before, np.arange(len(before))), (after, other))
    ]
    mixed = (weight[0] * counts[0] / before.n + weight[1] * counts[1] / after.n) / (weight[0] + weight[1])
    common: FloatArray = np.clip(mixed, 0.0, 1.0)
    return common
