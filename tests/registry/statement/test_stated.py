"""The ``[statement]`` table of a registry: every key may be left out, and none may be misspelt."""

from pathlib import Path

import pytest

from hubbub_registry import RegistryError, load_registry
from hubbub_registry.statement.stated import KEYS, Stated

from tests.registry.documents import SKETCH, table, write


def test_none(tmp_path: Path) -> None:
    """Without the table, and with an empty one, nothing is stated."""
    metric = table("metrics.m", SKETCH)
    assert load_registry(write(tmp_path, metric)).stated == Stated()
    assert load_registry(write(tmp_path, metric, table("statement", {}))).stated == Stated()


@pytest.mark.parametrize("key", KEYS)
def test_each_key(tmp_path: Path, key: str) -> None:
    """Each key may stand alone, and its text is kept as it was written."""
    loaded = load_registry(write(tmp_path, table("metrics.m", SKETCH), table("statement", {key: '"One two  three"'})))
    assert loaded.stated == Stated(**{key: "One two  three"})


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", ['""', '"  "', "3", "true", "[]", '["a"]', "2026-11-30"])
def test_not_a_text(tmp_path: Path, key: str, value: str) -> None:
    """What is no text is refused at its place, and so is a text that says nothing."""
    with pytest.raises(RegistryError) as caught:
        load_registry(write(tmp_path, table("metrics.m", SKETCH), table("statement", {key: value})))
    (problem,) = caught.value.problems
    assert problem.where == f"statement.{key}"
    assert "is not a text" in problem.what


def test_unknown_key(tmp_path: Path) -> None:
    """A key that hubbub does not know is refused, and the message names those it knows."""
    with pytest.raises(RegistryError) as caught:
        load_registry(write(tmp_path, table("metrics.m", SKETCH), table("statement", {"contakt": '"a@example.org"'})))
    (problem,) = caught.value.problems
    assert problem.where == "statement.contakt"
    assert all(key in problem.remedy for key in KEYS)


def test_not_a_table(tmp_path: Path) -> None:
    """A ``statement`` that is no table is refused."""
    path = write(tmp_path, table("metrics.m", SKETCH))
    path.write_text("statement = 3\n" + path.read_text())
    with pytest.raises(RegistryError, match=r"statement: is not a table; write \[statement\]"):
        load_registry(path)


def test_not_in_the_plan(tmp_path: Path) -> None:
    """Nothing of the table reaches a plan, and no fingerprint depends on it."""
    metric = table("metrics.m", SKETCH)
    without = load_registry(write(tmp_path, metric)).document
    stated = table("statement", dict.fromkeys(KEYS, '"Something or other"'))
    assert load_registry(write(tmp_path, metric, stated)).document == without
