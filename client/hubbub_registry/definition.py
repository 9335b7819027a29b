"""One ``[metrics.NAME]`` table: read, checked, calibrated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hubbub_client.errors import PlanError
from hubbub_client.plan import SCHEMA, Plan
from hubbub_registry import schema
from hubbub_registry.calibration import Calibrated, CalibrationError
from hubbub_registry.entry import default_salt, plan_entry
from hubbub_registry.errors import Problem
from hubbub_registry.exact import ln_upper, nano_down, nano_up
from hubbub_registry.lints.names import LINTS
from hubbub_registry.mechanisms import NAMES, Mechanism, Settings, exact_ratio, mechanism, range_labels, takes_integers
from hubbub_registry.metric import Metric
from hubbub_registry.table import Table, path_of

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


def read_metric(
    name: str, raw: object, namespace: str, folder: Path, problems: list[Problem], *, candidates: bool
) -> Metric | None:
    """The metric of one table; None, with everything that is wrong added to ``problems``, where there is a problem.

    ``folder`` is where file names in the registry start from. ``candidates`` says whether to read candidate files.
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
    }
    common["lifetime_epsilon"], common["unbounded_justification"] = schema.read_lifetime(table)
    kind = table.choice("mechanism", NAMES)
    if kind is None:  # nothing can be said of the other keys
        schema.read_epsilon(table)
        return None

    calibrates_from = len(problems)
    common["epsilon"] = schema.read_epsilon(table)
    salt = schema.read_salt(table)
    module = mechanism(kind)
    keys = {key: schema.read_mechanism_key(table, key, description) for key, description in module.KEYS.items()}
    sound = len(problems) == calibrates_from
    if takes_integers(module):
        _refuse_lists(table)
        values: tuple[str, ...] = ()
        tried = range_labels(module, keys) if sound else ()
    else:
        values, tried = _read_domain(table, folder, module.closed(keys) if sound else None, candidates=candidates)
    table.finish(", ".join([*schema.COMMON_KEYS, *module.KEYS, "values", "candidates"]))
    if not sound or (module.closed(keys) and not values):
        return None

    chosen = default_salt(namespace, name) if salt is None else salt
    calibrated = _calibrate(table, module, Settings(common["epsilon"], keys, chosen, len(values)))
    if calibrated is None:
        return None
    ratio = exact_ratio(kind, calibrated.parameters)
    lifetime = common["lifetime_epsilon"]
    if lifetime is not None and nano_down(lifetime) < nano_up(ln_upper(ratio)):
        table.problem(
            "lifetime_epsilon", f"{float(lifetime):g} does not pay for one report", "raise it, or lower epsilon"
        )
    if len(problems) > before:
        return None

    entry = plan_entry(namespace, name, kind, common, calibrated, ratio, values)
    try:
        device = Plan({"schema": SCHEMA, "namespace": namespace, "metrics": [entry]}).metric(name)
    except PlanError as error:  # calibration gave integers that the device's own check refuses: never ship them
        raise AssertionError(f"hubbub made a plan that its own client refuses: {error}") from error
    return Metric(
        name=name, mechanism=kind, ratio=ratio, permanent_ratio=calibrated.permanent_ratio, settings=keys,
        values=values, candidates=tried, entry=entry, device=device, **common,
    )  # fmt: skip


def _refuse_lists(table: Table) -> None:
    for key in ("values", "candidates"):
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
