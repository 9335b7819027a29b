"""Reads a sealed data set once, and estimates each of its periods and all of them together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hubbub_decoder.asking import Ask, Result, asked
from hubbub_decoder.cache import StateCache
from hubbub_decoder.caveats import most_reports, repeated_reports
from hubbub_decoder.counting.merging import merge as merge_states
from hubbub_decoder.counting.state import State
from hubbub_decoder.decode import check_data
from hubbub_decoder.errors import EstimateError, HeldBackError
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.over_time.pooling import bounded, widened
from hubbub_decoder.over_time.trend import Trend
from hubbub_decoder.reading import read
from hubbub_decoder.screen.suspect import Suspect
from hubbub_decoder.sealed.dataset import Dataset
from hubbub_decoder.sealed.periods import named
from hubbub_decoder.shared_notes import shared_notes
from hubbub_registry import Metric


def trend(
    metric: Metric, data: Dataset, candidates: Iterable[str] | None = None, *, second: Iterable[str] | None = None,
    quantiles: Iterable[float] | None = None, ranges: Iterable[tuple[int, int]] | None = None,
    cache: StateCache | None = None, periods: Iterable[int] | None = None,
) -> Trend:  # fmt: skip
    """What is asked of each period of ``data``, and of all periods together.

    The counts of ``candidates``, the mean or the table of pairs that the metric gives (``second``: candidates of the
    table's other side); or where they are named, ``quantiles`` or ``ranges``. ``trend_of`` has the rest.

    Raises what ``trend_of`` raises, and CandidateError or EstimateError where the metric does not give what is asked.
    """
    check_data("trend", metric, data)
    ask = asked(metric, candidates, second=second, quantiles=quantiles, ranges=ranges)
    return trend_of(metric, data, ask, cache=cache, periods=periods)


def trend_of(
    metric: Metric, data: Dataset, ask: Ask, *, cache: StateCache | None = None, periods: Iterable[int] | None = None
) -> Trend:
    """What ``ask`` finds in each period of ``data``, and in all of them together.

    A period of too few reports for what is asked is left out, with a note. ``periods`` are those to read, in order
    (default: ``data.periods``); a progress bar can wrap them. Two states are in memory at a time. Raises DatasetError,
    and what ``ask`` raises of all periods together.
    """
    if cache is not None:
        cache.forget_others(metric, data.sealed)
    total: State | None = None
    results: dict[int, Result] = {}
    counted: list[int] = []
    left_out: list[str] = []
    empty: list[int] = []
    held: list[int] = []
    suspects: list[Suspect] = []
    for period in data.periods if periods is None else periods:
        parts = [part for part in data.parts if part.period == period]
        if not any(part.records for part in parts):
            empty.append(period)
            continue
        try:
            reading = read(data, parts, cache)
        except HeldBackError:
            held.append(period)
            continue
        counted.append(period)
        suspects += reading.suspects
        total = reading.state if total is None else merge_states(total, reading.state)
        try:
            result = ask(reading.state)
        except EstimateError as error:
            left_out.append(f"left out: period {named([period], metric.period)}: {error}")
            continue
        results[period] = _noted(result, (*repeated_reports(metric, (period,)), *reading.notes))
    if total is None:
        data.check_cell(0)
        raise EstimateError(f"{data}: the sealed parts hold no reports; seal a batch with reports first")
    pooled = _pooled(metric, ask(total), counted)
    if not results:
        raise EstimateError(f"metric {metric.name}: no period has reports enough by itself; {left_out[0]}")
    return Trend(
        metric=metric.name,
        seconds=metric.period,
        periods=tuple(results),
        results=tuple(results.values()),
        pooled=pooled,
        suspects=tuple(suspects),
        notes=(*_notes(metric, data, results, (empty, held)), *left_out),
    )


def _noted(result: Result, notes: Iterable[str]) -> Result:
    return replace(result, notes=(*result.notes, *notes))


def _pooled(metric: Metric, result: Result, periods: list[int]) -> Result:
    """Merged states: every period weighs as many reports as it has, and errors hold noise that repeats."""
    most = most_reports(metric, periods)
    if metric.permanent_ratio is None or most == 1:
        return result
    if isinstance(result, Estimates):
        return _noted(widened(result, most), (bounded(most),))
    return _noted(result, repeated_reports(metric, periods))


def _notes(
    metric: Metric, data: Dataset, results: dict[int, Result], left_out: tuple[list[int], list[int]]
) -> tuple[str, ...]:
    """What holds for the whole, then what each period's figures say, with its period where it is not said of all."""
    pooled_only = repeated_reports(metric, data.periods)
    whole = [note for note in data.notes if note not in pooled_only]
    empty, held = left_out
    if held:
        whole.append(f"held back in period {named(held, metric.period)}: fewer reports in this cell than are shown")
    if empty:
        whole.append(f"no reports in period {named(empty, metric.period)}; left out")
    each = {f"period {named([period], metric.period)}": result.notes for period, result in results.items()}
    return (*whole, *shared_notes(each))
