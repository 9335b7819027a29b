"""The tables ``[metrics.NAME.first]`` and ``[metrics.NAME.second]`` of a joint metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from hubbub_client.mechanisms.joint import Part
from hubbub_client.plan import Metric as DeviceMetric
from hubbub_registry.entry import default_salt, plan_entry
from hubbub_registry.mechanisms import exact_ratio, mechanism
from hubbub_registry.mechanisms.joint import PARTS, Half, together
from hubbub_registry.metric import Metric
from hubbub_registry.own_keys import LISTS, Own, read_own
from hubbub_registry.schema import COMMON_KEYS
from hubbub_registry.table import Table, shown

NAMES = ("first", "second")
KEYS = ("mechanism", "share", "like", "salt", *LISTS)


def read_joint(
    table: Table, epsilon: Fraction | None, namespace: str, name: str, folder: Path, metrics: Mapping[str, Any], *,
    candidates: bool,
) -> Own | None:  # fmt: skip
    """The two parts of ``table``; None, with the problems noted there, where they cannot be used.

    ``metrics`` holds the raw tables of the whole registry, for a part that is ``like`` one of them.
    """
    if table.has("salt"):
        table.take("salt")
        table.problem("salt", "the two parts have a salt each", "write it in [first] or [second]")
    opened = [_open(table, side, metrics) for side in NAMES]
    if opened[0] is None or opened[1] is None:
        return None
    tables = (opened[0], opened[1])
    shares = _shares(tables)
    sides: list[Own] = []
    for side, part, share in zip(NAMES, tables, shares, strict=True):
        own = None if epsilon is None or share is None else share * epsilon
        read = _read_part(part, own, default_salt(namespace, f"{name}.{side}"), folder, candidates=candidates)
        sides += [] if read is None else [read]
    if len(sides) < len(NAMES) or epsilon is None:
        return None
    keys: dict[str, Any] = {}
    for side, read, share in zip(NAMES, sides, shares, strict=True):
        keys |= {side: read.mechanism, f"{side}_share": share}
        if read.values:
            keys[f"{side}_values"] = len(read.values)
        keys |= {f"{side}_{key}": value for key, value in read.keys.items()}
    calibrated = together([Half(side.mechanism, side.calibrated) for side in sides])
    values = tuple(value for side in sides for value in side.values)
    return Own("joint", epsilon, keys, values, (), calibrated, tuple(sides))


def part_metrics(own: Own, device: DeviceMetric, namespace: str, common: Mapping[str, Any]) -> tuple[Metric, ...]:
    """Each part as a metric of its own: what decodes, screens, simulates and audits its records takes it as one.

    ``common`` holds the keys of the whole metric that parts share with it. Its ``entry`` is that of a metric with the
    same encoder; no plan has it.
    """
    parts = []
    for number, side in enumerate(own.sides):
        part = Part(device, number)
        shared = {**common, "epsilon": side.epsilon, "dimension": None}
        ratio = exact_ratio(side.mechanism, side.calibrated.parameters)
        parts.append(
            Metric(
                name=part.name,
                mechanism=side.mechanism,
                ratio=ratio,
                permanent_ratio=side.calibrated.permanent_ratio,
                settings=side.keys,
                values=side.values,
                candidates=side.candidates,
                entry=plan_entry(namespace, part.name, side.mechanism, shared, side.calibrated, ratio, side.values),
                device=part,
                **shared,
            )
        )
    return tuple(parts)


def _open(table: Table, side: str, metrics: Mapping[str, Any]) -> Table | None:
    """The table of one side, with what it is ``like`` filled in."""
    raw = table.take(side)
    if raw is None:
        return None
    part = Table(f"{table.where}.{side}", raw, table.problems)
    if not isinstance(raw, Mapping):
        return None
    if not part.has("like"):
        return part
    other = part.take("like")
    known = metrics.get(other) if isinstance(other, str) else None
    if not isinstance(known, Mapping):
        part.problem("like", f"{shown(other)} is no metric of this registry", f"name one of {', '.join(metrics)}")
        return None
    copied = {key: value for key, value in known.items() if key == "mechanism" or key not in COMMON_KEYS}
    twice = [key for key in copied if part.has(key)]
    for key in twice:
        part.problem(key, "stands here and in the metric that this part is like", "remove it, or remove like")
    if twice:
        return None
    return Table(part.where, {**{key: raw[key] for key in raw if key != "like"}, **copied}, table.problems)


def _shares(parts: tuple[Table, Table]) -> tuple[Fraction | None, Fraction | None]:
    """Which part of epsilon each side has: a half, or what the other one leaves, where it says nothing."""
    said = [part.has("share") for part in parts]
    read = [part.probability("share") if part.has("share") else None for part in parts]
    if not any(said):
        return Fraction(1, 2), Fraction(1, 2)
    if said == [True, False]:
        return read[0], None if read[0] is None else 1 - read[0]
    if said == [False, True]:
        return None if read[1] is None else 1 - read[1], read[1]
    if read[0] is not None and read[1] is not None and read[0] + read[1] > 1:
        parts[1].problem("share", "the two shares are more than all of epsilon", "let them add up to 1")
    return read[0], read[1]


def _read_part(part: Table, epsilon: Fraction | None, salt: int, folder: Path, *, candidates: bool) -> Own | None:
    kind = part.choice("mechanism", PARTS)
    if kind is None:  # nothing can be said of the other keys
        return None
    before = len(part.problems)
    own = read_own(part, kind, epsilon, salt, folder, candidates=candidates)
    # A part has a share where a metric has an epsilon.
    part.problems[before:] = [
        replace(problem, where=f"{part.where}.share") if problem.where == f"{part.where}.epsilon" else problem
        for problem in part.problems[before:]
    ]
    part.finish(", ".join([*KEYS, *mechanism(kind).KEYS]))
    if own is not None and own.calibrated.permanent_ratio is not None:
        part.problem(
            "reports",
            "permanent noise is kept and charged by the value, and a joint report is charged by the pair",
            'write reports = "one-time" and leave p and q out, or report the two values as two metrics',
        )
        return None
    return own
