"""``hubbub statement``: what a registry promises and what it does not, for those who must sign it off."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, date, datetime
from pathlib import Path

from hubbub_client.errors import HubbubError
from hubbub_registry.files import write_atomically
from hubbub_registry.registry import load_registry
from hubbub_registry.statement.build import statement
from hubbub_registry.statement.deployment import yaml_text
from hubbub_registry.statement.facts import Facts, gather
from hubbub_registry.statement.html import html
from hubbub_registry.statement.markdown import markdown

SUMMARY = "write the privacy statement of a registry: Markdown, HTML or YAML"
_RENDER = {
    "markdown": lambda facts: markdown(statement(facts)),
    "html": lambda facts: html(statement(facts)),
    "yaml": yaml_text,
}
_SUFFIXES = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".yaml": "yaml",
    ".yml": "yaml",
}


class FormatError(HubbubError):
    """A file name that no format follows from."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The registry, where the statement goes, in which format, and as of which day."""
    parser.add_argument("registry", metavar="REGISTRY.toml", type=Path)
    parser.add_argument("-o", "--output", metavar="FILE", default="-", help="the file to write; default: - for stdout")
    parser.add_argument(
        "--format",
        choices=tuple(_RENDER),
        help="default: by the ending of FILE (.md, .html, .yaml); markdown for stdout",
    )
    parser.add_argument(
        "--date", metavar="YYYY-MM-DD", type=_day, help="the day to check the registry on; default: today (UTC)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Writes the statement, whole or not at all. Raises RegistryError where ``hubbub compile`` would."""
    kind = arguments.format or _format_of(arguments.output)
    facts = gather(load_registry(arguments.registry), arguments.date or datetime.now(UTC).date())
    data = render(facts, kind).encode()
    if arguments.output == "-":
        sys.stdout.buffer.write(data)
    else:
        write_atomically(Path(arguments.output), data)
    return 0


def render(facts: Facts, kind: str) -> str:
    """The statement as ``"markdown"``, ``"html"`` or ``"yaml"``; the same facts always give the same text."""
    return _RENDER[kind](facts)


def _format_of(output: str) -> str:
    if output == "-":
        return "markdown"
    kind = _SUFFIXES.get(Path(output).suffix.lower())
    if kind is None:
        raise FormatError(
            f"{output}: no format follows from this name; end it in .md, .html or .yaml, or give --format"
        )
    return kind


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day; write one such as 2026-11-30") from error
