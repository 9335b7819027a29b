"""Decodes projective geometry response: how many reports are orthogonal to each value's point (Feldman, Nelson, Nguyen,
Talwar 2022, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from hubbub_client.mechanisms.projective_geometry_response import points_in
from hubbub_decoder.counting.geometry import MOST_REPORTS, orthogonal_sums
from hubbub_decoder.counting.records import Records, check_shape, record_counts
from hubbub_decoder.counting.state import State, merge
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.support.two_rates import estimate_support
from hubbub_registry import Metric
from hubbub_registry.mechanisms.projective_geometry_response import support_rates

__all__ = ["estimate", "merge", "partial"]


def partial(metric: Metric, records: Records) -> State:
    """How often each point was sent; ``counts`` has shape (points,)."""
    check_shape(metric, records)
    points = points_in(metric.device.parameters["order"], metric.device.parameters["dimension"])
    return State.of(metric, len(records), counts=record_counts(metric, records, points, "point"))


def estimate(metric: Metric, state: State, candidates: Sequence[str]) -> Estimates:
    """The rates of support are exact but for the 2**-64 by which a uniform draw is off."""
    p = metric.device.parameters
    if state.n > MOST_REPORTS:
        raise EstimateError(
            f"metric {metric.name}: {state.n} reports are more than {MOST_REPORTS}, which is as many as "
            "projective-geometry-response adds up exactly; decode fewer periods at a time"
        )
    share = Fraction(p["threshold"], 1 << p["precision"])
    holders, others = support_rates(share, p["order"], p["dimension"])
    support = orthogonal_sums(state.arrays["counts"].astype(np.int64), p["order"], p["dimension"])[: p["domain"]]
    return estimate_support(metric, state.n, support, candidates, holders, others)
