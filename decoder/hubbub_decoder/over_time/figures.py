"""A result as rows that are followed over time: their labels, figures and intervals, whatever kind of result it is.

Counts are shares of n, so that periods of different size compare; a mean and quantiles are in their own unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hubbub_decoder.asking import Result
from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.errors import ArgumentError
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.joint.estimates import JointEstimates
from hubbub_decoder.mean import Mean
from hubbub_decoder.numbers import Quantiles, Ranges

Figures = npt.NDArray[Any]
"""Of shape (d,): floats, and for quantiles integers."""
Label = Any
"""What a row is of: a text, a quantile's probability, or a pair of texts."""


def heads_of(result: Result) -> tuple[str, ...]:
    """The names of the columns that labels make; none for a mean, whose only row needs no label."""
    if isinstance(result, Mean):
        return ()
    if isinstance(result, JointEstimates):
        return ("first", "second")
    if isinstance(result, Quantiles):
        return ("probability",)
    return ("range",) if isinstance(result, Ranges) else ("value",)


def quantity_of(result: Result) -> str:
    """``"frequency"``, ``"mean"`` or ``"quantile"``."""
    if isinstance(result, Mean):
        return "mean"
    return "quantile" if isinstance(result, Quantiles) else "frequency"


def labels_of(result: Result) -> tuple[Label, ...]:
    """The label of each row, as ``figures_of`` orders them."""
    if isinstance(result, JointEstimates):
        return tuple((first, second) for first in result.first for second in result.second)
    if isinstance(result, Quantiles):
        return result.probability
    if isinstance(result, Ranges):
        return result.range
    return result.value if isinstance(result, Estimates) else ("mean",)


def figures_of(result: Result) -> Figures:
    """The estimate of each row, shape (d,); integers for quantiles. Raises ArgumentError for another result."""
    if isinstance(result, Mean):
        return np.array([result.mean])
    if isinstance(result, Quantiles):
        return result.quantile
    if isinstance(result, Estimates | Ranges | JointEstimates):
        return result.frequency.ravel()
    raise ArgumentError(f"{type(result).__name__} is no result of estimating; pass what estimate returns")


def errors_of(result: Result) -> FloatArray:
    """The standard error of each row, shape (d,)."""
    if isinstance(result, Mean):
        return np.array([result.std_error])
    if isinstance(result, Quantiles):
        return result.std_error
    return np.ravel(result.std_error) / result.n


def interval_of(result: Result, level: float, *, simultaneous: bool = False) -> tuple[Figures, Figures]:
    """The ends of each row's interval, shape (d,) each; ``simultaneous`` ones (Bonferroni) cover together."""
    outside = (1 - level) / (max(1, len(result)) if simultaneous else 1)
    low, high = result.confidence_interval(1 - outside)
    if isinstance(result, Mean | Quantiles):
        return np.atleast_1d(low), np.atleast_1d(high)
    return np.ravel(low) / result.n, np.ravel(high) / result.n


def label_columns(heads: Sequence[str], labels: Sequence[Label], times: int = 1) -> dict[str, list[Any]]:
    """Name -> column, with each label ``times`` times."""
    split = labels if len(heads) > 1 else [(label,) for label in labels]
    return {head: [label[i] for label in split for _ in range(times)] for i, head in enumerate(heads)}


def label_text(label: Label) -> str:
    """A label on one line."""
    return ", ".join(label) if isinstance(label, tuple) else f"{label:g}" if isinstance(label, float) else label
