"""Decodes optimized unary encoding: the sum of each value's bit (Wang et al., USENIX Security 2017, section 4.3)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hubbub_decoder.counting.bit_sums import grouped_bit_sums
from hubbub_decoder.counting.records import Records
from hubbub_decoder.counting.state import State, merge
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.support.two_rates import estimate_support
from hubbub_registry import Metric

__all__ = ["estimate", "merge", "partial"]


def partial(metric: Metric, records: Records) -> State:
    """In how many reports each value's bit is 1; ``sums`` has shape (1, values)."""
    sums, _ = grouped_bit_sums(metric, records, groups=1)
    return State.of(metric, len(records), sums=sums)


def estimate(metric: Metric, state: State, candidates: Sequence[str]) -> Estimates:
    """p = 1/2 for holders, q = threshold / 2**precision for others."""
    parameters = metric.device.parameters
    q = Fraction(parameters["threshold"], 1 << parameters["precision"])
    return estimate_support(metric, state.n, state.arrays["sums"][0], candidates, Fraction(1, 2), q)
