"""From a state, or a sealed data set, to quantiles and ranges: what ``hubbub decode`` does, for programs."""

from __future__ import annotations

from collections.abc import Iterable

from hubbub_decoder.arguments import check_metric, check_state
from hubbub_decoder.cache import StateCache
from hubbub_decoder.counting.state import State
from hubbub_decoder.decode import check_data, with_notes
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.mechanisms import range_mechanism
from hubbub_decoder.numbers.distribution import Distribution
from hubbub_decoder.numbers.quantiles import USUAL, Quantiles, check_probabilities, quantiles_of
from hubbub_decoder.numbers.ranges import Ranges, checked_ranges, ranges_of
from hubbub_decoder.reading import read
from hubbub_decoder.sealed.dataset import Dataset
from hubbub_registry import Metric


def gives_ranges(metric: Metric) -> bool:
    """Whether the reports of ``metric`` give ``quantiles`` and ``ranges``."""
    return range_mechanism(metric.mechanism) is not None


def quantiles(metric: Metric, state: State, probabilities: Iterable[float] = USUAL) -> Quantiles:
    """The quantiles of a metric that gives them: for each p the smallest value that a share p does not exceed.

    Raises StateError for a state of another definition, EstimateError for one of no reports, for another metric and
    for a probability that is not strictly between 0 and 1, and ArgumentError for arguments of another type.
    """
    return quantiles_of(_distribution("quantiles", metric, state), probabilities)


def ranges(metric: Metric, state: State, pairs: Iterable[tuple[int, int]]) -> Ranges:
    """The counts of ranges of a metric that gives them, each from its first integer to before its second.

    Raises StateError for a state of another definition, EstimateError for one of no reports, for another metric and
    for a range that is empty, leaves the metric's or lies in one bucket, and ArgumentError for arguments of another
    type.
    """
    return ranges_of(_distribution("ranges", metric, state), pairs)


def decode_quantiles(
    metric: Metric, data: Dataset, probabilities: Iterable[float] = USUAL, *, cache: StateCache | None = None
) -> Quantiles:
    """``quantiles`` of all of ``data``, verified and aggregated as ``decode`` does. Raises DatasetError besides."""
    check_data("decode_quantiles", metric, data)
    check_gives_ranges(metric)
    chosen = check_probabilities(metric.name, probabilities)  # before hours of reading
    reading = read(data, cache=cache)
    return with_notes(quantiles(metric, reading.state, chosen), data, reading)


def decode_ranges(
    metric: Metric, data: Dataset, pairs: Iterable[tuple[int, int]], *, cache: StateCache | None = None
) -> Ranges:
    """``ranges`` of all of ``data``, verified and aggregated as ``decode`` does. Raises DatasetError besides."""
    check_data("decode_ranges", metric, data)
    check_gives_ranges(metric)
    chosen = checked_ranges(metric, pairs)
    reading = read(data, cache=cache)
    return with_notes(ranges(metric, reading.state, chosen), data, reading)


def check_gives_ranges(metric: Metric) -> None:
    """Raises EstimateError for a metric that gives neither quantiles nor ranges."""
    if not gives_ranges(metric):
        raise EstimateError(
            f"metric {metric.name}: {metric.mechanism} gives neither quantiles nor ranges; hierarchical-histogram does"
        )


def _distribution(function: str, metric: Metric, state: State) -> Distribution:
    check_metric(function, metric)
    check_state(function, state)
    module = range_mechanism(metric.mechanism)
    if module is None:
        check_gives_ranges(metric)
        raise AssertionError
    state.check(metric)
    if state.n == 0:
        raise EstimateError(f"metric {metric.name}: there are no reports in this state; nothing can be estimated")
    return module.distribution(metric, state)
