"""Reads a sealed data set once: aggregated, and screened part by part for records that honest devices hardly send."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hubbub_decoder.cache import Counted, StateCache
from hubbub_decoder.counting.merging import merge as merge_states
from hubbub_decoder.counting.records import Records
from hubbub_decoder.counting.state import State
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.mechanisms import mechanism
from hubbub_decoder.screen import Screen, Verdict
from hubbub_decoder.screen.suspect import Suspect
from hubbub_decoder.sealed.dataset import Dataset
from hubbub_decoder.sealed.file import part_batches
from hubbub_decoder.sealed.manifest import Manifest
from hubbub_decoder.split.records import by_cell, own_records
from hubbub_decoder.split.states import joined, merged
from hubbub_registry import Metric

WHOLE, CELLS = "", "cells"
"""What is counted of a part: all of it, or each cell of a public dimension by itself. One cell is ``cell <place>``."""


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
    return _aggregate(metric.undivided, (own_records(metric, batch) for batch in batches))


def _aggregate(metric: Metric, batches: Iterable[Records]) -> State | None:
    total: State | None = None
    for batch in batches:
        part = mechanism(metric.mechanism).partial(metric, batch)
        total = part if total is None else merge_states(total, part)
    return total


def read(data: Dataset, parts: Iterable[Manifest] | None = None, cache: StateCache | None = None) -> Reading:
    """Verifies, aggregates and screens ``parts`` (default: all of ``data``), in memory that does not grow with them.

    A part whose state is in ``cache`` is not read again, and shows the flags that it showed; the others are put there.
    Raises DatasetError for what is damaged, EstimateError where there are no records, and HeldBackError where ``data``
    is one cell with fewer than its registry shows.
    """
    total: State | None = None
    suspects = []
    for part, counted in counted_parts(data, parts, cache, WHOLE if data.cell is None else f"cell {data.cell}"):
        total = counted.state if total is None else merge_states(total, counted.state)
        suspects += suspects_in(part, counted.verdict)
    if total is None:
        raise EstimateError(f"{data}: the sealed parts hold no reports; seal a batch with reports first")
    data.check_cell(total.n)
    return Reading(total, tuple(suspects), None if cache is None else cache.problem)


def counted_parts(
    data: Dataset, parts: Iterable[Manifest] | None, cache: StateCache | None, kind: str
) -> Iterator[tuple[Manifest, Counted]]:
    """Each part that has records, and what was counted of it: of ``kind``, as a cache tells them apart."""
    if cache is not None:
        cache.forget_others(data.metric, data.sealed)
    for part in data.parts if parts is None else parts:
        found = None if cache is None else cache.find(data.metric, part, kind)
        counted = _count(data, part, kind) if found is None else found
        if counted is None:
            continue
        if cache is not None and found is None:
            cache.keep(data.metric, part, counted, kind)
        yield part, counted


def suspects_in(part: Manifest, verdict: Verdict) -> list[Suspect]:
    """The part, where honest devices hardly ever send its records; else nothing."""
    if not verdict.suspicious or verdict.what is None:
        return []
    return [Suspect(part.file.name, part.period, part.records, verdict.p_value, verdict.what)]


def _count(data: Dataset, part: Manifest, kind: str) -> Counted | None:
    """What reading ``part`` gives; None for a part without records."""
    metric = data.metric
    screen = Screen(metric.undivided)
    if kind != CELLS:
        own = (own_records(metric, batch, data.cell) for batch in part_batches(part))
        state = _aggregate(metric.undivided, screen.watch(own))
        return None if state is None else Counted(state, screen.verdict())
    cells: dict[int, State] = {}
    for batch in part_batches(part):
        for cell, own_of_cell in by_cell(metric, batch):
            state = _aggregate(metric.undivided, screen.watch([own_of_cell]))
            cells = cells if state is None else merged(cells, {cell: state})
    return Counted(joined(metric, cells), screen.verdict()) if cells else None
