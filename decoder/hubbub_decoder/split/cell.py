"""One cell of a public dimension: how it is asked for, what it is called, and from how many reports on it is shown."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from hubbub_decoder.errors import ArgumentError, EstimateError, HeldBackError
from hubbub_registry import Metric
from hubbub_registry.dimension import Dimension


def dimension_of(metric: Metric, asked: str | None = None) -> Dimension:
    """The public dimension of ``metric``. Raises EstimateError where it has none, or none of the name ``asked``."""
    if metric.dimension is None:
        raise EstimateError(
            f"metric {metric.name}: it has no public dimension to split by; declare one under "
            f"[metrics.{metric.name}.dimension], and its reports name it from then on"
        )
    if asked is not None and asked != metric.dimension.name:
        raise EstimateError(
            f"metric {metric.name}: its public dimension is {metric.dimension.name}, and not {asked!r}; name that"
        )
    return metric.dimension


def cell_of(metric: Metric, where: object) -> int | None:
    """The place of the value in ``where``, ``{NAME: VALUE}``; None for None. Raises EstimateError, ArgumentError."""
    if where is None:
        return None
    if not isinstance(where, Mapping) or len(where) != 1:
        raise ArgumentError(f'Dataset: where is one name and one value, {{"version": "1.1"}}, or None, not {where!r}')
    ((name, value),) = where.items()
    values = dimension_of(metric, name).values
    if isinstance(value, str):
        value = unicodedata.normalize("NFC", value)  # as the registry's are
    if value not in values:
        raise EstimateError(f"metric {metric.name}: {value!r} is no {name}; there are: {', '.join(values)}")
    return values.index(value)


def cell_name(metric: Metric, cell: int) -> str:
    """``version is 1.1``."""
    split = dimension_of(metric)
    return f"{split.name} is {split.values[cell]}"


def cell_notes(metric: Metric, cell: int) -> tuple[str, ...]:
    """What a reader of one cell's figures must know."""
    split = dimension_of(metric)
    also = folded(split) if split.values[cell] == split.other else ()
    return (f"only reports whose {cell_name(metric, cell)}", *also)


def folded(split: Dimension) -> tuple[str, ...]:
    """A note on what else the value for all others holds, where there is one."""
    if split.other is None:
        return ()
    return (
        f"{split.name} {split.other} also holds values that are not in the list, and cells that had fewer than "
        "min_cell reports when they were sealed",
    )


def check_cell(metric: Metric, cell: int, n: int) -> None:
    """Raises HeldBackError where a cell of ``n`` reports is too small to be shown; how small it is stays untold."""
    least = dimension_of(metric).min_cell
    if n < least == 1:
        raise HeldBackError(
            f"metric {metric.name}: there are no reports whose {cell_name(metric, cell)}; read more periods"
        )
    if n < least:
        raise HeldBackError(
            f"metric {metric.name}: held back, fewer than {least} reports whose {cell_name(metric, cell)}; read more "
            "periods, or lower min_cell in the registry where a crowd so small may be looked at"
        )
