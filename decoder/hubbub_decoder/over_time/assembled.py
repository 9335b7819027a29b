"""From what two results say of each row to the change: the least likely first, with an interval of each difference."""

from __future__ import annotations

import numpy as np

from hubbub_decoder.asking import Result
from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.over_time.change import Change
from hubbub_decoder.over_time.figures import Figures, Label, heads_of, labels_of, quantity_of

Two = tuple[Figures, Figures]


def change_of(
    before: Result, after: Result, value: tuple[Label, ...], figures: Two, ends: tuple[Two, Two], p_value: FloatArray,
    std_error: FloatArray, *, extra: FloatArray | float = 0.0,
) -> Change:  # fmt: skip
    """The change of ``figures``, of ``before`` and of ``after``, each (d,); ``ends`` are those of their intervals.

    ``extra`` is what an interval's half has squared beside the distances to those: already times z**2.
    """
    (earlier, later), ((low, high), (later_low, later_high)) = figures, ends
    difference = later - earlier
    order = np.lexsort((-np.abs(difference), p_value))
    return Change(
        metric=after.metric,
        what=quantity_of(after),
        mechanism=after.mechanism,
        epsilon=(before.epsilon, after.epsilon),
        n=(before.n, after.n),
        value=tuple(value[i] for i in order),
        before=earlier[order],
        after=later[order],
        std_error=std_error[order],
        low=(difference - np.sqrt((later - later_low) ** 2 + (high - earlier) ** 2 + extra))[order],
        high=(difference + np.sqrt((later_high - later) ** 2 + (earlier - low) ** 2 + extra))[order],
        p_value=p_value[order],
        level=after.level,
        heads=heads_of(after),
    )


def same_labels(before: Result, after: Result) -> tuple[Label, ...]:
    """The labels of both, in the same order. Raises EstimateError where they differ."""
    labels = labels_of(before)
    if labels != labels_of(after):
        raise EstimateError(
            f"compare: the two are not of the same {' and '.join(heads_of(after))}s; ask both the same question"
        )
    return labels
