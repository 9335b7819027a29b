"""Loads a registry file: TOML -> checked, calibrated metrics -> the plan that everything else reads."""

from __future__ import annotations

import datetime
import hashlib
import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from hubbub_client.errors import PlanError
from hubbub_client.plan import SCHEMA, Plan, definition_fingerprint
from hubbub_registry import schema
from hubbub_registry.calibration import CalibrationError
from hubbub_registry.errors import Problem, RegistryError
from hubbub_registry.exact import exp_lower, ln_upper, nano_down, nano_up
from hubbub_registry.lints.names import LINTS
from hubbub_registry.mechanisms import NAMES, Settings, exact_ratio, mechanism
from hubbub_registry.metric import Metric

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_NAMESPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True)
class Registry:
    """The metrics of one namespace, by name and by fingerprint."""

    path: Path
    namespace: str
    metrics: Mapping[str, Metric]
    document: Mapping[str, Any]
    """The plan: integers and text only."""
    plan: Plan
    """The plan as a device reads it."""

    def metric(self, name: str) -> Metric:
        """The metric ``name``. Raises RegistryError, naming those there are."""
        if name not in self.metrics:
            problem = Problem(
                f"metrics.{name}", "is not in this registry", f"name one of {', '.join(sorted(self.metrics))}"
            )
            raise RegistryError(str(self.path), [problem])
        return self.metrics[name]

    @property
    def by_fingerprint(self) -> dict[bytes, Metric]:
        """Fingerprint -> metric."""
        return {metric.fingerprint: metric for metric in self.metrics.values()}


def load_registry(path: str | Path, *, candidates: bool = True) -> Registry:
    """Reads, checks and calibrates a registry. Raises RegistryError with every problem found.

    ``candidates=False`` leaves the candidate files unread: a collector does not need them.
    """
    path = Path(path)
    document = _parse(path)
    problems: list[Problem] = []
    top = schema.Table("registry", document.pop("registry", {}), problems)
    version = top.take("schema")
    if version is not None and version != SCHEMA:
        top.problem("schema", f"{version!r} is not the schema this hubbub reads", f"write {SCHEMA}, or update hubbub")
    namespace = top.text("namespace")
    if namespace and not _NAMESPACE.fullmatch(namespace):
        top.problem(
            "namespace",
            f"{namespace!r} is not a namespace",
            "write letters, digits, dots and dashes, such as org.example.app",
        )
    top.finish("schema, namespace")
    tables = document.pop("metrics", {})
    for key in document:
        problems.append(Problem(key, "is not a table hubbub knows", "the tables are [registry] and [metrics.NAME]"))
    if not isinstance(tables, dict) or not tables:
        problems.append(Problem("metrics", "there is no metric", "write at least one table [metrics.NAME]"))
        tables = {}
    metrics: dict[str, Metric] = {}
    for name, raw in tables.items():
        metric = _read_metric(name, raw, namespace, path.parent, problems, candidates=candidates)
        if metric is not None:
            metrics[name] = metric
    if problems:
        raise RegistryError(str(path), problems)
    plan_document = {
        "schema": SCHEMA,
        "namespace": namespace,
        "metrics": [dict(metrics[name].entry) for name in sorted(metrics)],
    }
    return Registry(path, namespace, metrics, plan_document, Plan(plan_document))


def _parse(path: Path) -> dict[str, Any]:
    try:
        # Decimals, so that 0.45 is 45/100 and not the float beside it.
        return tomllib.loads(path.read_bytes().decode("utf-8"), parse_float=Decimal)
    except OSError as error:
        problem = Problem("file", f"cannot be read ({error.strerror})", "name a registry file")
    except UnicodeDecodeError:
        problem = Problem("file", "is not UTF-8", "save it as UTF-8")
    except tomllib.TOMLDecodeError as error:
        problem = Problem("file", f"is not TOML: {error}", "correct it there (a table or key may stand only once)")
    raise RegistryError(str(path), [problem]) from None


def _read_metric(
    name: str, raw: object, namespace: str, folder: Path, problems: list[Problem], *, candidates: bool
) -> Metric | None:
    where = f"metrics.{name}"
    before = len(problems)
    if not _NAME.fullmatch(name):
        problems.append(
            Problem(where, "is not a metric name", "write small letters, digits and _, beginning with a letter")
        )
    if not isinstance(raw, dict):
        problems.append(Problem(where, "is not a table", f"write [metrics.{name}]"))
        return None
    table = schema.Table(where, raw, problems)
    common: dict[str, Any] = {
        "description": table.text("description"),
        "owner": table.text("owner"),
        "expires": schema.read_expires(table),
        "epsilon": schema.read_epsilon(table),
        "period": schema.read_period(table),
        "reports_per_period": table.integer("reports_per_period", 1, 1_000_000, 1),
        "silenced": schema.read_silence(table, LINTS),
    }
    common["lifetime_epsilon"], common["unbounded_justification"] = schema.read_lifetime(table)
    salt = schema.read_salt(table)
    kind = table.text("mechanism")
    if kind not in NAMES:
        if kind:
            table.problem("mechanism", f"{kind!r} is not a mechanism", f"write one of {', '.join(NAMES)}")
        return None
    module = mechanism(kind)
    keys = {key: table.by_key(key, description) for key, description in module.KEYS.items()}
    values: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    if module.closed(keys):
        values = tried = schema.read_values(table, "values", folder)
        if values and len(values) < 2:
            table.problem("values", "one value says nothing", "list at least two")
    elif table.has("candidates"):
        if candidates:
            tried = schema.read_values(table, "candidates", folder)
        else:
            table.take("candidates")
    table.finish(", ".join([*_COMMON, "values" if module.closed(keys) else "candidates", *module.KEYS]))
    if len(problems) > before:
        return None
    settings = Settings(common["epsilon"], keys, _salt(namespace, name) if salt is None else salt, len(values))
    try:
        calibrated = module.calibrate(settings)
    except CalibrationError as error:
        table.problem(error.key, error.what, error.remedy)
        return None
    ratio = exact_ratio(kind, calibrated.parameters)
    lifetime = common["lifetime_epsilon"]
    if lifetime is not None and nano_down(lifetime) < nano_up(ln_upper(ratio)):
        table.problem(
            "lifetime_epsilon", f"{float(lifetime):g} does not pay for one report", "raise it, or lower epsilon"
        )
        return None
    entry = _entry(
        name,
        kind,
        namespace,
        common,
        calibrated.parameters,
        [(f.name, f.bits, f.domain) for f in calibrated.fields],
        values,
        ratio,
    )
    try:
        device = Plan({"schema": SCHEMA, "namespace": namespace, "metrics": [entry]}).metric(name)
    except PlanError as error:  # calibration gave integers that the device's own check refuses: never ship them
        raise AssertionError(f"hubbub made a plan that its own client refuses: {error}") from error
    return Metric(
        name=name, mechanism=kind, ratio=ratio, permanent_ratio=calibrated.permanent_ratio, settings=keys,
        values=values, candidates=tried, entry=entry, device=device, **common,
    )  # fmt: skip


_COMMON = (
    "description", "owner", "expires", "mechanism", "epsilon", "period", "reports_per_period", "lifetime_epsilon",
    "unbounded_justification", "salt", "silence",
)  # fmt: skip


def _entry(
    name: str, kind: str, namespace: str, common: Mapping[str, Any], parameters: Mapping[str, int],
    fields: list[tuple[str, int, int]], values: tuple[str, ...], ratio: Fraction,
) -> dict[str, Any]:  # fmt: skip
    bound = exp_lower(common["epsilon"])
    end = datetime.datetime.combine(common["expires"], datetime.time(), datetime.UTC)
    entry: dict[str, Any] = {
        "name": name,
        "mechanism": kind,
        "parameters": dict(parameters),
        "fields": [list(field) for field in fields],
        "period": common["period"],
        "reports_per_period": common["reports_per_period"],
        "epsilon_nano": nano_up(ln_upper(ratio)),
        "epsilon_bound": [bound.numerator, bound.denominator],
    }
    if common["lifetime_epsilon"] is not None:
        entry["lifetime_nano"] = nano_down(common["lifetime_epsilon"])
    if values:
        entry["values"] = list(values)
    entry["fingerprint"] = definition_fingerprint(namespace, entry).hex()
    entry["expires"] = int(end.timestamp())
    return entry


def _salt(namespace: str, name: str) -> int:
    """A salt of the metric's own, so that two metrics hash the same value to unrelated buckets."""
    text = unicodedata.normalize("NFC", f"hubbub salt\x00{namespace}\x00{name}")
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
