"""Decodes subset selection: how many reports' sets hold each value (Ye, Barg, IEEE Trans. Inf. Theory 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hubbub_decoder.counting.bit_sums import grouped_bit_sums
from hubbub_decoder.counting.records import Records
from hubbub_decoder.counting.state import State, merge
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.support.two_rates import estimate_support
from hubbub_registry import Metric
from hubbub_registry.mechanisms.subset_selection import support_rates

__all__ = ["estimate", "merge", "partial"]


def partial(metric: Metric, records: Records) -> State:
    """How many sets hold each value; ``sums`` has shape (1, values). A set of a wrong size counts, and is screened."""
    sums, _ = grouped_bit_sums(metric, records, groups=1)
    return State.of(metric, len(records), sums=sums)


def estimate(metric: Metric, state: State, candidates: Sequence[str]) -> Estimates:
    """The rates of support are exact but for the 2**-64 by which a uniform draw is off."""
    p = metric.device.parameters
    share = Fraction(p["threshold"], 1 << p["precision"])
    holders, others = support_rates(share, p["size"], p["domain"])
    return estimate_support(metric, state.n, state.arrays["sums"][0], candidates, holders, others)
