"""From a sealed data set to estimates: what ``hubbub decode`` does, for programs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from hubbub_decoder.arguments import check_metric, check_state
from hubbub_decoder.cache import StateCache
from hubbub_decoder.counting.merging import merge as merge_states
from hubbub_decoder.counting.records import Records
from hubbub_decoder.counting.state import State
from hubbub_decoder.errors import ArgumentError, CandidateError, EstimateError
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.mean import Mean
from hubbub_decoder.mechanisms import mean_mechanism, mechanism
from hubbub_decoder.numbers.result import RangeResult
from hubbub_decoder.output.visible import blanks_noted
from hubbub_decoder.reading import Reading, aggregate, read
from hubbub_decoder.sealed.dataset import Dataset
from hubbub_decoder.split.records import own_records
from hubbub_registry import Metric
from hubbub_registry.lists import ListError, tidy

__all__ = [
    "aggregate", "check_data", "choose_candidates", "decode", "decode_mean", "estimate", "estimate_mean", "gives_mean",
    "merge", "partial", "with_notes",
]  # fmt: skip

Result = TypeVar("Result", bound=Estimates | Mean | RangeResult)


def partial(metric: Metric, records: Records) -> State:
    """The aggregate of ``records``, uint8 of shape (n, record_bytes), over all cells of a public dimension.

    Raises RecordError, ArgumentError.
    """
    check_metric("partial", metric)
    return mechanism(metric.mechanism).partial(metric.undivided, own_records(metric, records))


def merge(a: State, b: State) -> State:
    """The aggregate of both. Raises StateError where they are of different definitions, ArgumentError."""
    check_state("merge", a)
    check_state("merge", b)
    return merge_states(a, b)


def estimate(metric: Metric, state: State, candidates: Iterable[str] | None = None) -> Estimates:
    """The estimates of ``candidates``, by default those the registry names (all values of a closed domain).

    Raises StateError for a state of another definition, EstimateError for one of no reports and for a metric that gives
    a mean, CandidateError for candidates that are missing, repeated, no texts, or outside a closed domain, and
    ArgumentError for arguments of another type.
    """
    check_metric("estimate", metric)
    check_state("estimate", state)
    state.check(metric)
    chosen = choose_candidates(metric, candidates)
    _check_some(metric, state)
    found = mechanism(metric.mechanism).estimate(metric, state, chosen)
    return replace(found, notes=(*found.notes, *blanks_noted(chosen)))


def gives_mean(metric: Metric) -> bool:
    """Whether the reports of ``metric`` give a mean (``estimate_mean``) and no counts (``estimate``)."""
    return mean_mechanism(metric.mechanism) is not None


def estimate_mean(metric: Metric, state: State) -> Mean:
    """The mean of a metric that gives one.

    Raises StateError for a state of another definition, EstimateError for one of no reports and for other metrics, and
    ArgumentError for arguments of another type.
    """
    check_metric("estimate_mean", metric)
    check_state("estimate_mean", state)
    module = mean_mechanism(metric.mechanism)
    if module is None:
        raise EstimateError(f"metric {metric.name}: {metric.mechanism} gives counts and no mean; use estimate")
    state.check(metric)
    _check_some(metric, state)
    return module.estimate_mean(metric, state)


def _check_some(metric: Metric, state: State) -> None:
    if state.n == 0:
        raise EstimateError(f"metric {metric.name}: there are no reports in this state; nothing can be estimated")


def choose_candidates(metric: Metric, candidates: Iterable[str] | None = None) -> tuple[str, ...]:
    """``candidates`` NFC-normalised, or the registry's own where None.

    Raises CandidateError, and EstimateError for a metric that gives a mean.
    """
    if gives_mean(metric):
        raise EstimateError(f"metric {metric.name}: {metric.mechanism} gives a mean and no counts; use estimate_mean")
    if metric.parts:
        raise EstimateError(
            f"metric {metric.name}: a joint metric gives a table of pairs; use estimate_joint (hubbub decode)"
        )
    if isinstance(candidates, (str, bytes)) or not (candidates is None or isinstance(candidates, Iterable)):
        raise CandidateError(
            f'metric {metric.name}: candidates are a list of texts, not {candidates!r}; pass ["VALUE", ...]'
        )
    try:
        chosen = metric.candidates if candidates is None else tidy(candidates)
    except ListError as error:
        raise CandidateError(f"metric {metric.name}: candidates: {error}") from None
    if not chosen:
        raise _nothing_to_look_for(metric)
    if metric.closed or metric.numeric:
        known = set(metric.candidates)
        unknown = [value for value in chosen if value not in known]
        if unknown:
            raise CandidateError(
                f"metric {metric.name}: {len(unknown)} of the candidates are not among its {len(known)} "
                f"{'values' if metric.closed else 'buckets'}, the first is {unknown[0]!r}; leave them out"
                + ("" if metric.closed else f", or write buckets as they are named: {metric.candidates[0]!r}")
            )
    return chosen


def _nothing_to_look_for(metric: Metric) -> CandidateError:
    if metric.closed or metric.numeric:
        return CandidateError(
            f"metric {metric.name}: the list of candidates is empty; name some of its "
            f"{'values' if metric.closed else 'buckets'}, or leave the list out for all of them"
        )
    option = "--second-candidates" if metric.name.endswith(".second") else "--candidates"  # a joint metric's part
    discovers = hasattr(mechanism(metric.mechanism), "discover")
    return CandidateError(
        f"metric {metric.name}: no candidates to look for; an open domain is decoded against a list: name a file "
        f'with {option}, or write candidates = "FILE" in the registry'
        + ("; or find values without a list (hubbub discover)" if discovers else "")
    )


def decode(
    metric: Metric, data: Dataset, candidates: Iterable[str] | None = None, *, cache: StateCache | None = None
) -> Estimates:
    """Verifies, aggregates and estimates all of ``data``; parts whose states are in ``cache`` are not read again.

    Raises DatasetError, and what ``estimate`` raises.
    """
    check_data("decode", metric, data)
    chosen = choose_candidates(metric, candidates)  # before hours of reading
    reading = read(data, cache=cache)
    return with_notes(estimate(metric, reading.state, chosen), data, reading)


def decode_mean(metric: Metric, data: Dataset, *, cache: StateCache | None = None) -> Mean:
    """Verifies, aggregates and averages all of ``data``, as ``decode`` does.

    Raises DatasetError, and what ``estimate_mean`` raises.
    """
    check_data("decode_mean", metric, data)
    if not gives_mean(metric):
        raise EstimateError(f"metric {metric.name}: {metric.mechanism} gives counts and no mean; use decode")
    reading = read(data, cache=cache)
    return with_notes(estimate_mean(metric, reading.state), data, reading)


def with_notes(result: Result, data: Dataset, reading: Reading) -> Result:
    """``result`` with the notes of the data that it comes from after its own."""
    return replace(result, notes=(*result.notes, *data.notes, *reading.notes))


def check_data(function: str, metric: Metric, data: object) -> None:
    """Raises ArgumentError unless ``data`` is a Dataset of ``metric``'s very definition."""
    check_metric(function, metric)
    if not isinstance(data, Dataset):
        raise ArgumentError(f"{function}: data is {data!r}, not a Dataset; pass Dataset(FOLDER, metric)")
    if data.metric.fingerprint != metric.fingerprint:
        raise ArgumentError(
            f"{function}: data is of metric {data.metric.name} {data.metric.fingerprint.hex()}, not of {metric.name} "
            f"{metric.fingerprint.hex()}; pass Dataset(FOLDER, metric)"
        )
