"""Compares two periods: the same values' frequencies, mean, pairs, ranges or quantiles, in each."""

from __future__ import annotations

from dataclasses import replace

from hubbub_decoder.arguments import check_open_unit
from hubbub_decoder.asking import Result
from hubbub_decoder.errors import ArgumentError, EstimateError
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.joint.estimates import JointEstimates
from hubbub_decoder.mean import Mean
from hubbub_decoder.numbers import Quantiles, Ranges
from hubbub_decoder.over_time.change import Change
from hubbub_decoder.over_time.count_change import count_change
from hubbub_decoder.over_time.mean_change import mean_change
from hubbub_decoder.over_time.pair_change import pair_change
from hubbub_decoder.over_time.quantile_change import quantile_change
from hubbub_decoder.over_time.range_change import range_change


def compare(
    before: Result, after: Result, *, level: float = 0.95, simultaneous: bool = False, sampled: bool = False,
    names: tuple[str, str] = ("before", "after"),
) -> Change:  # fmt: skip
    """The change from ``before`` to ``after``: two results of the same question, from reports of their own.

    By default the question is whether the share among *those who reported* changed. ``sampled=True`` asks whether the
    population's did, of which each period's reporters are a fresh sample: errors grow by that of the sample. For a mean
    the errors hold that anyway. ``simultaneous=True`` widens the intervals, so that all of them cover together.

    Raises EstimateError where the two are not of the same metric, mechanism and values or for a level not strictly
    between 0 and 1, and ArgumentError for anything but two results of one kind.
    """
    check_open_unit("level", level)
    outside = 1 - level
    if all(isinstance(each, Result) for each in (before, after)):
        _check_same_question(before, after)
        outside /= max(1, len(before)) if simultaneous else 1
    if isinstance(before, Estimates) and isinstance(after, Estimates):
        change = count_change(before, after, outside, sampled=sampled)
    elif isinstance(before, Mean) and isinstance(after, Mean):
        change = mean_change(before, after, outside)
    elif isinstance(before, JointEstimates) and isinstance(after, JointEstimates):
        change = pair_change(before, after, outside, sampled=sampled)
    elif isinstance(before, Ranges) and isinstance(after, Ranges):
        change = range_change(before, after, outside, sampled=sampled)
    elif isinstance(before, Quantiles) and isinstance(after, Quantiles):
        change = quantile_change(before, after, outside, sampled=sampled)
    else:
        raise ArgumentError(
            f"compare: {type(before).__name__} and {type(after).__name__} do not compare; pass two Estimates, two "
            "Means, two JointEstimates, two Ranges or two Quantiles"
        )
    notes = tuple(dict.fromkeys((*before.notes, *after.notes)))
    return replace(change, level=level, names=names, notes=notes)


def _check_same_question(before: Result, after: Result) -> None:
    """Raises EstimateError where two results of one kind are of two metrics, or of two mechanisms.

    Of one metric and mechanism epsilon and sizes may differ: each result has the errors of its own.
    """
    one, other = (f"{each.metric} ({each.mechanism})" for each in (before, after))
    if one != other and (isinstance(after, type(before)) or isinstance(before, type(after))):
        raise EstimateError(
            f"compare: one is of {one}, the other of {other}, which ask devices different questions; compare periods "
            "of one metric, reported by one mechanism"
        )
