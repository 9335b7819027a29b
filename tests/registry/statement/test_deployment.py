"""The YAML follows the public registry's schema, claims no field it cannot know, and says what is left to fill in."""

import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from hubbub_registry.accounting import spending, total
from hubbub_registry.statement.build import statement
from hubbub_registry.statement.deployment import YamlMissingError, entry, yaml_text
from hubbub_registry.statement.facts import Facts

from tests.registry.statement.registries import facts_of

STATED = {
    "controller": "Example Ltd", "contact": "privacy@example.org", "purpose": "To repair it", "region": "The EU",
    "retention": "Two years", "notes": "A remark.\n\nAnother one.",
}  # fmt: skip
# Of schemas/deployments-schema.yaml in opendp/deployments-registry-data, commit 057e5d81cf60: every field that it has
# (it allows no other), "!" after those that it requires, and what it allows where it has a list of words.
SCHEMA: dict[str, Any] = {
    "url_slug!": str,
    "deployment!": {
        "basic!": {
            "name!": str,
            "data_curators!": [
                {"data_curator_name!": str, "data_curator_type!": {"Government", "Industry", "Nonprofit"}},
            ],
            "description!": str,
            "intended_use!": str,
            "data_product_type!": {
                "Summary statistics", "Machine learning model", "Dataset", "Synthetic data", "Interactive API",
                "SQL queries",
            },
            "data_product_region!": str,
            "data_product_sector": {"Technology", "Healthcare", "Education", "Government", "Energy", "Finance"},
            "publication_date!": str,
        },
        "dp_variant": {
            "variant_name": {"Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"},
            "data_domain": str,
            "unprotected_quantities": str,
        },
        "privacy_loss": {
            "privacy_unit": str,
            "privacy_unit_details": str,
            "number_of_privacy_units": int,
            "privacy_parameters": {"epsilon": float, "delta": float, "rho": float},
            "privacy_parameters_details": str,
        },
        "deployment_model": {
            "model_name": {"Local", "Central", "Shuffle", "Federated", "Varies"},
            "model_name_details": str,
            "trust_assumptions": str,
            "actors": str,
            "release_type": {"One release", "Many releases"},
            "release_type_details": str,
            "data_source_type": {"Static", "Dynamic"},
            "data_source_type_details": str,
            "access_type": {"Interactive", "Non-interactive"},
            "access_type_details": str,
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": str,
            "mechanisms": str,
            "composition": str,
            "post_processing": str,
            "justification": str,
            "utility": str,
            "additional_information": str,
        },
        "administrative!": {
            "evidence_sources": dict,
            "status!": {
                "Converted", "Draft", "Pending", "Changes Required", "Approved", "Approved (Update Requested)",
                "Approved (Pending)",
            },
            "registry_authors!": [str],
            "tier!": int,
        },
    },
}  # fmt: skip


def missing(value: Any, schema: Any, where: str = "") -> list[str]:
    """The required fields that ``value`` lacks. Fails for a field or a word that the schema does not allow."""
    if isinstance(schema, dict):
        assert isinstance(value, dict), where
        fields = {key.rstrip("!"): part for key, part in schema.items()}
        assert value.keys() <= fields.keys(), where
        lacking = [f"{where}{key[:-1]}" for key in schema if key.endswith("!") and key[:-1] not in value]
        for key, part in value.items():
            lacking += missing(part, fields[key], f"{where}{key}.")
        return lacking
    if isinstance(schema, list):
        assert isinstance(value, list), where
        return [each for at, part in enumerate(value) for each in missing(part, schema[0], f"{where}{at}.")]
    if isinstance(schema, set):
        assert value in schema, where
    else:
        assert isinstance(value, schema), where
        assert value != "", where
    return []


def read(facts: Facts) -> dict[str, Any]:
    """What a YAML parser reads in the statement."""
    document: dict[str, Any] = yaml.safe_load(yaml_text(facts))
    return document


@pytest.mark.parametrize("stated", [None, STATED, {"controller": "Example Ltd"}])
def test_follows_the_schema(tmp_path: Path, stated: dict[str, str] | None) -> None:
    """But for ``hubbub`` every field is the schema's, and the required ones that are missing are those it names."""
    document = read(facts_of(tmp_path, stated=stated))
    ours = document.pop("hubbub")
    assert sorted(missing(document, SCHEMA)) == ours["to_complete"]


def test_reads_as_it_was_written(tmp_path: Path) -> None:
    """A parser reads exactly what was meant, and long texts stand on lines of their own."""
    facts = facts_of(tmp_path, stated=STATED)
    assert read(facts) == entry(facts)
    assert re.search(r"^    unprotected_quantities: \|-?\n      - \*\*That a device", yaml_text(facts), re.MULTILINE)


def test_epsilon(tmp_path: Path) -> None:
    """Epsilon is that of a device's whole life over all metrics, as the unit says, rounded up to the next float."""
    facts = facts_of(tmp_path)
    loss = read(facts)["deployment"]["privacy_loss"]
    exact = total(map(spending, facts.metrics)).lifetime
    assert exact is not None
    assert loss["privacy_unit"] == "Device"
    assert exact <= Fraction(loss["privacy_parameters"]["epsilon"]) <= exact * (1 + Fraction(1, 10**15))
    assert loss["privacy_parameters"].keys() == {"epsilon"}


def test_epsilon_without_bound(tmp_path: Path) -> None:
    """Where a life has no bound, the unit is a year of a device, and epsilon that of a year."""
    endless = {"lifetime_epsilon": "unbounded", "unbounded_justification": "It is a lamp, and lamps do not die"}
    facts = facts_of(tmp_path, {"a": {"mechanism": "rappor", **endless}, "b": {"mechanism": "count-mean-sketch"}})
    document = read(facts)
    loss = document["deployment"]["privacy_loss"]
    exact = total(map(spending, facts.metrics)).per_year
    assert loss["privacy_unit"] == "Device-year"
    assert exact <= Fraction(loss["privacy_parameters"]["epsilon"]) <= exact * (1 + Fraction(1, 10**15))
    assert document["hubbub"]["epsilon"]["lifetime"] is None
    assert document["hubbub"]["metrics"]["a"]["epsilon"]["lifetime"] is None
    assert document["hubbub"]["metrics"]["b"]["epsilon"]["lifetime"] is not None


def test_every_metric(tmp_path: Path) -> None:
    """Each metric has its figures, its two exact integers and its fingerprint."""
    facts = facts_of(tmp_path)
    metrics = read(facts)["hubbub"]["metrics"]
    assert set(metrics) == set(facts.registry.metrics)
    for metric in facts.metrics:
        shown = metrics[metric.name]
        assert Fraction(*shown["exact"]) == metric.ratio
        assert shown["fingerprint"] == metric.fingerprint.hex()
        exact = spending(metric)
        for key in ("per_report", "per_period", "per_year", "lifetime"):
            figure = getattr(exact, key)
            assert figure <= Fraction(shown["epsilon"][key]) <= figure * (1 + Fraction(1, 10**15))


def test_what_was_stated(tmp_path: Path) -> None:
    """What the registry states is in the fields it belongs to, and what it does not state is in none."""
    document = read(facts_of(tmp_path, stated=STATED))
    basic = document["deployment"]["basic"]
    assert basic["data_curators"] == [{"data_curator_name": "Example Ltd"}]
    assert basic["intended_use"] == "To repair it"
    assert basic["data_product_region"] == "The EU"
    assert document["hubbub"]["retention"] == "Two years"
    assert document["hubbub"]["contact"] == "privacy@example.org"
    assert "A remark.\n\nAnother one." in document["deployment"]["implementation"]["additional_information"]
    silent = read(facts_of(tmp_path))
    assert silent["deployment"]["basic"].keys() == {"name", "description", "data_product_type"}
    assert not silent["hubbub"].keys() & STATED.keys()


def test_always_local(tmp_path: Path) -> None:
    """The model is local even with a shuffler, since the figures are those that hold without it."""
    header = 'shuffler = "independent"\nshuffler_operator = "Mixers of Example"\nshuffler_key = "0123456789abcdef"\n'
    model = read(facts_of(tmp_path, header=header))["deployment"]["deployment_model"]
    assert model["model_name"] == "Local"
    assert "Mixers of Example" in model["trust_assumptions"]


def test_without_pyyaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without PyYAML the refusal says what to install, and the other formats work."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    facts = facts_of(tmp_path)
    with pytest.raises(YamlMissingError, match=r"run: pip install 'hubbub\[accounting\]'"):
        yaml_text(facts)
    assert statement(facts).sections
