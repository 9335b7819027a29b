"""``hubbub compile``: a registry -> the plan that devices, collector and decoder read."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgpack

from hubbub_registry.errors import Problem, RegistryError
from hubbub_registry.files import write_atomically
from hubbub_registry.lints import lint
from hubbub_registry.registry import Registry, load_registry

SUMMARY = "compile a registry into the plan that devices read: integers and text only"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The registry, where the plan goes, and in which format."""
    parser.add_argument("registry", metavar="REGISTRY.toml", type=Path)
    parser.add_argument("-o", "--output", metavar="PLAN", required=True, help="the file to write; - for stdout")
    parser.add_argument(
        "--format",
        choices=("json", "msgpack"),
        help="default: msgpack for PLAN.msgpack, else json (all boards read it)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Writes the plan, whole or not at all. Raises RegistryError where the registry has an error."""
    registry = load_compilable(arguments.registry)
    as_msgpack = arguments.format == "msgpack" or (not arguments.format and arguments.output.endswith(".msgpack"))
    data = plan_bytes(registry.document, as_msgpack=as_msgpack)
    if arguments.output == "-":
        sys.stdout.buffer.write(data)
    else:
        write_atomically(Path(arguments.output), data)
    return 0


def load_compilable(path: Path) -> Registry:
    """A registry that may be compiled. Raises RegistryError where it has an error, or a finding that fails."""
    # With candidates, although no plan holds them: a registry that compiles is one that decodes, too.
    registry = load_registry(path)
    if not registry.metrics:
        problem = Problem("metrics", "there is no metric for devices", "a gateway reads [curated.NAME] without a plan")
        raise RegistryError(str(path), [problem])
    failing = [finding for finding in lint(registry.metrics.values(), datetime.now(UTC).date()) if finding.fails]
    if failing:
        raise RegistryError(
            str(path), [Problem(each.where, f"[{each.lint}] {each.what}", each.remedy) for each in failing]
        )
    return registry


def plan_bytes(document: Mapping[str, Any], *, as_msgpack: bool) -> bytes:
    """The plan in one of its two formats; the same document always gives the same bytes."""
    if as_msgpack:
        packed: bytes = msgpack.packb(document)
        return packed
    # Text as it is: not every board puts a surrogate pair of \\u escapes together again.
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
