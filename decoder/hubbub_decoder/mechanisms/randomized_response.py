"""Decodes k-ary randomized response: a histogram of the indices sent (Kairouz, Oh, Viswanath 2014)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hubbub_decoder.counting.records import Records, check_shape, record_counts
from hubbub_decoder.counting.state import State, merge
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.support.two_rates import estimate_support
from hubbub_registry import Metric

__all__ = ["estimate", "merge", "partial"]


def partial(metric: Metric, records: Records) -> State:
    """How often each index was sent; ``counts`` has shape (values,)."""
    check_shape(metric, records)
    counts = record_counts(metric, records, metric.device.parameters["domain"], "index")
    return State.of(metric, len(records), counts=counts)


def estimate(metric: Metric, state: State, candidates: Sequence[str]) -> Estimates:
    """p = a + (1 - a)/d for holders, q = (1 - a)/d for others; that the uniform draw is off by 2**-64 is no matter."""
    parameters = metric.device.parameters
    truth = Fraction(parameters["threshold"], 1 << parameters["precision"])
    q = (1 - truth) / parameters["domain"]
    return estimate_support(metric, state.n, state.arrays["counts"], candidates, truth + q, q)
