"""Which subcommands there are, what each does, and what it needs: all without importing any of them."""

from __future__ import annotations

import argparse
import ast
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

GROUP = "hubbub.commands"
# Which extra of the distribution brings the packages that a room imports.
_EXTRAS = {
    "hubbub_collector": "collector",
    "hubbub_decoder": "decoder",
    "hubbub_firmware": "firmware",
    "hubbub_simulations": "simulations",
}
# Packages that come with an extra of their own, whatever room imports them.
_OWN_EXTRAS = {"cryptography": "shuffler"}


class Command(Protocol):
    """What a subcommand's module offers. ``SUMMARY`` is a literal, so that it can be read without an import."""

    SUMMARY: str

    def add_arguments(self, parser: argparse.ArgumentParser, /) -> None:
        """Adds the subcommand's arguments."""

    def run(self, arguments: argparse.Namespace, /) -> int:
        """Does the work; returns the exit status. Raises HubbubError for what a user did wrong."""


def find_commands() -> dict[str, EntryPoint]:
    """Subcommand -> entry point, by name. Where two distributions claim a name, the first found has it."""
    found: dict[str, EntryPoint] = {}
    for entry_point in entry_points(group=GROUP):
        found.setdefault(entry_point.name, entry_point)
    return dict(sorted(found.items()))


def summary(entry_point: EntryPoint) -> str:
    """``SUMMARY`` of a command's module, read from its source; empty where there is no source or no such literal.

    Importing seven modules with numpy and aiohttp behind them would make ``hubbub --help`` take a second.
    """
    source = _source(entry_point.module)
    if source is None:
        return ""
    for statement in ast.parse(source.read_bytes()).body:
        targets = [statement.target] if isinstance(statement, ast.AnnAssign) else getattr(statement, "targets", [])
        value = getattr(statement, "value", None)
        if (
            any(isinstance(target, ast.Name) and target.id == "SUMMARY" for target in targets)
            and isinstance(value, ast.Constant)
            and isinstance(value.value, str)
        ):
            return value.value
    return ""


def missing_package(entry_point: EntryPoint, error: ModuleNotFoundError) -> str:
    """Says what to install for a command whose import failed. Raises the error again where no package is missing."""
    missing = (error.name or "").partition(".")[0]
    if not missing or missing == entry_point.module.partition(".")[0]:
        raise error
    extra = _OWN_EXTRAS.get(missing) or _EXTRAS.get(entry_point.module.partition(".")[0])
    remedy = f"pip install 'hubbub[{extra}]'" if extra else f"pip install {missing}"
    return f"the package {missing} that it needs is not installed; run: {remedy}"


def _source(module: str) -> Path | None:
    """The source file of a module. Looks up its top package only, which imports nothing."""
    top, *parts = module.split(".")
    spec = find_spec(top)
    if spec is None:
        return None
    if not parts:
        return Path(spec.origin) if spec.origin else None
    for folder in spec.submodule_search_locations or ():
        path = Path(folder, *parts).with_suffix(".py")
        if path.is_file():
            return path
    return None
