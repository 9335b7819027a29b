"""Compares the reports of two periods by their states: as two estimates of them, and sharper where sketches collide."""

from __future__ import annotations

from collections.abc import Iterable

from hubbub_decoder.asking import Ask, asked
from hubbub_decoder.counting.state import State
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.over_time.change import Change
from hubbub_decoder.over_time.compare import compare
from hubbub_decoder.over_time.pooling import widened
from hubbub_decoder.over_time.shared_hashes import without_shared_collisions
from hubbub_registry import Metric


def compare_states(
    metric: Metric, before: State, after: State, candidates: Iterable[str] | None = None, *,
    second: Iterable[str] | None = None, quantiles: Iterable[float] | None = None,
    ranges: Iterable[tuple[int, int]] | None = None, level: float = 0.95, simultaneous: bool = False,
    sampled: bool = False, names: tuple[str, str] = ("before", "after"), reports: tuple[int, int] | None = None,
) -> Change:  # fmt: skip
    """The change from the reports of ``before`` to those of ``after``, of different periods; ``compare`` has the rest.

    What is asked of both is asked as of ``trend``. For the sketches, errors hold only the collisions of values whose
    share changed; with many reports those of unchanged ones are most of what ``compare`` states. ``reports`` says how
    many a device has at most in either, for permanent noise (default: what the registry allows in one period).

    Raises what ``trend`` raises of such a question, and what ``compare`` raises.
    """
    ask = asked(metric, candidates, second=second, quantiles=quantiles, ranges=ranges)
    return compare_asked(
        metric, before, after, ask, level=level, simultaneous=simultaneous, sampled=sampled, names=names,
        reports=reports,
    )  # fmt: skip


def compare_asked(
    metric: Metric, before: State, after: State, ask: Ask, *, level: float = 0.95, simultaneous: bool = False,
    sampled: bool = False, names: tuple[str, str] = ("before", "after"), reports: tuple[int, int] | None = None,
) -> Change:  # fmt: skip
    """``compare_states`` of what ``ask`` finds in either."""
    first, second = ask(before), ask(after)
    if isinstance(first, Estimates) and isinstance(second, Estimates):
        first, second = without_shared_collisions(metric, (before, after), (first, second))
        if metric.permanent_ratio is not None:
            most = (metric.reports_per_period, metric.reports_per_period) if reports is None else reports
            first, second = widened(first, most[0]), widened(second, most[1])
    return compare(first, second, level=level, simultaneous=simultaneous, sampled=sampled, names=names)
