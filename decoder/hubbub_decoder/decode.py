"""From a sealed data set to estimates: what ``hubbub decode`` does, for programs."""

from __future__ import annotations

from collections.abc import Iterable

from hubbub_decoder.dataset import Dataset
from hubbub_decoder.errors import CandidateError, EstimateError
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.mechanisms import mechanism
from hubbub_decoder.records import Records
from hubbub_decoder.state import State
from hubbub_decoder.state import merge as merge_states
from hubbub_registry import Metric
from hubbub_registry.lists import ListError, tidy


def partial(metric: Metric, records: Records) -> State:
    """The aggregate of ``records``, uint8 of shape (n, record_bytes). Raises RecordError."""
    return mechanism(metric.mechanism).partial(metric, records)


def merge(a: State, b: State) -> State:
    """The aggregate of both. Raises StateError where they are of different definitions."""
    return mechanism(a.mechanism).merge(a, b)


def aggregate(metric: Metric, batches: Iterable[Records]) -> State | None:
    """The aggregate of all batches, one at a time in memory; None where there is none."""
    total: State | None = None
    for batch in batches:
        part = partial(metric, batch)
        total = part if total is None else merge_states(total, part)
    return total


def estimate(metric: Metric, state: State, candidates: Iterable[str] | None = None) -> Estimates:
    """The estimates of ``candidates``, by default those the registry names (all values of a closed domain).

    Raises StateError for a state of another definition, EstimateError for one of no reports, CandidateError for
    candidates that are missing, repeated, or outside a closed domain.
    """
    state.check(metric)
    chosen = choose_candidates(metric, candidates)
    if state.n == 0:
        raise EstimateError(f"metric {metric.name}: there are no reports in this state; nothing can be estimated")
    return mechanism(metric.mechanism).estimate(metric, state, chosen)


def choose_candidates(metric: Metric, candidates: Iterable[str] | None = None) -> tuple[str, ...]:
    """``candidates`` NFC-normalised, or the registry's own where None. Raises CandidateError."""
    try:
        chosen = metric.candidates if candidates is None else tidy(candidates)
    except ListError as error:
        raise CandidateError(f"metric {metric.name}: candidates: {error}") from None
    if not chosen:
        raise CandidateError(
            f"metric {metric.name}: no candidates to look for; an open domain is decoded against a list: name a file "
            'with --candidates, or write candidates = "FILE" in the registry'
        )
    if metric.closed:
        unknown = [value for value in chosen if value not in set(metric.values)]
        if unknown:
            raise CandidateError(
                f"metric {metric.name}: {len(unknown)} candidates are not among its {len(metric.values)} values, the "
                f"first is {unknown[0]!r}; leave them out"
            )
    return chosen


def decode(metric: Metric, data: Dataset, candidates: Iterable[str] | None = None) -> Estimates:
    """Verifies, aggregates and estimates all of ``data``. Raises DatasetError, and what ``estimate`` raises."""
    chosen = choose_candidates(metric, candidates)  # before hours of reading
    state = aggregate(metric, data.batches())
    if state is None:
        raise EstimateError(f"metric {metric.name}: {data} holds no reports; seal a batch with reports first")
    return estimate(metric, state, chosen)
