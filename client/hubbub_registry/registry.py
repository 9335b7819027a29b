"""Loads a registry file: TOML -> checked, calibrated metrics -> the plan that everything else reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hubbub_client.plan import SCHEMA, Plan
from hubbub_registry.curator.curated import Curated
from hubbub_registry.curator.definition import read_curated
from hubbub_registry.definition import read_metric
from hubbub_registry.document import read_document
from hubbub_registry.errors import Problem, RegistryError
from hubbub_registry.metric import Metric
from hubbub_registry.shuffler import SHUFFLER_KEYS, Shuffler, read_shuffler
from hubbub_registry.statement.stated import Stated, read_stated
from hubbub_registry.table import Table, path_of, shown

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
    stated: Stated
    """What its ``[statement]`` table says; in no plan."""
    shuffler: str = ""
    """Who, independent of the collector, shuffles reports; empty where nobody is stated to. In no plan."""
    curated: Mapping[str, Curated] = field(default_factory=dict)
    """What a gateway that sensors trust releases, by name. In no plan."""
    shuffler_key: str = ""
    """The id of the analyst's key that reports are sealed to on their way through ``shuffler``. In no plan."""

    def metric(self, name: str) -> Metric:
        """The metric ``name``. Raises RegistryError, naming those there are."""
        if name not in self.metrics:
            problem = Problem(
                path_of("metrics", name), "is not in this registry", f"name one of {', '.join(sorted(self.metrics))}"
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
    document = read_document(path)
    problems: list[Problem] = []
    namespace, shuffler = _read_header(document.pop("registry", {}), problems)
    stated = read_stated(document.pop("statement", {}), problems)
    tables = document.pop("metrics", {})
    curators = document.pop("curated", {})
    for key in document:
        problems.append(
            Problem(
                path_of(key),
                "is not a table hubbub knows",
                "write [registry], [statement], [metrics.NAME] and [curated.NAME]",
            )
        )
    if not isinstance(tables, dict) or not (tables or curators):
        problems.append(Problem("metrics", "there is no metric", "write at least one table [metrics.NAME]"))
        tables = {}
    if not isinstance(curators, dict):
        problems.append(Problem("curated", "is not a table", "write [curated.NAME]"))
        curators = {}
    metrics: dict[str, Metric] = {}
    for name, raw in tables.items():
        metric = read_metric(name, raw, namespace, path.parent, problems, candidates=candidates, metrics=tables)
        if metric is not None:
            metrics[name] = metric
    curated: dict[str, Curated] = {}
    for name, raw in curators.items():
        released = read_curated(name, raw, namespace, tables, problems)
        if released is not None:
            curated[name] = released
    if problems:
        raise RegistryError(str(path), problems)
    plan_document = {
        "schema": SCHEMA,
        "namespace": namespace,
        "metrics": [dict(metrics[name].entry) for name in sorted(metrics)],
    }
    plan = Plan(plan_document)
    return Registry(
        path, namespace, metrics, plan_document, plan, stated, shuffler.operator, curated, shuffler.key
    )  # fmt: skip


def _read_header(raw: object, problems: list[Problem]) -> tuple[str, Shuffler]:
    """The namespace and the independent shuffler of the ``[registry]`` table."""
    table = Table("registry", raw, problems)
    if not isinstance(raw, Mapping):
        return "", Shuffler()
    version = table.take("schema")
    if version is not None and (version is True or version != SCHEMA):
        table.problem(
            "schema", f"{shown(version)} is not the schema this hubbub reads", f"write {SCHEMA}, or update hubbub"
        )
    namespace = table.text("namespace")
    if namespace and not _NAMESPACE.fullmatch(namespace):
        table.problem(
            "namespace",
            f"{shown(namespace)} is not a namespace",
            "write at most 128 letters, digits, dots and dashes, such as org.example.app",
        )
    shuffler = read_shuffler(table)
    table.finish(", ".join(["schema", "namespace", *SHUFFLER_KEYS]))
    return namespace, shuffler
