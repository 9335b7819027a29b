"""An independent shuffler is stated with its operator and the key that reports are sealed to, or not at all."""

from pathlib import Path

import pytest

from hubbub_registry import load_registry
from hubbub_registry.errors import RegistryError

from tests.registry.documents import LIST, table, write

METRIC = table("metrics.m", LIST)
STATED = {
    "shuffler": '"independent"',
    "shuffler_operator": '"The Mixing Trust"',
    "shuffler_key": '"0123456789abcdef"',
}


def test_stated(tmp_path: Path) -> None:
    """Operator and key are in the registry, and in no plan and no fingerprint; by default there are none."""
    plain = load_registry(write(tmp_path, METRIC))
    stated = load_registry(write(tmp_path, METRIC, header=STATED))
    assert (plain.shuffler, plain.shuffler_key) == ("", "")
    assert (stated.shuffler, stated.shuffler_key) == ("The Mixing Trust", "0123456789abcdef")
    assert plain.document == stated.document


@pytest.mark.parametrize("left_out", STATED)
@pytest.mark.parametrize("alone", [False, True])
def test_half_stated(tmp_path: Path, left_out: str, alone: bool) -> None:
    """Each of the three keys needs the others: whatever is missing is named, and nothing else."""
    header = {key: text for key, text in STATED.items() if (key == left_out) == alone}
    with pytest.raises(RegistryError) as caught:
        load_registry(write(tmp_path, METRIC, header=header))
    missing = [f"registry.{key}" for key in STATED if key not in header]
    assert [(problem.where, problem.what) for problem in caught.value.problems] == [
        (where, "is missing") for where in missing
    ]


@pytest.mark.parametrize(
    ("key", "text", "what"),
    [
        ("shuffler", '"ours"', "'ours' is not a choice"),
        ("shuffler", "true", "true is not a choice"),
        ("shuffler_operator", '" "', "' ' is not a text"),
        ("shuffler_key", '"0123456789ABCDEF"', "'0123456789ABCDEF' is not the id of a key"),
        ("shuffler_key", "true", "true is not the id of a key"),
    ],
)
def test_wrong(tmp_path: Path, key: str, text: str, what: str) -> None:
    """A statement about nobody, or of no key, is an error at its place."""
    with pytest.raises(RegistryError) as caught:
        load_registry(write(tmp_path, METRIC, header={**STATED, key: text}))
    [problem] = caught.value.problems
    assert (problem.where, problem.what) == (f"registry.{key}", what)
