"""Decodes two values reported together; see ``hubbub_decoder.joint``."""

from __future__ import annotations

from collections.abc import Sequence

from hubbub_decoder.counting.state import State
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.joint.distinct import merge, partial
from hubbub_registry import Metric

__all__ = ["estimate", "merge", "partial"]


def estimate(metric: Metric, state: State, candidates: Sequence[str]) -> Estimates:  # noqa: ARG001 - one signature
    """Raises EstimateError: a joint metric gives a table of pairs."""
    raise EstimateError(
        f"metric {metric.name}: a joint metric gives a table of pairs; use estimate_joint (hubbub decode)"
    )
