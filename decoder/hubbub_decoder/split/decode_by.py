"""Decodes each cell of a public dimension: one pass over the sealed data, a state for each cell that occurs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hubbub_decoder.asking import Ask, Result, asked
from hubbub_decoder.cache import StateCache
from hubbub_decoder.counting.state import State
from hubbub_decoder.decode import check_data
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.reading import CELLS, counted_parts, suspects_in
from hubbub_decoder.screen.suspect import Suspect
from hubbub_decoder.sealed.dataset import Dataset
from hubbub_decoder.sealed.manifest import Manifest
from hubbub_decoder.shared_notes import shared_notes
from hubbub_decoder.split.cell import dimension_of, folded
from hubbub_decoder.split.result import Split
from hubbub_decoder.split.states import merged, pooled, taken_apart
from hubbub_registry import Metric
from hubbub_registry.dimension import Dimension


def decode_by(
    metric: Metric, data: Dataset, candidates: Iterable[str] | None = None, *, second: Iterable[str] | None = None,
    quantiles: Iterable[float] | None = None, ranges: Iterable[tuple[int, int]] | None = None,
    cache: StateCache | None = None, parts: Iterable[Manifest] | None = None,
) -> Split:  # fmt: skip
    """What is asked of each cell of ``metric``'s public dimension, and of all reports together.

    The counts of ``candidates``, the mean or the table of pairs that the metric gives (``second``: candidates of the
    table's other side); or where they are named, ``quantiles`` or ``ranges``. ``split_by`` has the rest.

    Raises what ``split_by`` raises, and CandidateError or EstimateError where the metric does not give what is asked.
    """
    check_data("decode_by", metric, data)
    ask = asked(metric, candidates, second=second, quantiles=quantiles, ranges=ranges)
    return split_by(metric, data, ask, cache=cache, parts=parts)


def split_by(
    metric: Metric, data: Dataset, ask: Ask, *, cache: StateCache | None = None, parts: Iterable[Manifest] | None = None
) -> Split:
    """What ``ask`` finds in each cell of ``metric``'s public dimension, and in all reports together.

    Cells of fewer reports than the registry's ``min_cell`` are held back, and one of too few for what is asked is
    refused by itself. ``parts`` are those to read, in order (default: all of ``data``); a progress bar can wrap them.
    Memory holds a state for each cell. Raises DatasetError, EstimateError where there is no dimension or nothing to
    read, and what ``ask`` raises of all reports.
    """
    split = dimension_of(metric)
    if data.cell is not None:
        raise EstimateError(f"metric {metric.name}: this data is one cell already; leave where out, or use decode")
    cells: dict[int, State] = {}
    suspects: list[Suspect] = []
    for part, counted in counted_parts(data, parts, cache, CELLS):
        cells = merged(cells, taken_apart(counted.state))
        suspects += suspects_in(part, counted.verdict)
    total = pooled(cells)
    if total is None:
        raise EstimateError(f"{data}: the sealed parts hold no reports; seal a batch with reports first")
    whole = ask(total)
    found: dict[str, Result] = {}
    refused: dict[str, str] = {}
    held = []
    for place, value in enumerate(split.values):
        if place not in cells or cells[place].n < split.min_cell:
            held.append(value)
            continue
        try:
            found[value] = ask(cells[place])
        except EstimateError as error:
            refused[value] = str(error)
    uncached = () if cache is None or cache.problem is None else (cache.problem,)
    notes = (*_notes(split, found, refused, held), *data.notes, *(s.note() for s in suspects), *uncached)
    return Split(
        metric.name, split.name, split.min_cell, whole, found, tuple(held), refused, tuple(suspects), notes
    )  # fmt: skip


def _notes(split: Dimension, found: dict[str, Result], refused: dict[str, str], held: list[str]) -> Iterator[str]:
    yield from shared_notes({f"{split.name} {value}": result.notes for value, result in found.items()})
    yield from folded(split)
    for value, why in refused.items():
        yield f"not shown: {split.name} {value}: {why}"
    if held:
        why = "no reports" if split.min_cell == 1 else f"held back, fewer than {split.min_cell} reports or none"
        yield f"{why}: {split.name} {', '.join(held)}"
