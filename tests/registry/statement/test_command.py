"""``hubbub statement``: one file in, one page out, whole or not at all."""

import argparse
import re
from pathlib import Path

import pytest
import yaml

from hubbub_client.errors import HubbubError
from hubbub_registry.commands import main
from hubbub_registry.commands.statement import add_arguments, run

from tests.registries import write_registry

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    """A registry of one metric."""
    return write_registry(tmp_path / "registry.toml", {"m": {"mechanism": "unary-encoding"}})


def statement(*argv: object) -> int:
    """Runs the command as ``hubbub`` does, but lets its errors out."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run(parser.parse_args([str(each) for each in argv]))


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("s.md", "# Privacy"),
        ("s.MARKDOWN", "# Privacy"),
        ("s.html", "<!DOCTYPE"),
        ("s.htm", "<!DOCTYPE"),
        ("s.yml", "url_slug"),
    ],
)
def test_format_by_name(registry: Path, tmp_path: Path, name: str, begins: str) -> None:
    """The ending of the file decides the format, in any case of letters."""
    assert statement(registry, "-o", tmp_path / name) == 0
    assert (tmp_path / name).read_text().startswith(begins)


def test_format_given(registry: Path, tmp_path: Path) -> None:
    """``--format`` decides where it is given, whatever the file is called."""
    assert statement(registry, "-o", tmp_path / "s.md", "--format", "yaml") == 0
    assert yaml.safe_load((tmp_path / "s.md").read_text())["url_slug"] == "org-example-test"


def test_stdout(registry: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """Without a file, Markdown goes to standard output, in UTF-8 whatever the locale."""
    assert statement(registry) == 0
    assert capsysbinary.readouterr().out.startswith(b"# Privacy statement: org.example.test\n")


def test_unknown_ending(registry: Path, tmp_path: Path) -> None:
    """A name that no format follows from is refused before anything is read or written."""
    with pytest.raises(
        HubbubError, match=r"s\.pdf: no format follows from this name; end it in \.md, \.html or \.yaml"
    ):
        statement(registry, "-o", tmp_path / "s.pdf")
    assert not (tmp_path / "s.pdf").exists()


def test_date(registry: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """``--date`` is the day that the checks are made on, and the page says so."""
    assert statement(registry, "--date", "2030-02-03") == 0
    assert b"wrote this page on 2030-02-03" in capsysbinary.readouterr().out


@pytest.mark.parametrize("text", ["tomorrow", "2026-13-01", "03.02.2030", ""])
def test_no_date(registry: Path, text: str, capsys: Captured) -> None:
    """What is no day is wrong usage, and the message says how one is written."""
    with pytest.raises(SystemExit) as stop:
        statement(registry, "--date", text)
    assert stop.value.code == 2
    assert "is not a day; write one such as 2026-11-30" in capsys.readouterr().err


def test_refused(registry: Path, tmp_path: Path) -> None:
    """A registry that does not compile leaves an older statement as it was."""
    page = tmp_path / "s.md"
    page.write_text("older")
    with pytest.raises(HubbubError, match=re.escape("[expired]")):
        statement(registry, "-o", page, "--date", "2099-01-01")
    assert page.read_text() == "older"


def test_is_a_command(registry: Path, tmp_path: Path, capsys: Captured) -> None:
    """``hubbub statement`` exists, and says what is wrong on one line."""
    assert main(["statement", str(registry), "-o", str(tmp_path / "s.html")]) == 0
    assert (tmp_path / "s.html").exists()
    assert main(["statement", str(tmp_path / "none.toml")]) == 1
    assert capsys.readouterr().err.startswith("hubbub statement: error: ")
