"""Reads a sealed data set once, and estimates each of its periods and all of them together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hubbub_decoder.cache import StateCache
from hubbub_decoder.caveats import most_reports, repeated_reports
from hubbub_decoder.dataset import Dataset
from hubbub_decoder.decode import check_data, choose_candidates, estimate, estimate_mean, gives_mean
from hubbub_decoder.errors import EstimateError, HeldBackError
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.merging import merge as merge_states
from hubbub_decoder.over_time.pooling import bounded, widened
from hubbub_decoder.over_time.trend import Result, Trend
from hubbub_decoder.periods import named
from hubbub_decoder.reading import Suspect, read
from hubbub_decoder.state import State
from hubbub_registry import Metric


def trend(
    metric: Metric, data: Dataset, candidates: Iterable[str] | None = None, *, cache: StateCache | None = None,
    periods: Iterable[int] | None = None,
) -> Trend:  # fmt: skip
    """The estimates of each period of ``data``, of the same candidates as ``estimate``, and of all periods together.

    ``periods`` are those to read, in order (default: ``data.periods``); a progress bar can wrap them. Two states are in
    memory at a time. Raises DatasetError, what ``estimate`` or ``estimate_mean`` raises, and ArgumentError.
    """
    check_data("trend", metric, data)
    chosen = () if gives_mean(metric) and candidates is None else choose_candidates(metric, candidates)
    if cache is not None:
        cache.forget_others(metric, data.sealed)
    total: State | None = None
    done: list[int] = []
    empty: list[int] = []
    held: list[int] = []
    results: list[Result] = []
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
        own = repeated_reports(metric, (period,))
        results.append(_noted(_result(metric, reading.state, chosen), (*own, *reading.notes)))
        done.append(period)
        suspects += reading.suspects
        total = reading.state if total is None else merge_states(total, reading.state)
    if total is None:
        data.check_cell(0)
        raise EstimateError(f"{data}: the sealed parts hold no reports; seal a batch with reports first")
    return Trend(
        metric=metric.name,
        seconds=metric.period,
        periods=tuple(done),
        results=tuple(results),
        pooled=_pooled(metric, total, chosen, done),
        suspects=tuple(suspects),
        notes=_notes(metric, data, done, results, (empty, held)),
    )


def _result(metric: Metric, state: State, chosen: tuple[str, ...]) -> Result:
    return estimate_mean(metric, state) if gives_mean(metric) else estimate(metric, state, chosen)


def _noted(result: Result, notes: Iterable[str]) -> Result:
    return replace(result, notes=(*result.notes, *notes))


def _pooled(metric: Metric, total: State, chosen: tuple[str, ...], periods: list[int]) -> Result:
    """Merged states: every period weighs as many reports as it has, and errors hold noise that repeats."""
    result = _result(metric, total, chosen)
    most = most_reports(metric, periods)
    if metric.permanent_ratio is None or most == 1:
        return result
    if isinstance(result, Estimates):
        return _noted(widened(result, most), (bounded(most),))
    return _noted(result, repeated_reports(metric, periods))


def _notes(
    metric: Metric, data: Dataset, periods: list[int], results: list[Result], left_out: tuple[list[int], list[int]]
) -> tuple[str, ...]:
    """What holds for the whole, then what each period's figures say, with its period where it is not said of all."""
    pooled_only = repeated_reports(metric, data.periods)
    whole = [note for note in data.notes if note not in pooled_only]
    empty, held = left_out
    if held:
        whole.append(f"held back in period {named(held, metric.period)}: fewer reports in this cell than are shown")
    if empty:
        whole.append(f"no reports in period {named(empty, metric.period)}; left out")
    every = [set(result.notes) for result in results]
    shared = set.intersection(*every)
    whole += [note for note in results[0].notes if note in shared]
    single = [
        f"period {named([period], metric.period)}: {note}"
        for period, result in zip(periods, results, strict=True)
        for note in result.notes
        if note not in shared
    ]
    return (*whole, *single)
