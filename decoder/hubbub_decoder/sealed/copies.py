"""Parts that are there twice: a copy of a sealed part, counted beside it, would make every error too small."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from hubbub_decoder.counting.records import Records
from hubbub_decoder.sealed.file import part_batches
from hubbub_decoder.sealed.manifest import Manifest
from hubbub_registry.errors import DatasetError

Pair = tuple[Manifest, Manifest]
_CHANCE = math.log(1e-12)
_LOOKED_AT = 4096  # records of a part: with two kinds among them, equal orders are out of the question


def check_copies(parts: Iterable[Manifest]) -> tuple[Pair, ...]:
    """The parts of the very same file as an earlier one, with that, which may be so by chance.

    Every part was shuffled by itself, so even parts of the same reports, whatever the devices' noise, agree in order by
    chance only: with probability prod(c!) / n!, where c are how often each of its n records is there. Below 1e-12 that
    is a copy, and a DatasetError. So a few records, or one record over and over, prove nothing. Reads nothing but files
    that agree.
    """
    first: dict[str, Manifest] = {}
    alike = []
    for part in parts:
        other = first.setdefault(part.sha256, part)
        if other is part or not part.records:
            continue
        if _log_chance(part) < _CHANCE:
            raise DatasetError(
                f"{part.file}: holds the same records in the same order as {other.file}, and every part is shuffled "
                "by itself, so one is a copy; remove it, and its manifest"
            )
        alike.append((part, other))
    return tuple(alike)


def perhaps_copies(pairs: Iterable[Pair]) -> tuple[str, ...]:
    """A note on parts that may be copies of others."""
    named = [f"{_named(part)} is the same file as {_named(other)}" for part, other in pairs]
    if not named:
        return ()
    more = f", and so are {len(named) - 1} other parts" if len(named) > 1 else ""
    return (
        f"{named[0]}{more}: with so few kinds of records that may be chance, and all are counted. Where one is a copy, "
        "remove it and its manifest",
    )


def _log_chance(part: Manifest) -> float:
    """The logarithm of how likely a shuffle is to put the first records of ``part`` in the order in which they are."""
    records: Records = next(part_batches(part))[:_LOOKED_AT]
    counts = np.unique(records, axis=0, return_counts=True)[1]
    return sum(math.lgamma(count + 1) for count in counts.tolist()) - math.lgamma(len(records) + 1)


def _named(part: Manifest) -> str:
    return f"{part.path.parent.name}/{part.file.name}"
