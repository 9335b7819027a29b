"""The statement as an entry for the public registry of deployments of differential privacy (OpenDP, NIST, Oblivious).

Fields and their words: schemas/deployments-schema.yaml of opendp/deployments-registry-data, commit 057e5d81cf60. What a
registry file cannot know is left out, and named under ``hubbub.to_complete``; what the schema has no field for is under
``hubbub`` as well. docs/statement.md says where each field comes from.
"""

from __future__ import annotations

import re
from typing import Any

from hubbub_client.errors import HubbubError
from hubbub_registry.accounting import Spending, reports, spending
from hubbub_registry.curator.summary import curated_as_json
from hubbub_registry.exact import float_up
from hubbub_registry.metric import Metric
from hubbub_registry.statement import limits, reasons, trust, usefulness
from hubbub_registry.statement.correctness import correctness
from hubbub_registry.statement.document import Block, Bullets, Code, Paragraph
from hubbub_registry.statement.facts import Facts
from hubbub_registry.statement.markdown import fragment
from hubbub_registry.statement.strength import strength
from hubbub_registry.statement.unit import unit
from hubbub_registry.statement.wording import every

# What the schema requires and only people can decide.
_BY_HAND = (
    "deployment.basic.publication_date",
    "deployment.administrative.registry_authors",
    "deployment.administrative.tier",
)


class YamlMissingError(HubbubError):
    """YAML was asked for, and PyYAML is not installed."""


class NoEntryError(HubbubError):
    """YAML was asked for, and the registry has no metric that devices randomise."""


def yaml_text(facts: Facts) -> str:
    """The entry as YAML. Raises YamlMissingError, and NoEntryError for a registry of curated metrics only."""
    if not facts.metrics:
        raise NoEntryError(
            "the entry describes the local model, and this registry has curated metrics only; choose --format markdown "
            "or html"
        )
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise YamlMissingError(
            "YAML needs the package PyYAML, which is not installed; run: pip install 'hubbub[accounting]', "
            "or choose --format markdown or html"
        ) from error

    class Dumper(yaml.SafeDumper):
        """Writes long texts as they are read, on lines of their own."""

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style="|" if "\n" in value else None)

    Dumper.add_representer(str, text)
    written: str = yaml.dump(entry(facts), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=120)
    return written


def entry(facts: Facts) -> dict[str, Any]:
    """The entry: ``url_slug`` and ``deployment`` by the schema, and ``hubbub``."""
    stated = facts.stated
    basic: dict[str, Any] = {"name": facts.registry.namespace}
    if stated.controller:
        basic["data_curators"] = [{"data_curator_name": _line(stated.controller)}]
    basic["description"] = _markdown(
        Paragraph("Statistics of what devices report:"),
        Bullets(tuple((Code(metric.name), f": {metric.description}") for metric in facts.metrics)),
    )
    if stated.purpose:
        basic["intended_use"] = _line(stated.purpose)
    basic["data_product_type"] = "Summary statistics"
    if stated.region:
        basic["data_product_region"] = _line(stated.region)
    deployment = {
        "basic": basic,
        "dp_variant": {
            "variant_name": "Pure DP",
            "data_domain": _markdown(
                Paragraph("Every sequence of values that one device could report within its contribution bounds.")
            ),
            "unprotected_quantities": _markdown(*limits.blocks(facts)),
        },
        "privacy_loss": _privacy_loss(facts),
        "deployment_model": _model(facts),
        "implementation": _implementation(facts),
        "administrative": {"status": "Draft"},
    }
    slug = re.sub(r"[^a-z0-9]+", "-", facts.registry.namespace.lower()).strip("-")
    return {"url_slug": slug, "deployment": deployment, "hubbub": _ours(facts)}


def _privacy_loss(facts: Facts) -> dict[str, Any]:
    whole = facts.whole
    forever = whole.lifetime is not None
    return {
        "privacy_unit": "Device" if forever else "Device-year",
        "privacy_unit_details": _markdown(*unit(facts).blocks),
        "privacy_parameters": {"epsilon": float_up(whole.per_year if whole.lifetime is None else whole.lifetime)},
        "privacy_parameters_details": _markdown(
            Paragraph(
                "Epsilon above is for all metrics together over "
                + (
                    "the whole life of a device."
                    if forever
                    else "one year of a device; over its life there is no bound."
                )
            ),
            *strength(facts).blocks,
        ),
    }


def _model(facts: Facts) -> dict[str, Any]:
    actors, *assumptions = trust.blocks(facts)[1:]
    periods = ", ".join(sorted({every(metric.period) for metric in facts.metrics}))
    return {
        "model_name": "Local",
        "model_name_details": _markdown(trust.blocks(facts)[0]),
        "trust_assumptions": _markdown(*assumptions),
        "actors": _markdown(actors),
        "release_type": "Many releases",
        "release_type_details": (
            f"At most one release for each metric and period ({periods}). No budget is ever refilled: a device that "
            "has spent it reports no more."
        ),
        "data_source_type": "Dynamic",
        "access_type": "Non-interactive",
    }


def _implementation(facts: Facts) -> dict[str, Any]:
    implementation = {
        "mechanisms": _markdown(*correctness(facts).blocks),
        "composition": (
            "Basic (sequential) composition: what a device spends is the sum over all its reports of all metrics, "
            "kept by the device itself, which stops where the sum would exceed its bound."
        ),
        "post_processing": (
            "Records are permuted, then counted and debiased. Estimates are unbiased and may be negative; a projection "
            "onto non-negative counts is available beside them."
        ),
    }
    decided = reasons.blocks(facts)
    if decided:
        implementation["justification"] = _markdown(*decided)
    implementation["utility"] = _markdown(*usefulness.blocks(facts))
    implementation["additional_information"] = _markdown(
        Paragraph(f"Written by hubbub {facts.version} on {facts.day} from the registry of the deployment."),
        *map(Paragraph, facts.stated.paragraphs),
    )
    return implementation


def _ours(facts: Facts) -> dict[str, Any]:
    """What the schema has no field for. To be taken out before the entry is handed in."""
    stated = facts.stated
    missing = list(_BY_HAND)
    missing += [] if stated.purpose else ["deployment.basic.intended_use"]
    missing += [] if stated.region else ["deployment.basic.data_product_region"]
    missing.append("deployment.basic.data_curators" + (".0.data_curator_type" if stated.controller else ""))
    ours: dict[str, Any] = {
        "version": facts.version,
        "plan_sha256": facts.plan_sha256,
        "checked_on": facts.day.isoformat(),
        "to_complete": sorted(missing),
    }
    said = {"contact": stated.contact, "retention": stated.retention}
    ours.update({key: _line(text) for key, text in said.items() if text})
    ours["epsilon"] = _epsilon(facts.whole)
    ours["metrics"] = {metric.name: _metric(metric) for metric in facts.metrics}
    if facts.registry.curated:
        ours["curated"] = curated_as_json(facts.registry)
    return ours


def _metric(metric: Metric) -> dict[str, Any]:
    return {
        "owner": _line(metric.owner),
        "expires": metric.expires.isoformat(),
        "mechanism": metric.mechanism,
        "fingerprint": metric.fingerprint.hex(),
        "epsilon": _epsilon(spending(metric)),
        "exact": [metric.ratio.numerator, metric.ratio.denominator],
        "period_seconds": metric.period,
        "reports_per_period": reports(metric).per_period,
    }


def _epsilon(spent: Spending) -> dict[str, float | None]:
    """The four figures; null is no bound."""
    return {
        "per_report": float_up(spent.per_report),
        "per_period": float_up(spent.per_period),
        "per_year": float_up(spent.per_year),
        "lifetime": None if spent.lifetime is None else float_up(spent.lifetime),
    }


def _markdown(*blocks: Block) -> str:
    """Some blocks as the Markdown that the public registry shows its texts in."""
    return fragment(blocks)


def _line(text: str) -> str:
    return _markdown(Paragraph(text))
