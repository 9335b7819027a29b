"""Reads a sealed data set once: aggregated, and screened part by part for records that honest devices hardly send."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hubbub_decoder.cache import Counted, StateCache
from hubbub_decoder.dataset import Dataset, part_batches
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.manifest import Manifest
from hubbub_decoder.mechanisms import mechanism
from hubbub_decoder.records import Records
from hubbub_decoder.screen import Screen
from hubbub_decoder.state import State
from hubbub_decoder.state import merge as merge_states
from hubbub_registry import Metric


class Suspect(NamedTuple):
    """A sealed part with records that honest devices hardly ever send."""

    file: str
    """Its file's name, in the folder of ``period``."""
    period: int
    records: int
    p_value: float
    """An upper bound of the chance that honest devices make such a part."""
    what: str
    """What is least likely about its records."""

    def note(self) -> str:
        """The sentence that is shown beside the figures."""
        return (
            f"{self.file} of period {self.period} ({self.records:,} records) is suspicious: honest devices alone give "
            f"it such a {self.what} with probability {self.p_value:.0e} at most. Somebody may have sent made-up ones; "
            "compare the figures with those of other periods (--period)"
        )


class Reading(NamedTuple):
    """The aggregate of all parts, and those among them that look made up."""

    state: State
    suspects: tuple[Suspect, ...]
    uncached: str | None = None
    """Why what was counted could not be kept in the cache, if so."""

    @property
    def notes(self) -> tuple[str, ...]:
        """A note for each suspect, and one on a cache that could not be written."""
        return (*(suspect.note() for suspect in self.suspects), *([self.uncached] if self.uncached else []))


def aggregate(metric: Metric, batches: Iterable[Records]) -> State | None:
    """The aggregate of all batches, one at a time in memory; None where there is none."""
    total: State | None = None
    for batch in batches:
        part = mechanism(metric.mechanism).partial(metric, batch)
        total = part if total is None else merge_states(total, part)
    return total


def read(data: Dataset, parts: Iterable[Manifest] | None = None, cache: StateCache | None = None) -> Reading:
    """Verifies, aggregates and screens ``parts`` (default: all of ``data``), in memory that does not grow with them.

    A part whose state is in ``cache`` is not read again, and shows the flags that it showed; the others are put there.
    Raises DatasetError for what is damaged, and EstimateError where there are no records.
    """
    total: State | None = None
    suspects = []
    if cache is not None:
        cache.forget_others(data.metric, data.sealed)
    for part in data.parts if parts is None else parts:
        counted = _counted(data.metric, part, cache)
        if counted is None:
            continue
        total = counted.state if total is None else merge_states(total, counted.state)
        verdict = counted.verdict
        if verdict.suspicious and verdict.what is not None:
            suspects.append(Suspect(part.file.name, part.period, part.records, verdict.p_value, verdict.what))
    if total is None:
        raise EstimateError(f"{data}: the sealed parts hold no reports; seal a batch with reports first")
    return Reading(total, tuple(suspects), None if cache is None else cache.problem)


def _counted(metric: Metric, part: Manifest, cache: StateCache | None) -> Counted | None:
    """What the cache has of ``part``, or else what reading it gives; None for a part without records."""
    found = None if cache is None else cache.find(metric, part)
    if found is not None:
        return found
    screen = Screen(metric)
    state = aggregate(metric, screen.watch(part_batches(part)))
    if state is None:
        return None
    counted = Counted(state, screen.verdict())
    if cache is not None:
        cache.keep(metric, part, counted)
    return counted
