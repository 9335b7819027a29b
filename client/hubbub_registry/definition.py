"""One ``[metrics.NAME]`` table: read, checked, calibrated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hubbub_client.errors import PlanError
from hubbub_client.mechanisms.names import COMPOSITES
from hubbub_client.plan import SCHEMA, Plan
from hubbub_registry import schema
from hubbub_registry.dimension import read_dimension
from hubbub_registry.entry import default_salt, plan_entry
from hubbub_registry.errors import Problem
from hubbub_registry.exact import ln_upper, nano_down, nano_up
from hubbub_registry.lints.names import LINTS
from hubbub_registry.mechanisms import NAMES, exact_ratio, mechanism
from hubbub_registry.metric import Metric
from hubbub_registry.own_keys import LISTS, read_own
from hubbub_registry.table import Table, path_of
from hubbub_registry.two_parts import NAMES as SIDES
from hubbub_registry.two_parts import part_metrics, read_joint

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


def read_metric(
    name: str, raw: object, namespace: str, folder: Path, problems: list[Problem], *, candidates: bool,
    metrics: Mapping[str, Any] | None = None,
) -> Metric | None:  # fmt: skip
    """The metric of one table; None, with everything that is wrong added to ``problems``, where there is a problem.

    ``folder`` is where file names in the registry start from. ``candidates`` says whether to read candidate files, and
    ``metrics`` holds all raw tables, for a part of a joint metric that is like one of them.
    """
    before = len(problems)
    table = Table(path_of("metrics", name), raw, problems)
    if not isinstance(raw, Mapping):
        return None
    if not _NAME.fullmatch(name):
        table.problem(
            "", "is not a metric name", "write at most 64 small letters, digits and _, beginning with a letter"
        )
    common: dict[str, Any] = {
        "description": table.text("description"),
        "owner": table.text("owner"),
        "expires": schema.read_expires(table),
        "period": schema.read_period(table),
        "reports_per_period": schema.read_reports_per_period(table),
        "silenced": schema.read_silence(table, LINTS),
        "dimension": read_dimension(table, folder),
    }
    common["lifetime_epsilon"], common["unbounded_justification"] = schema.read_lifetime(table)
    kind = table.choice("mechanism", NAMES + COMPOSITES)
    if kind is None:  # nothing can be said of the other keys
        schema.read_epsilon(table)
        return None

    common["epsilon"] = schema.read_epsilon(table)
    if kind in COMPOSITES:
        own = read_joint(table, common["epsilon"], namespace, name, folder, metrics or {}, candidates=candidates)
        table.finish(", ".join([*schema.COMMON_KEYS, *SIDES]))
    else:
        own = read_own(table, kind, common["epsilon"], default_salt(namespace, name), folder, candidates=candidates)
        table.finish(", ".join([*schema.COMMON_KEYS, *mechanism(kind).KEYS, *LISTS]))
    if own is None:
        return None
    calibrated = own.calibrated
    ratio = exact_ratio(kind, calibrated.parameters)
    lifetime = common["lifetime_epsilon"]
    if lifetime is not None and nano_down(lifetime) < nano_up(ln_upper(ratio)):
        table.problem(
            "lifetime_epsilon", f"{float(lifetime):g} does not pay for one report", "raise it, or lower epsilon"
        )
    if len(problems) > before:
        return None

    entry = plan_entry(namespace, name, kind, common, calibrated, ratio, own.values)
    try:
        device = Plan({"schema": SCHEMA, "namespace": namespace, "metrics": [entry]}).metric(name)
    except PlanError as error:  # calibration gave integers that the device's own check refuses: never ship them
        raise AssertionError(f"hubbub made a plan that its own client refuses: {error}") from error
    return Metric(
        name=name, mechanism=kind, ratio=ratio, permanent_ratio=calibrated.permanent_ratio, settings=own.keys,
        values=() if own.sides else own.values, candidates=own.candidates, entry=entry, device=device,
        parts=part_metrics(own, device, namespace, common), **common,
    )  # fmt: skip
