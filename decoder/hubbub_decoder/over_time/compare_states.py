"""Compares the reports of two periods by their states: as two estimates of them, and sharper where sketches collide."""

from __future__ import annotations

from collections.abc import Iterable

from hubbub_decoder.decode import estimate, estimate_mean, gives_mean
from hubbub_decoder.over_time.change import Change
from hubbub_decoder.over_time.compare import compare
from hubbub_decoder.over_time.pooling import widened
from hubbub_decoder.over_time.shared_hashes import without_shared_collisions
from hubbub_decoder.state import State
from hubbub_registry import Metric


def compare_states(
    metric: Metric, before: State, after: State, candidates: Iterable[str] | None = None, *, level: float = 0.95,
    simultaneous: bool = False, sampled: bool = False, names: tuple[str, str] = ("before", "after"),
    reports: tuple[int, int] | None = None,
) -> Change:  # fmt: skip
    """The change from the reports of ``before`` to those of ``after``, of different periods; ``compare`` has the rest.

    For the sketches, errors hold only the collisions of values whose share changed; with many reports those of
    unchanged ones are most of what ``compare`` states. ``reports`` says how many a device has at most in
    either, for permanent noise (default: what the registry allows in one period).

    Raises what ``estimate`` and ``compare`` raise.
    """
    if gives_mean(metric):
        means = (estimate_mean(metric, before), estimate_mean(metric, after))
        return compare(*means, level=level, names=names)
    listed = None if candidates is None else tuple(candidates)
    found = (estimate(metric, before, listed), estimate(metric, after, listed))
    first, second = without_shared_collisions(metric, (before, after), found)
    if metric.permanent_ratio is not None:
        most = (metric.reports_per_period, metric.reports_per_period) if reports is None else reports
        first, second = widened(first, most[0]), widened(second, most[1])
    return compare(first, second, level=level, simultaneous=simultaneous, sampled=sampled, names=names)
