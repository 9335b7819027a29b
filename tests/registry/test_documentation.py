"""The pages about the registry, and the example, are true."""

import re
from datetime import date
from pathlib import Path

import pytest

from hubbub_registry import load_registry
from hubbub_registry.advice import Conditions, advise
from hubbub_registry.lints import lint
from hubbub_registry.lints.names import LINTS
from hubbub_registry.mechanisms import NAMES, mechanism
from hubbub_registry.schema import COMMON_KEYS

from tests.registry.documents import METRIC, table, write

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "registry.md").read_text()
EXAMPLES = re.findall(r"```toml\n(mechanism.*?|\[metrics\.[a-z_]+\]\n.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize(
    "name", sorted({*COMMON_KEYS, *LINTS, *(key for name in NAMES for key in mechanism(name).KEYS)})
)
def test_everything_is_described(name: str) -> None:
    """Every key and every lint has a row of a table."""
    assert re.search(rf"^\| `{name}` \|", PAGE, re.MULTILINE)


def test_every_mechanism_has_an_example() -> None:
    """Each mechanism has one example, under its own heading."""
    assert re.findall(r"^### `(.*)`$", PAGE, re.MULTILINE) == [
        re.findall(r'mechanism = "(.*)"', example)[0] for example in EXAMPLES
    ]
    assert len(EXAMPLES) == len(NAMES)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_load(tmp_path: Path, example: str) -> None:
    """Each example loads, with the keys of every metric where it leaves them out."""
    for name in re.findall(r'"(\w+\.txt)"', example):
        (tmp_path / name).write_text("one\ntwo\nthree\n")
    path = write(tmp_path, example if example.startswith("[") else table("metrics.m", METRIC) + example)
    assert load_registry(path).metrics


@pytest.mark.parametrize("example", ["keyboard", "analysis"])
def test_example_registry(example: str) -> None:
    """Each example registry loads, and on the day it was written nothing in it was left without a reason."""
    registry = load_registry(ROOT / "examples" / example / "registry.toml")
    findings = lint(registry.metrics.values(), date(2026, 11, 30))
    assert findings
    assert all(finding.silenced for finding in findings)


def test_the_first_registry_that_anybody_reads(tmp_path: Path) -> None:
    """README's loads, leaves nothing without a reason, and has the mechanism that is advised for a million reports."""
    toml = re.findall(r"```toml\n# registry.toml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (tmp_path / "emoji.txt").write_text("one\ntwo\n")
    (tmp_path / "registry.toml").write_text(toml[0])
    (metric,) = load_registry(tmp_path / "registry.toml").metrics.values()
    assert all(finding.silenced for finding in lint([metric], date(2026, 11, 30)))
    advised = advise(metric, Conditions(1_000_000)).advised
    assert advised is not None
    assert (advised.mechanism, advised.keys["hashes"]) == (metric.mechanism, metric.settings["hashes"])
