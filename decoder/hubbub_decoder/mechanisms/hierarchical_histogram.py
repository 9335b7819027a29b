"""Decodes hierarchical histograms: each level by itself, and all together by constrained inference (Cormode, Kulkarni,
Srivastava, PVLDB 2019, section 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hubbub_client.mechanisms.hierarchical_histogram import at_level
from hubbub_client.mechanisms.projective_geometry_response import points_in
from hubbub_decoder.counting.geometry import MOST_REPORTS
from hubbub_decoder.counting.records import Records, as_integers, check_domain, check_shape, chunks
from hubbub_decoder.counting.state import State, merge
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.numbers.buckets import estimate_buckets
from hubbub_decoder.numbers.distribution import Distribution
from hubbub_decoder.numbers.levels import Level
from hubbub_registry import Metric

__all__ = ["distribution", "estimate", "merge", "partial"]


def partial(metric: Metric, records: Records) -> State:
    """How often each point of each level was sent; ``counts`` holds all levels' one after the other.

    A point that the report's level does not have, which no client sends and no range check can see, counts as another
    of that level: one bad report must not stop a decoder.
    """
    check_shape(metric, records)
    points, first = _points(metric)
    levels_bits = metric.device.parameters["levels_bits"]
    counts = np.zeros(int(first[-1]), np.int64)
    for chunk in chunks(records):
        record = as_integers(chunk)
        level, point = record & ((1 << levels_bits) - 1), record >> levels_bits
        check_domain(metric, point, int(points.max()), "point")
        counts += np.bincount(first[level] + point % points[level], minlength=len(counts))
    return State.of(metric, len(records), counts=counts)


def distribution(metric: Metric, state: State) -> Distribution:
    """The shares of all buckets, and what is known of their errors. Raises EstimateError for too many reports."""
    if state.n > MOST_REPORTS:
        raise EstimateError(
            f"metric {metric.name}: {state.n} reports are more than {MOST_REPORTS}, which is as many as "
            "hierarchical-histogram adds up exactly; decode fewer periods at a time"
        )
    _, first = _points(metric)
    counts = np.split(state.arrays["counts"], first[1:-1])
    return Distribution.of(metric, state.n, [Level.of(metric, level, each) for level, each in enumerate(counts)])


def estimate(metric: Metric, state: State, candidates: Sequence[str]) -> Estimates:
    """The counts of the buckets with these labels."""
    return estimate_buckets(metric, distribution(metric, state), candidates)


def _points(metric: Metric) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """How many points each level has, and where its counts begin; the latter with the number of all at its end."""
    p = metric.device.parameters
    levels = [at_level(p, level) for level in range(1 << p["levels_bits"])]
    points = np.array([points_in(each["order"], each["dimension"]) for each in levels], np.int64)
    return points, np.concatenate([[0], np.cumsum(points)])
