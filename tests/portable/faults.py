"""What a board could not run, or would run otherwise than a host, or what the core must never hold."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.portable import forms, imports, stores

REPOSITORY = Path(__file__).parents[2]
CLIENT = REPOSITORY / "client" / "hubbub_client"
FIRMWARE = REPOSITORY / "firmware" / "hubbub_firmware"
BOARDS = REPOSITORY / "firmware" / "boards"
# Folders of the firmware that only a host runs; nothing that a board runs may import them.
HOST_ONLY = {"gateway", "bridge", "curator", "build", "commands"}
# Folders of the firmware that are written for one kind of hardware, and are given to boards that have it.
HARDWARE = (FIRMWARE / "entropy" / "raw", FIRMWARE / "networks")
# CPython sleeps for fractions of a second; nothing else may divide.
WAITS = {CLIENT / "clock.py"}


def portable_files() -> list[Path]:
    """Every file that a board may be given."""
    files = [*CLIENT.rglob("*.py"), *FIRMWARE.rglob("*.py"), *BOARDS.rglob("*.py")]
    return sorted(path for path in files if path.is_relative_to(BOARDS) or not _is_host_only(path))


def allowed(path: Path) -> frozenset[str]:
    """The modules that a file may import besides those that every interpreter has."""
    if path.is_relative_to(BOARDS):
        return frozenset(imports.BOARD | {"hubbub_firmware"})
    if any(path.is_relative_to(folder) for folder in HARDWARE):
        return frozenset(imports.BOARD | {"hubbub_firmware"})
    if path.is_relative_to(FIRMWARE):
        return frozenset({"hubbub_firmware", "io", "select", "socket", "ssl"})
    return frozenset()


def faults_in(path: Path) -> list[str]:
    """The faults of one file, each with its line, or with the module it imports."""
    return faults(path.read_text(), allowed(path), path in WAITS)


def faults(source: str, more: frozenset[str] = frozenset(), divides: bool = False) -> list[str]:
    """The same of a text."""
    tree = ast.parse(source)
    found = [*imports.faults(tree, more), *stores.faults(tree)]
    for node in ast.walk(tree):
        found += [f"line {getattr(node, 'lineno', 0)}: {what}" for what in forms.faults(node, divides)]
    for module in _imported(tree):
        if module.startswith("hubbub_firmware.") and module.split(".")[1] in HOST_ONLY:
            found.append(f"import {module}, which only a host has")
    return found


def _is_host_only(path: Path) -> bool:
    return path.is_relative_to(FIRMWARE) and path.relative_to(FIRMWARE).parts[0] in HOST_ONLY


def _imported(tree: ast.AST) -> list[str]:
    found = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    return found + [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
