"""What a statement is written from: the registry, what the checks find in it, the plan it compiles to, the day."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version

from hubbub_registry.accounting import Spending, spending, total
from hubbub_registry.commands.compile import plan_bytes
from hubbub_registry.curator.lints import lint_curated
from hubbub_registry.errors import Problem, RegistryError
from hubbub_registry.lints import Finding, lint
from hubbub_registry.metric import Metric
from hubbub_registry.registry import Registry
from hubbub_registry.statement.stated import Stated


@dataclass(frozen=True)
class Facts:
    """Everything a statement says comes from here, or is true of this version of hubbub."""

    registry: Registry
    findings: tuple[Finding, ...]
    day: date
    """The day (UTC) on which the checks were made."""
    version: str
    """Of hubbub."""
    plan_sha256: str
    """Of the JSON plan that ``hubbub compile`` writes from this registry: the same bytes each time."""

    @property
    def metrics(self) -> list[Metric]:
        """The metrics, in the registry's order."""
        return list(self.registry.metrics.values())

    @property
    def stated(self) -> Stated:
        """What the registry's ``[statement]`` table says."""
        return self.registry.stated

    @property
    def whole(self) -> Spending:
        """What one device spends over all metrics."""
        return total(map(spending, self.metrics))

    @property
    def shuffler(self) -> str:
        """Who the registry says shuffles reports, independently of the collector; empty where it names nobody."""
        return self.registry.shuffler

    @property
    def shuffler_key(self) -> str:
        """The id of the analyst's key that reports are sealed to on their way through it."""
        return self.registry.shuffler_key

    @property
    def permanent(self) -> list[Metric]:
        """The metrics with permanent noise."""
        return [metric for metric in self.metrics if metric.permanent_ratio is not None]

    @property
    def split(self) -> list[Metric]:
        """The metrics whose reports carry something in the clear that the registry declares."""
        return [metric for metric in self.metrics if metric.dimension is not None]

    @property
    def groups(self) -> dict[str, int]:
        """Metric -> how many groups of devices its reports tell apart, each device staying in its own.

        RAPPOR sends the device's cohort with each report, d-bit flip the ranges that the device answers for.
        """
        counted = {}
        for metric in self.metrics:
            parameters = metric.device.parameters
            groups = math.prod(count for name, count in parameters.items() if name.endswith("cohorts"))
            if metric.mechanism == "d-bit-flip":
                groups = math.comb(parameters["buckets"], parameters["bits"])
            if groups > 1:
                counted[metric.name] = groups
        return counted


def gather(registry: Registry, day: date) -> Facts:
    """The facts on ``day``. Raises RegistryError where ``hubbub compile`` would: without a plan nothing is promised."""
    findings = (*lint(registry.metrics.values(), day), *lint_curated(registry.curated.values(), day))
    failing = [finding for finding in findings if finding.fails]
    if failing:
        raise RegistryError(
            str(registry.path), [Problem(each.where, f"[{each.lint}] {each.what}", each.remedy) for each in failing]
        )
    plan = plan_bytes(registry.document, as_msgpack=False)
    return Facts(registry, findings, day, version("hubbub"), hashlib.sha256(plan).hexdigest())
