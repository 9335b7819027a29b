"""A metric's entry in the plan: integers and text only, so that a board can read it."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hubbub_client.charges import MOST_CHARGES
from hubbub_client.dimension import own_field
from hubbub_client.plan import definition_fingerprint
from hubbub_registry.calibration import Calibrated
from hubbub_registry.dimension import Dimension
from hubbub_registry.exact import ln_upper, nano_down, nano_up
from hubbub_registry.mechanisms import client_module


def plan_entry(
    namespace: str,
    name: str,
    mechanism: str,
    common: Mapping[str, Any],
    calibrated: Calibrated,
    ratio: Fraction,
    values: tuple[str, ...],
) -> dict[str, Any]:
    """The entry of one metric, its fingerprint included.

    ``common`` holds the keys that every metric has, as read; ``ratio`` is e^epsilon of one report. What a report is
    charged is rounded up, and what a device may spend is rounded down. ``charges`` is there where noise is permanent.
    """
    end = datetime.datetime.combine(common["expires"], datetime.time(), datetime.UTC)
    entry: dict[str, Any] = {
        "name": name,
        "mechanism": mechanism,
        "parameters": dict(calibrated.parameters),
        "fields": [[field.name, field.bits, field.domain] for field in calibrated.fields],
        "period": common["period"],
        "reports_per_period": common["reports_per_period"],
        "epsilon_nano": nano_up(ln_upper(ratio)),
        "declared_nano": nano_down(common["epsilon"]),
    }
    if common["lifetime_epsilon"] is not None:
        entry["lifetime_nano"] = nano_down(common["lifetime_epsilon"])
    charges = charges_of(mechanism, calibrated.parameters)
    if charges:
        entry["charges"] = charges
    if values:
        entry["values"] = list(values)
    dimension: Dimension | None = common.get("dimension")
    if dimension is not None:
        entry["dimension"] = dimension.entry()
        entry["fields"].insert(0, list(own_field(entry["dimension"])))
    entry["fingerprint"] = definition_fingerprint(namespace, entry).hex()
    entry["expires"] = int(end.timestamp())
    return entry


def charges_of(mechanism: str, parameters: Mapping[str, int]) -> list[int]:
    """Cumulative epsilon after 1, 2, 3, ... reports of one value, in 1e-9, rounded up; empty without permanent noise.

    At most ``MOST_CHARGES`` entries, the last one being the bound for any number of reports: it is charged early where
    the exact figures would go on below it, which over-charges.
    """
    module = client_module(mechanism)
    if not hasattr(module, "ratio_after") or module.ratio_after(parameters, 1) is None:
        return []
    bound = nano_up(ln_upper(Fraction(*module.permanent_ratio(parameters))))
    charges: list[int] = []
    for reports in range(1, MOST_CHARGES):
        charge = nano_up(ln_upper(Fraction(*module.ratio_after(parameters, reports))))
        if charge >= bound:
            break
        charges.append(charge)
    return [*charges, bound]


def default_salt(namespace: str, name: str) -> int:
    """A salt of the metric's own, so that two metrics hash the same value to unrelated buckets."""
    text = f"hubbub salt\x00{namespace}\x00{name}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
