"""Discovers strings in each cell of a public dimension: each is searched by itself, and all are tested together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from hubbub_decoder.arguments import check_open_unit
from hubbub_decoder.cache import StateCache
from hubbub_decoder.counting.state import State
from hubbub_decoder.decode import check_data
from hubbub_decoder.discovery import Discovered, Options, check_discovers
from hubbub_decoder.discovery.listing import CONDITIONAL, found_text, there_text
from hubbub_decoder.discovery.mechanisms import found_by
from hubbub_decoder.discovery.selection import largest_p_values, least_counts
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.mechanisms import mechanism
from hubbub_decoder.sealed.dataset import Dataset
from hubbub_decoder.sealed.manifest import Manifest
from hubbub_decoder.split.decode_by import split_by
from hubbub_decoder.split.result import Split
from hubbub_decoder.statistics.significance import Correction, adjusted
from hubbub_registry import Metric


def discover_by(
    metric: Metric, data: Dataset, *, alpha: float = 0.05, correction: Correction = "holm",
    insignificant: bool = False, options: Options | None = None, cache: StateCache | None = None,
    parts: Iterable[Manifest] | None = None,
) -> Split:  # fmt: skip
    """The strings that are really there in each cell, at level ``alpha`` over all that were found in all cells.

    Each cell is searched as ``discover`` does, and so are all reports together, whose own list is ``whole``. With
    ``insignificant`` the others that were found are listed too. ``split_by`` has the rest.

    Raises what ``split_by`` and ``discover`` raise.
    """
    check_data("discover_by", metric, data)
    check_discovers(metric)
    check_open_unit("alpha", alpha)
    adjusted(np.zeros(1), correction)  # before hours of reading
    chosen = options or Options()

    def ask(state: State) -> Estimates:
        found = found_by(metric, state, chosen)
        tested = mechanism(metric.mechanism).estimate(metric, state, found.values)
        return replace(tested, notes=(*tested.notes, *found.notes))

    split = split_by(metric, data, ask, cache=cache, parts=parts)
    tested = [each for each in (split.whole, *split.cells.values()) if isinstance(each, Estimates)]
    if insignificant:
        whole, *cells = map(Discovered.all_of, tested)
    else:
        whole, *cells = (*_listed(tested[:1], alpha, correction), *_listed(tested[1:], alpha, correction))
    p_value = np.concatenate([*(each.p_value for each in tested[1:]), np.zeros(0)])
    there = int((adjusted(p_value, correction) <= alpha).sum())
    said = (
        f"{found_text(len(p_value))} in {len(cells)} cell{'' if len(cells) == 1 else 's'}, and tested in reports that "
        f"had no say in finding them; {there_text(there)} at alpha = {alpha:g} ({correction}) over all cells together"
    )
    notes = (said, *(() if insignificant else (CONDITIONAL,)), *split.notes)
    return replace(split, whole=whole, cells=dict(zip(split.cells, cells, strict=True)), notes=notes)


def _listed(tested: Sequence[Estimates], alpha: float, correction: Correction) -> Iterator[Discovered]:
    """The rows of each that are there at level ``alpha`` over all of them together."""
    p_value = np.concatenate([*(each.p_value for each in tested), np.zeros(0)])
    there = adjusted(p_value, correction) <= alpha
    largest = np.zeros(len(p_value))
    largest[there] = largest_p_values(p_value, there, alpha, correction)
    start = 0
    for each in tested:
        end = start + len(each)
        rows = there[start:end]
        yield Discovered.of_rows(each, rows, least_counts(each, rows, largest[start:end][rows]))
        start = end
