"""What a mechanism reads of a table: its own keys, its values or candidates, and what they are calibrated to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from hubbub_registry import schema
from hubbub_registry.calibration import Calibrated, CalibrationError
from hubbub_registry.mechanisms import Mechanism, Settings, mechanism, range_labels, takes_integers
from hubbub_registry.table import Table

LISTS = ("values", "candidates")


@dataclass(frozen=True)
class Own:
    """A mechanism as it was read: ``keys`` with defaults filled in, the closed domain, what to look for, the integers.

    ``sides`` holds the two mechanisms of a composite, each with its share of epsilon; else nothing.
    """

    mechanism: str
    epsilon: Fraction
    keys: Mapping[str, Any]
    values: tuple[str, ...]
    candidates: tuple[str, ...]
    calibrated: Calibrated
    sides: tuple[Own, ...] = ()


def read_own(
    table: Table, kind: str, epsilon: Fraction | None, default_salt: int, folder: Path, *, candidates: bool
) -> Own | None:
    """What mechanism ``kind`` reads of ``table``; None, with the problems noted there, where it cannot be used.

    ``epsilon`` is None where it could not be read; ``default_salt`` is for a table that fixes none.
    """
    before = len(table.problems)
    salt = schema.read_salt(table)
    module = mechanism(kind)
    keys = {key: schema.read_mechanism_key(table, key, description) for key, description in module.KEYS.items()}
    sound = len(table.problems) == before and epsilon is not None
    if takes_integers(module):
        _refuse_lists(table)
        values: tuple[str, ...] = ()
        tried = range_labels(module, keys) if sound else ()
    else:
        values, tried = _read_domain(table, folder, module.closed(keys) if sound else None, candidates=candidates)
    if not sound or epsilon is None or (module.closed(keys) and not values):
        return None
    chosen = default_salt if salt is None else salt
    calibrated = _calibrate(table, module, Settings(epsilon, keys, chosen, len(values)))
    return None if calibrated is None else Own(kind, epsilon, keys, values, tried, calibrated)


def _refuse_lists(table: Table) -> None:
    for key in LISTS:
        if table.has(key):
            table.take(key)
            table.problem(key, "this mechanism takes the integers from low to high", "remove this key")


def _read_domain(
    table: Table, folder: Path, closed: bool | None, *, candidates: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The values (of a closed domain) and the candidates; ``closed`` is None where wrong keys leave it unknown."""
    values: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    if closed is False and table.has("values"):
        table.take("values")
        table.problem("values", "this mechanism takes any value", "name what to look for under candidates instead")
    elif closed or table.has("values"):
        values = schema.read_values(table, "values", folder) if table.has("values") else table.take("values") or ()
        if len(values) == 1:
            table.problem("values", "one value says nothing", "list at least two")
            values = ()
    if closed and table.has("candidates"):
        table.take("candidates")
        table.problem("candidates", "this mechanism reports nothing but its values", "remove this key")
    elif table.has("candidates"):
        if candidates:
            tried = schema.read_values(table, "candidates", folder)
        else:
            table.take("candidates")
    return values, values or tried


def _calibrate(table: Table, module: Mechanism, settings: Settings) -> Calibrated | None:
    try:
        return module.calibrate(settings)
    except CalibrationError as error:
        for problem in error.problems:
            table.problem(*problem)
        return None
