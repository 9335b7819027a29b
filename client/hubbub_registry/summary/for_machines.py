"""The figures and findings of a registry as one JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from hubbub_registry.accounting import Spending, reports, spending, total
from hubbub_registry.composition.answer import Answer
from hubbub_registry.curator.summary import curated_as_json
from hubbub_registry.exact import float_up, ln_upper
from hubbub_registry.lints import Finding
from hubbub_registry.longitudinal import one_value_epsilon
from hubbub_registry.metric import Metric
from hubbub_registry.registry import Registry
from hubbub_registry.summary.answer_for_machines import answer_as_json


def as_json(registry: Registry, findings: Sequence[Finding], answer: Answer | None = None) -> dict[str, Any]:
    """The document: ``namespace``, ``metrics`` by name, ``findings`` and ``errors`` (those that fail the check).

    With an answer also ``composed``; where a gateway curates metrics also ``curated``.
    """
    metrics = registry.metrics.values()
    document: dict[str, Any] = {
        "namespace": {"name": registry.namespace, "epsilon": _figures(total(map(spending, metrics)))},
        "metrics": {metric.name: _metric(metric) for metric in metrics},
        "findings": [asdict(finding) for finding in findings],
        "errors": [
            {"where": finding.where, "what": f"[{finding.lint}] {finding.what}", "remedy": finding.remedy}
            for finding in findings
            if finding.fails
        ],
    }
    if registry.curated:
        document["curated"] = curated_as_json(registry)
    if answer is not None:
        document["composed"] = answer_as_json(answer)
    return document


def _metric(metric: Metric) -> dict[str, Any]:
    exact = [metric.ratio.numerator, metric.ratio.denominator]
    count = reports(metric)
    lifetime = metric.lifetime_epsilon
    described: dict[str, Any] = {
        "description": metric.description,
        "owner": metric.owner,
        "expires": metric.expires.isoformat(),
        "mechanism": metric.mechanism,
        "settings": {
            key: str(value) if isinstance(value, Fraction) else value for key, value in metric.settings.items()
        },
        "parameters": dict(metric.device.parameters),
        "fingerprint": metric.fingerprint.hex(),
        "record_bytes": metric.device.record_bytes,
        "period_seconds": metric.period,
        "declared": {
            "epsilon": float(metric.epsilon),
            "lifetime_epsilon": None if lifetime is None else float(lifetime),
            "reports_per_period": metric.reports_per_period,
        },
        "reports": asdict(count),
        "exact": exact,
        "epsilon": {**_figures(spending(metric)), "exact": exact},
    }
    if metric.dimension is not None:
        described["dimension"] = asdict(metric.dimension)
    if lifetime is None:
        described["unbounded_justification"] = metric.unbounded_justification
    if metric.permanent_ratio is not None:
        forever = ln_upper(metric.permanent_ratio)
        described["epsilon"]["permanent"] = float_up(forever)
        described["epsilon"]["one_value"] = {
            "per_period": float_up(one_value_epsilon(metric, count.per_period)),
            "per_year": float_up(one_value_epsilon(metric, count.per_year)),
            "lifetime": float_up(forever if count.lifetime is None else one_value_epsilon(metric, count.lifetime)),
        }
    return described


def _figures(spent: Spending) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "per_report": float_up(spent.per_report),
        "per_period": float_up(spent.per_period),
        "per_year": float_up(spent.per_year),
        "lifetime": None if spent.lifetime is None else float_up(spent.lifetime),
    }
    if spent.lifetime is None:
        figures["unbounded"] = True
    return figures
