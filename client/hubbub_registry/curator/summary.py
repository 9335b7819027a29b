"""What ``hubbub check`` says of curated metrics: a part of their own, since another trust model holds for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hubbub_registry.curator.accounting import SPANS, Loss, loss, mixed, releases, total
from hubbub_registry.curator.curated import Curated
from hubbub_registry.exact import float_up
from hubbub_registry.registry import Registry
from hubbub_registry.summary.figures import columns, decimal_up, duration

_MODEL = "sensors trust the gateway with their readings; everybody else sees its noisy releases only"


def curated_as_text(registry: Registry) -> list[str]:
    """The lines of the part; none where nothing is curated."""
    metrics = list(registry.curated.values())
    if not metrics:
        return []
    lines = [f"curated by a gateway: {_MODEL}", ""]
    rows = [["epsilon of one sensor, rounded up", "per period", "per year", "lifetime"]]
    rows += [[each.name, *(decimal_up(loss(each, span).epsilon) for span in SPANS)] for each in metrics]
    rows.append(["one sensor, all curated", *(decimal_up(total(metrics, span).epsilon) for span in SPANS)])
    lines += columns(rows)
    deltas = [each.delta for each in metrics if each.delta is not None]
    if deltas:
        lines.append(f"where rho is declared, epsilon is at its delta; the sum is at delta {float(min(deltas)):g}")
    if mixed(metrics):
        lines.append("the sum is for the neighbours of replace, under which add-remove metrics cost more than alone")
    for each in metrics:
        lines += ["", each.name, *(f"  {label:12}{text}" for label, text in _describe(each))]
    return lines


def curated_as_json(registry: Registry) -> dict[str, Any]:
    """``model``, ``metrics`` by name, and ``epsilon`` of all of them."""
    metrics = registry.curated.values()
    return {
        "model": _MODEL,
        "epsilon": {span: _figures(total(metrics, span)) for span in SPANS},
        "metrics": {each.name: _metric(each) for each in metrics},
    }


def _describe(curated: Curated) -> Iterator[tuple[str, str]]:
    yield "statistic", ", ".join(_statistic(curated))
    yield "noise", f"{curated.noise} of scale {curated.scale}, on a sensitivity of {sensitivity(curated)}"
    yield "declared", f"at most {curated.unit} {decimal_up(curated.declared)} a sensor and period ({curated.adjacency})"
    yield "exactly", f"{curated.unit} {curated.loss} a release"
    yield "error", f"standard error {curated.std_error:.6g}, 95 % within {curated.half_width} to each side"
    yield (
        "releases",
        f"one each {duration(curated.period)}, {releases(curated)['lifetime']} in its life; until {curated.expires}",
    )
    yield (
        "sensors",
        f"{curated.sensors_minimum} to {curated.sensors} enrolled; readings of each a period: {curated.contributions}",
    )
    yield "fingerprint", curated.fingerprint.hex()


def sensitivity(curated: Curated) -> str:
    """The sensitivity that the noise is calibrated to, in words."""
    if not curated.gaussian:
        return f"{curated.l1} (L1)"
    return f"the root of {curated.l2_squared} (L2)"


def _statistic(curated: Curated) -> Iterator[str]:
    yield curated.statistic
    if curated.statistic != "count":
        yield f"readings clamped to {curated.low} to {curated.high}"
    if curated.resolution > 1:
        yield f"in steps of 1/{curated.resolution}"
    if curated.buckets:
        yield f"{curated.buckets} buckets"


def _metric(curated: Curated) -> dict[str, Any]:
    return {
        "description": curated.description,
        "owner": curated.owner,
        "expires": curated.expires.isoformat(),
        "statistic": curated.statistic,
        "noise": curated.noise,
        "adjacency": curated.adjacency,
        "fingerprint": curated.fingerprint.hex(),
        "period_seconds": curated.period,
        "contributions_per_period": curated.contributions,
        "sensors": [curated.sensors_minimum, curated.sensors],
        "range": None if curated.statistic == "count" else [curated.low, curated.high],
        "resolution": curated.resolution,
        "cells": list(curated.cells),
        "sensitivity": {"l1": curated.l1, "l2_squared": curated.l2_squared},
        "scale": [curated.scale.numerator, curated.scale.denominator],
        "unit": curated.unit,
        "declared": {"per_period": float(curated.declared), "lifetime": float(curated.lifetime)},
        "exact": [curated.loss.numerator, curated.loss.denominator],
        "releases": releases(curated),
        "loss": {span: _figures(loss(curated, span)) for span in SPANS},
        "std_error": curated.std_error,
        "half_width": curated.half_width,
    }


def _figures(lost: Loss) -> dict[str, float | None]:
    return {
        "epsilon": float_up(lost.epsilon),
        "rho": float_up(lost.rho) if lost.delta is not None else None,
        "delta": None if lost.delta is None else float_up(lost.delta),
    }
