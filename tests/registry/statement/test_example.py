"""The statement beside the example, and the page about statements, are in step with the code."""

import re
from pathlib import Path

from hubbub_registry import load_registry
from hubbub_registry.commands.statement import render
from hubbub_registry.statement.deployment import entry
from hubbub_registry.statement.facts import gather
from hubbub_registry.statement.stated import KEYS

from tests.registry.statement.registries import DAY, facts_of

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "keyboard"
PAGE = (ROOT / "docs" / "statement.md").read_text()
COMMAND = f"hubbub statement examples/keyboard/registry.toml --date {DAY} -o examples/keyboard/statement.md"


def test_example() -> None:
    """The example's statement is what the command writes."""
    written = render(gather(load_registry(EXAMPLE / "registry.toml"), DAY), "markdown")
    assert (EXAMPLE / "statement.md").read_text() == written, f"run: {COMMAND}"


def test_page_says_how_the_example_was_made() -> None:
    """The page about statements has the command that writes the example."""
    assert COMMAND in PAGE


def test_every_key_is_described() -> None:
    """Every key of the ``[statement]`` table has a row."""
    for key in KEYS:
        assert re.search(rf"^\| `{key}` \|", PAGE, re.MULTILINE)


def test_every_field_is_explained(tmp_path: Path) -> None:
    """Every field of the YAML that is written has a row that says where it comes from."""
    silence = {"memoisation": "Nobody minds that it changed"}
    facts = facts_of(tmp_path, {"m": {"mechanism": "rappor", "silence": silence}}, dict.fromkeys(KEYS, "Something"))
    deployment = entry(facts)["deployment"]
    for group, fields in deployment.items():
        for field in fields:
            assert re.search(rf"^\| `{group}\.{field}` \|", PAGE, re.MULTILINE), f"{group}.{field}"
    for field in entry(facts)["hubbub"]:
        assert re.search(rf"^\| `hubbub\.{field}` \|", PAGE, re.MULTILINE), field
