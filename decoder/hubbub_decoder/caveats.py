"""Notes on the data that figures come from: what is not wrong, and changes how they are to be read."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence, Set
from pathlib import Path

from hubbub_decoder.sealed.folders import folders_in, manifests_in, without_manifest
from hubbub_registry import Metric
from hubbub_registry.errors import DatasetError

_NAMED = 3


def repeated_reports(metric: Metric, periods: Sequence[int]) -> tuple[str, ...]:
    """A note where one device may be in the data more than once, and its noise is permanent."""
    if metric.permanent_ratio is None or (len(periods) < 2 and metric.reports_per_period < 2):
        return ()
    over = f"{len(periods)} periods" if len(periods) > 1 else f"up to {metric.reports_per_period} reports a period"
    factor = math.sqrt(most_reports(metric, periods))
    return (
        f"over {over} a device that reports one value again repeats its permanent noise, which therefore does not "
        f"average out: the errors stated here are too small, by a factor of {factor:.3g} at most. For exact ones "
        "decode one period at a time (--period), with one report in each",
    )


def most_reports(metric: Metric, periods: Sequence[int]) -> int:
    """How many reports of one device there are in these periods, at most.

    The variance of a sum of c reports is c times the sum of their variances at most, whatever they share. So where
    noise is permanent, the root of this number bounds how much too small a standard error is.
    """
    return max(1, len(periods)) * metric.reports_per_period


def not_committed(folders: Iterable[Path], periods: Set[int] | None) -> tuple[str, ...]:
    """A note where files in the folders of these ``periods`` (None: of all) have no manifest. Raises DatasetError."""
    chosen = [folder for folder in folders if periods is None or folder.name in map(str, periods)]
    files = [f"{file.parent.name}/{file.name}" for folder in chosen for file in without_manifest(folder)]
    if not files:
        return ()
    what = "1 file" if len(files) == 1 else f"{len(files)} files"
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    return (
        f"{what} without a manifest: {', '.join(files[:_NAMED])}{more}; no record there is in these figures. A seal "
        "that runs or was interrupted leaves such files, and the next hubbub seal puts that right; where one stays, "
        "restore its manifest from a copy",
    )


def other_definitions(sealed: Path, metric: Metric, periods: Set[int] | None) -> tuple[str, ...]:
    """A note for each other definition of ``metric`` with records in these ``periods`` (None: in any)."""
    others = [folder for folder in folders_in(sealed) if folder.name != metric.fingerprint.hex()]
    return tuple(note for folder in others if (note := _of_definition(folder, periods)))


def _of_definition(folder: Path, periods: Set[int] | None) -> str | None:
    """Figures do not depend on these records, so what is wrong with them is said and does not stop a decoder."""
    try:
        chosen = [period for period in folders_in(folder) if periods is None or period.name in map(str, periods)]
        paths = [path for period in chosen for path in manifests_in(period)]
        records = sum(int(json.loads(path.read_bytes())["records"]) for path in paths)
    except (DatasetError, OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return (
            f"records sealed under definition {folder.name} of this metric cannot be counted; none is in these figures"
        )
    if not records:
        return None
    return (
        f"{records:,} records of this metric are sealed under definition {folder.name}; none is in these figures. "
        "Decode them with the registry that those devices ran"
    )
