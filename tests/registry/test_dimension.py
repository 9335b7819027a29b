"""``[metrics.NAME.dimension]``: what it may be, and what is said of it everywhere that a privacy officer looks."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from hubbub_client.plan import Plan
from hubbub_registry import RegistryError
from hubbub_registry.advice.choose import advise
from hubbub_registry.advice.conditions import Conditions
from hubbub_registry.commands import check
from hubbub_registry.composition.amplified import refusal
from hubbub_registry.lints import lint
from hubbub_registry.statement.build import statement
from hubbub_registry.statement.facts import gather
from hubbub_registry.statement.markdown import markdown

from tests.commands import run_command
from tests.registries import metric_of, registry_of

VERSIONS: dict[str, Any] = {"name": "version", "values": ["1.0", "1.1", "other"], "other": "other", "min_cell": 50}
TODAY = date(2026, 11, 30)


def test_it_is_in_the_plan_and_changes_no_epsilon(tmp_path: Path) -> None:
    """The plan says name, values and other; a record grows by one byte; epsilon and charges stay as they were."""
    plain = metric_of(tmp_path, "rappor")
    metric = metric_of(tmp_path, "rappor", dimension=VERSIONS)
    assert metric.entry["dimension"] == {"name": "version", "values": ["1.0", "1.1", "other"], "other": 2}
    assert metric.entry["fields"] == [["dimension", 8, 3], *plain.entry["fields"]]
    assert metric.device.record_bytes == plain.device.record_bytes + 1
    for key in ("epsilon_nano", "declared_nano", "charges", "parameters"):
        assert metric.entry[key] == plain.entry[key]
    assert (metric.ratio, metric.permanent_ratio) == (plain.ratio, plain.permanent_ratio)
    assert metric.fingerprint != plain.fingerprint
    assert metric.undivided.fingerprint == metric.fingerprint
    assert metric.undivided.device.record_bytes == plain.device.record_bytes
    assert metric.undivided.device.fields == plain.device.fields == metric.device.fields
    assert plain.undivided is plain
    Plan({"schema": 1, "namespace": "org.example.test", "metrics": [dict(metric.entry)]})


def test_values_may_be_in_a_file(tmp_path: Path) -> None:
    """A file with one value a line serves as the list, normalised to NFC."""
    (tmp_path / "countries.txt").write_text("CH\nDE\nCo\u0302te\n")
    metric = metric_of(tmp_path, "randomized-response", dimension={"name": "country", "values": "countries.txt"})
    assert metric.dimension is not None
    assert metric.dimension.values == ("CH", "DE", "C\u00f4te")
    assert (metric.dimension.other, metric.dimension.min_cell) == (None, 100)


@pytest.mark.parametrize(
    ("change", "where", "what"),
    [
        ({"name": "App Version"}, "dimension.name", "not a name"),
        ({"name": 3}, "dimension.name", "not a text"),
        ({"name": None}, "dimension.name", "is missing"),
        ({"values": None}, "dimension.values", "is missing"),
        ({"values": ["1.0"]}, "dimension.values", "1 values"),
        ({"values": []}, "dimension.values", "0 values"),
        ({"values": [f"v{i}" for i in range(257)]}, "dimension.values", "257 values"),
        ({"values": ["1.0", "1.0"]}, "dimension.values", "repeats"),
        ({"values": ["C\u00f4te", "Co\u0302te"]}, "dimension.values", "repeats"),
        ({"values": ["1.0", 2]}, "dimension.values", "not a text"),
        ({"values": 3}, "dimension.values", "neither a list"),
        ({"values": "nowhere.txt"}, "dimension.values", "there is no file"),
        ({"other": "rest"}, "dimension.other", "not among the values"),
        ({"other": ""}, "dimension.other", "not a text"),
        ({"min_cell": 0}, "dimension.min_cell", "not an integer"),
        ({"min_cell": True}, "dimension.min_cell", "not an integer"),
        ({"minimum": 3}, "dimension.minimum", "not a key"),
    ],
)
def test_what_is_wrong_with_it_is_said_with_its_place(
    tmp_path: Path, change: dict[str, Any], where: str, what: str
) -> None:
    """Every wrong key of the table is one problem at that key, and no other."""
    keys = {key: value for key, value in {**VERSIONS, **change}.items() if value is not None}
    with pytest.raises(RegistryError) as caught:
        metric_of(tmp_path, "randomized-response", dimension=keys)
    (problem,) = caught.value.problems
    assert problem.where == f"metrics.m.{where}"
    assert what in problem.what


def test_it_must_be_a_table(tmp_path: Path) -> None:
    """A text in place of the table is a problem of the dimension."""
    with pytest.raises(RegistryError, match=r"metrics\.m\.dimension: is not a table"):
        metric_of(tmp_path, "randomized-response", dimension="version")


def found(tmp_path: Path, dimension: dict[str, Any], **keys: Any) -> dict[str, str]:
    """Lint -> level of what is found in a metric's dimension."""
    metric = metric_of(tmp_path, "randomized-response", dimension=dimension, **keys)
    return {each.lint: each.level for each in lint([metric], TODAY) if "dimension" in each.lint}


def test_many_cells_are_a_warning_with_their_error(tmp_path: Path) -> None:
    """Past 16 values the check says how much larger the errors of an average cell are; up to 16 it says nothing."""
    assert found(tmp_path, {"name": "c", "values": [f"v{i}" for i in range(16)]}) == {}
    many = {"name": "c", "values": [f"v{i}" for i in range(25)]}
    assert found(tmp_path, many) == {"dimension-thin": "warning"}
    metric = metric_of(tmp_path, "randomized-response", dimension=many)
    assert any("25 cells" in each.what and "is 5 times" in each.what for each in lint([metric], TODAY))


def test_a_dimension_of_the_metrics_own_values_is_an_error(tmp_path: Path) -> None:
    """A list that shares a value with the metric's, other than its other, stops check and compile until silenced."""
    shared = {"name": "c", "values": ["a", "zz"]}
    assert found(tmp_path, shared) == {"dimension-of-values": "error"}
    assert found(tmp_path, {"name": "c", "values": ["a", "zz"], "other": "a"}) == {}
    silence = {"dimension-of-values": "the two lists mean different things"}
    metric = metric_of(tmp_path, "randomized-response", dimension=shared, silence=silence)
    assert not any(each.fails for each in lint([metric], TODAY))


@pytest.mark.parametrize(
    ("mechanism", "keys", "values"),
    [
        ("count-mean-sketch", {"candidates": ["a", "b"]}, ["a", "zz"]),
        ("one-bit-mean", {}, ["-20", "x"]),
        ("d-bit-flip", {}, ["99", "x"]),
        ("hierarchical-histogram", {}, ["7", "x"]),
        ("joint", {"first": {"mechanism": "randomized-response", "values": ["a", "b"]},
                   "second": {"mechanism": "local-hashing", "candidates": ["c"]}}, ["b", "x"]),
        ("joint", {"first": {"mechanism": "randomized-response", "values": ["a", "b"]},
                   "second": {"mechanism": "local-hashing", "candidates": ["c"]}}, ["c", "x"]),
    ],
)  # fmt: skip
def test_what_may_be_reported_is_more_than_a_list(
    tmp_path: Path, mechanism: str, keys: dict[str, Any], values: list[str]
) -> None:
    """Candidates, the integers of a range and the values of both parts are the metric's own; others are not."""
    keys = {"epsilon": 2, "lifetime_epsilon": 10000, **keys}
    for named, expected in ((values, True), (["x", "100", "-21", "07", "1.0"], False)):
        metric = metric_of(tmp_path, mechanism, dimension={"name": "c", "values": named}, **keys)
        assert ("dimension-of-values" in {finding.lint for finding in lint([metric], TODAY)}) == expected


def test_no_amplification_is_claimed(tmp_path: Path) -> None:
    """A batch is no crowd where each report names its cell, so shuffling counts for nothing there."""
    assert "its public version is sent in the clear" in (
        refusal(metric_of(tmp_path, "randomized-response", dimension=VERSIONS)) or ""
    )
    assert refusal(metric_of(tmp_path, "randomized-response")) is None


def test_check_says_what_is_public(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """hubbub check names the dimension, that it is not randomised and what is held back, as text and as JSON."""
    registry_of(tmp_path, m={"mechanism": "randomized-response", "dimension": VERSIONS})
    path = str(tmp_path / "registry.toml")
    run_command(check, [path])
    said = capsys.readouterr().out
    assert "version, one of 3, sent as it is; no epsilon counts it" in said
    assert "fewer than 50 reports are held back" in said
    run_command(check, [path, "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["metrics"]["m"]["dimension"] == {**VERSIONS, "values": list(VERSIONS["values"])}


def test_the_statement_says_it_in_plain_words(tmp_path: Path) -> None:
    """What is not protected names the dimension and claims nothing of shuffling; without one nothing is said of it."""
    for dimension in (VERSIONS, None):
        registry = registry_of(tmp_path, m={"mechanism": "randomized-response", "dimension": dimension})
        page = " ".join(markdown(statement(gather(registry, TODAY))).split())
        assert ("is sent with the device's version, one of 3" in page) == (dimension is not None)
        assert ("no stronger figure is claimed here for being shuffled" in page) == (dimension is not None)
        assert ("what is sent as it is beside a value (version)" in page) == (dimension is not None)
        assert ("what some reports say in the clear" in page) == (dimension is not None)


def test_advice_counts_the_byte(tmp_path: Path) -> None:
    """Every mechanism that is advised, or too large for a frame, has the byte of the dimension in its record."""
    conditions = Conditions(10_000, False, 1)
    plain, split = (
        advise(metric_of(tmp_path, "randomized-response", dimension=d), conditions) for d in (None, VERSIONS)
    )  # fmt: skip
    assert plain.fitting
    assert not split.fitting
    sizes = {option.mechanism: option.record_bytes for option in (*plain.fitting, *plain.too_large)}
    assert {option.mechanism: option.record_bytes - 1 for option in split.too_large} == sizes
