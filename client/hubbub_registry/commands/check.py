"""``hubbub check``: what a registry promises, exactly, and what a reviewer would stop at."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path

from hubbub_registry.errors import RegistryError
from hubbub_registry.lints import lint
from hubbub_registry.registry import load_registry
from hubbub_registry.summary import as_json, as_text

SUMMARY = "check a registry: exact epsilon per report, period, year and lifetime, and lints"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The registry, and whether to print JSON."""
    parser.add_argument("registry", metavar="REGISTRY.toml", type=Path)
    parser.add_argument("--json", action="store_true", help="print one JSON document, of errors too")


def run(arguments: argparse.Namespace) -> int:
    """Prints the figures and the findings; 1 where one of them is an error that no written reason silences."""
    try:
        registry = load_registry(arguments.registry)
    except RegistryError as error:
        if not arguments.json:
            raise
        problems = [{"where": each.where, "what": each.what, "remedy": each.remedy} for each in error.problems]
        print(json.dumps({"errors": problems}, indent=2))
        return 1
    findings = lint(registry.metrics.values(), datetime.now(UTC).date())
    if arguments.json:
        print(json.dumps(as_json(registry, findings), indent=2))
    else:
        print(as_text(registry, findings))
    return 1 if any(finding.fails for finding in findings) else 0
