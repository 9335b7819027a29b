"""Decodes each cell of a public dimension: one pass over the sealed data, a state for each cell that occurs."""

from __future__ import annotations

from collections.abc import Iterable

from hubbub_decoder.cache import StateCache
from hubbub_decoder.dataset import Dataset
from hubbub_decoder.decode import check_data, choose_candidates, estimate, estimate_mean, gives_mean
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.manifest import Manifest
from hubbub_decoder.reading import CELLS, Suspect, counted_parts, suspects_in
from hubbub_decoder.split.cell import dimension_of, folded
from hubbub_decoder.split.result import Result, Split
from hubbub_decoder.split.states import merged, pooled, taken_apart
from hubbub_decoder.state import State
from hubbub_registry import Metric


def decode_by(
    metric: Metric, data: Dataset, candidates: Iterable[str] | None = None, *, cache: StateCache | None = None,
    parts: Iterable[Manifest] | None = None,
) -> Split:  # fmt: skip
    """The estimates, or the mean, of each cell of ``metric``'s public dimension, and of all reports together.

    Cells of fewer reports than the registry's ``min_cell`` are held back. ``parts`` are those to read, in order
    (default: all of ``data``); a progress bar can wrap them. Memory holds a state for each cell. Raises DatasetError,
    EstimateError where there is no dimension or nothing to read, and what ``estimate`` or ``estimate_mean`` raises.
    """
    check_data("decode_by", metric, data)
    split = dimension_of(metric)
    if data.cell is not None:
        raise EstimateError(f"metric {metric.name}: this data is one cell already; leave where out, or use decode")
    chosen = () if gives_mean(metric) and candidates is None else choose_candidates(metric, candidates)
    cells: dict[int, State] = {}
    suspects: list[Suspect] = []
    for part, counted in counted_parts(data, parts, cache, CELLS):
        cells = merged(cells, taken_apart(counted.state))
        suspects += suspects_in(part, counted.verdict)
    total = pooled(cells)
    if total is None:
        raise EstimateError(f"{data}: the sealed parts hold no reports; seal a batch with reports first")
    found: dict[str, Result] = {}
    held = []
    for place, value in enumerate(split.values):
        if place in cells and cells[place].n >= split.min_cell:
            found[value] = _result(metric, cells[place], chosen)
        else:
            held.append(value)
    whole = _result(metric, total, chosen)
    uncached = () if cache is None or cache.problem is None else (cache.problem,)
    notes = (
        *whole.notes,
        *folded(split),
        *_held(split.name, split.min_cell, held),
        *data.notes,
        *(s.note() for s in suspects),
    )
    return Split(
        metric.name, split.name, split.min_cell, whole, found, tuple(held), tuple(suspects), (*notes, *uncached)
    )  # fmt: skip


def _result(metric: Metric, state: State, chosen: tuple[str, ...]) -> Result:
    return estimate_mean(metric, state) if gives_mean(metric) else estimate(metric, state, chosen)


def _held(name: str, least: int, held: list[str]) -> tuple[str, ...]:
    if not held:
        return ()
    why = "no reports" if least == 1 else f"held back, fewer than {least} reports or none"
    return (f"{why}: {name} {', '.join(held)}",)
