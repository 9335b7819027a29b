"""Releases, each in a file of its own that is written once: asking again gives the same noisy values again.

New noise for the same aggregate would let whoever asks often enough average the noise away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hubbub_client.errors import RolledBackError, StateError
from hubbub_firmware.curator.aggregates import Open
from hubbub_firmware.curator.checked import read_checked, write_checked
from hubbub_registry.curator import Curated
from hubbub_registry.curator.accounting import loss
from hubbub_registry.exact import float_up

if TYPE_CHECKING:
    from hubbub_client.storage import Storage

_PREFIX = "release"


def name_of(fingerprint: str, period: int) -> str:
    """The name of a release's file."""
    return f"{_PREFIX}-{fingerprint}-{period}"


def document_of(curated: Curated, period: int, values: Sequence[int], serial: int) -> dict[str, Any]:
    """A release with all that is needed to read it, so that it outlives its definition. Figures are rounded up."""
    one = loss(curated, "per_period")
    start = period * curated.period
    return {
        "metric": curated.name,
        "fingerprint": curated.fingerprint.hex(),
        "period": period,
        "start": start,
        "end": start + curated.period,
        "statistic": curated.statistic,
        "resolution": curated.resolution,
        "noise": curated.noise,
        "scale": [curated.scale.numerator, curated.scale.denominator],
        "epsilon": float_up(one.epsilon),
        "rho": float_up(one.rho) if curated.gaussian else None,
        "delta": None if curated.delta is None else float_up(curated.delta),
        "std_error": curated.std_error,
        "half_width": curated.half_width,
        "cells": list(curated.cells),
        "values": list(values),
        "serial": serial,
    }


def write_release(storage: Storage, document: dict[str, Any]) -> None:
    """Stores a release. Raises StateError where there is one already: it is never replaced."""
    name = name_of(document["fingerprint"], document["period"])
    if storage.read(name) is not None:
        raise StateError(f"state, {name}: this period is released already, and no second noise is drawn for it")
    write_checked(storage, name, document)


def read_releases(storage: Storage) -> list[dict[str, Any]]:
    """All releases, by end of period, then metric. Raises StateError where one is damaged, and OSError."""
    found: list[dict[str, Any]] = [
        read_checked(storage, name) for name in storage.names() if name.startswith(f"{_PREFIX}-")
    ]
    return sorted(found, key=lambda each: (each["end"], each["metric"], each["fingerprint"]))


def check_against(released: Iterable[Mapping[str, Any]], everything: Mapping[str, Open]) -> None:
    """Raises RolledBackError where a period that is released is still open, unless a run was killed between the two."""
    for each in released:
        waiting = everything.get(each["fingerprint"])
        if waiting is None or each["period"] < waiting.next:
            continue
        marked = waiting.aggregates.get(each["period"])
        if marked is None or marked.serial != each["serial"]:
            raise RolledBackError("state: a period is released that is still open; put the newest state back")
