"""Decodes the one-bit mean: the share of ones (Ding, Kulkarni, Yekhanin, NIPS 2017, section 2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hubbub_decoder.counting.records import Records, check_shape
from hubbub_decoder.counting.state import State, merge
from hubbub_decoder.errors import EstimateError, RecordError
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.mean import Mean
from hubbub_decoder.permanent_bit import shown_rates
from hubbub_registry import Metric

__all__ = ["estimate", "estimate_mean", "merge", "partial"]


def partial(metric: Metric, records: Records) -> State:
    """How many records are a 1; ``ones`` has shape (1,)."""
    check_shape(metric, records)
    if (records > 1).any():
        raise RecordError(f"metric {metric.name}: a record's padding is not zero; another definition made it")
    return State.of(metric, len(records), ones=records.sum(axis=0, dtype=np.int64))


def estimate(metric: Metric, state: State, candidates: Sequence[str]) -> Estimates:  # noqa: ARG001 - one signature
    """Raises EstimateError: there are no counts in one bit a device."""
    raise EstimateError(f"metric {metric.name}: one-bit-mean gives a mean and no counts; use estimate_mean")


def estimate_mean(metric: Metric, state: State) -> Mean:
    """The mean, from how often a report shows 1 at either end of the range."""
    p, q = shown_rates(metric)
    return Mean.of(metric, state.n, int(state.arrays["ones"][0]), p, q)
