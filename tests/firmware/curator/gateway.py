"""A gateway for tests: curated metrics by hand, state in memory, noise that is told."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from hubbub_client.ledger import Ledger
from hubbub_client.storage import MemoryStorage
from hubbub_firmware.curator.curator import Curator
from hubbub_firmware.curator.readings import Reading
from hubbub_firmware.curator.releases import read_releases
from hubbub_registry.curator import Curated
from hubbub_registry.curator.scale import gaussian_scale, laplace_scale
from hubbub_registry.curator.sensitivity import l1_sensitivity, l2_sensitivity_squared

DAY = 86400
# 2026-11-30, the start of a day.
START = 20787 * DAY
SENSORS = frozenset({"a", "b", "c", "d"})


def curated(name: str = "c", **keys: Any) -> Curated:
    """A count with discrete Laplace noise, with the given fields in place of its own; the scale follows from them."""
    fields: dict[str, Any] = {
        "namespace": "org.example.test", "name": name, "description": "A test's", "owner": "tests@example.org",
        "expires": datetime.date(2099, 1, 1), "statistic": "count", "noise": "discrete-laplace",
        "adjacency": "add-remove", "declared": Fraction(1), "lifetime": Fraction(100), "delta": None, "low": 0,
        "high": 0, "buckets": 0, "resolution": 1, "contributions": 2, "sensors": 100, "sensors_minimum": 1,
        "period": DAY, "silenced": {}, **keys,
    }  # fmt: skip
    shape = (fields["statistic"], fields["adjacency"], fields["contributions"], fields["low"], fields["high"])
    if fields["noise"] == "discrete-gaussian":
        fields["delta"] = fields["delta"] or Fraction(1, 10**9)
        fields.setdefault("scale", gaussian_scale(l2_sensitivity_squared(*shape), fields["declared"]))
    fields.setdefault("scale", laplace_scale(l1_sensitivity(*shape), fields["declared"]))
    return Curated(**fields)


def no_noise(_curated: Curated) -> Callable[[int], int]:
    """Noise of 0, to see what is aggregated."""
    return lambda value: value


def gateway(
    storage: MemoryStorage, *metrics: Curated, now: int = START, noise: Any = no_noise, forget: bool = False
) -> Curator:
    """A run of the gateway at ``now``."""
    named = {each.name: each for each in metrics or (curated(),)}
    return Curator(named, storage, now, forget=forget, noise=noise)


def reading(sensor: str, value: int = 1, metric: str = "c", time: int = START) -> Reading:
    """One reading."""
    return Reading(sensor, metric, value, time)


def spent(storage: MemoryStorage) -> dict[str, int]:
    """What the ledger has, by entry, in 1e-9."""
    ledger = Ledger.load(storage)
    assert ledger is not None
    return {name: entry.spent for name, entry in ledger.entries.items()}


def values(storage: MemoryStorage) -> list[list[int]]:
    """The values of all releases."""
    return [each["values"] for each in read_releases(storage)]
