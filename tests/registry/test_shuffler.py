"""An independent shuffler is stated with its operator, or not at all."""

from pathlib import Path

import pytest

from hubbub_registry import load_registry
from hubbub_registry.errors import RegistryError

from tests.registry.documents import LIST, table, write

METRIC = table("metrics.m", LIST)


def test_stated(tmp_path: Path) -> None:
    """The operator is in the registry, and in no plan and no fingerprint; by default there is none."""
    plain = load_registry(write(tmp_path, METRIC))
    header = {"shuffler": '"independent"', "shuffler_operator": '"The Mixing Trust"'}
    stated = load_registry(write(tmp_path, METRIC, header=header))
    assert (plain.shuffler, stated.shuffler) == ("", "The Mixing Trust")
    assert plain.document == stated.document


@pytest.mark.parametrize(
    ("header", "where", "what"),
    [
        ({"shuffler": '"independent"'}, "shuffler_operator", "is missing"),
        ({"shuffler_operator": '"The Mixing Trust"'}, "shuffler_operator", "names a shuffler that is not stated"),
        ({"shuffler": '"ours"', "shuffler_operator": '"Us"'}, "shuffler", "'ours' is not a choice"),
        ({"shuffler": "true", "shuffler_operator": '"Us"'}, "shuffler", "true is not a choice"),
        ({"shuffler": '"independent"', "shuffler_operator": '" "'}, "shuffler_operator", "' ' is not a text"),
    ],
)
def test_half_stated(tmp_path: Path, header: dict[str, str], where: str, what: str) -> None:
    """Half a statement, or one about nobody, is an error at its place."""
    with pytest.raises(RegistryError) as caught:
        load_registry(write(tmp_path, METRIC, header=header))
    [problem] = caught.value.problems
    assert (problem.where, problem.what) == (f"registry.{where}", what)
