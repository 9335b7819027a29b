"""The portable core stays portable: nothing in it that boards lack, and no floating point anywhere."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import hubbub_client

ROOT = Path(hubbub_client.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
# Modules that CPython and MicroPython share.
SHARED = {"errno", "hashlib", "json", "os", "time", "hubbub_client"}
# Modules of one of the two, allowed where an ImportError is caught.
GUARDED = {
    "xxhash",
    "unicodedata",
    "hmac",
    "msgpack",
    "urllib",
    "fcntl",
    "threading",
    "_thread",
    "binascii",
    "http",
    "socket",
    "zlib",
}
# CPython sleeps for fractions of a second; nothing else in the client may divide.
WAITS = {"clock.py"}
RANDOM = {"random", "numpy", "secrets"}


def imports(tree: ast.AST) -> list[tuple[str, bool]]:
    """(top-level module, whether an except ImportError guards it), without those for the type checker only."""
    found: list[tuple[str, bool]] = []

    def walk(node: ast.AST, guarded: bool) -> None:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        if isinstance(node, ast.Try):
            caught = {name.id for h in node.handlers for name in ast.walk(h.type or h) if isinstance(name, ast.Name)}
            for attempted in node.body:
                walk(attempted, guarded or bool(caught & {"ImportError", "Exception"}))
            for part in [*node.handlers, *node.orelse, *node.finalbody]:
                walk(part, guarded)
            return
        if isinstance(node, ast.Import):
            found.extend((alias.name.split(".")[0], guarded) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.append(((node.module or "").split(".")[0], guarded))
        for child in ast.iter_child_nodes(node):
            walk(child, guarded)

    walk(tree, False)
    return found


def faults(source: str, name: str = "") -> list[str]:
    """What a board could not run, or what the core must never hold."""
    tree = ast.parse(source)
    found = []
    for module, guarded in imports(tree):
        if module in RANDOM or module not in SHARED | GUARDED or (module in GUARDED and not guarded):
            found.append(f"import {module}")
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, (float, complex)):
            found.append(f"line {node.lineno}: a float")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and name not in WAITS:
            found.append(f"line {node.lineno}: true division gives a float")
        if isinstance(node, ast.Name) and node.id in {"float", "hash", "complex"}:
            found.append(f"line {node.lineno}: {node.id}")
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            found += [f"line {node.lineno}: a starred display" for part in node.elts if isinstance(part, ast.Starred)]
        if isinstance(node, ast.Dict) and None in node.keys:
            found.append(f"line {node.lineno}: a starred display")
        if isinstance(node, (ast.Match, ast.TryStar)) or type(node).__name__ == "TypeAlias":
            found.append(f"line {getattr(node, 'lineno', 0)}: syntax that boards lack")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in {"to_bytes", "from_bytes"} and node.keywords:
                found.append(f"line {node.lineno}: {node.func.attr} takes no keywords on boards")
            if node.func.attr in {"bit_length", "bit_count", "removeprefix", "removesuffix"}:
                found.append(f"line {node.lineno}: {node.func.attr} is not on every board")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_of_the_client_runs_on_boards(path: Path) -> None:
    """No float, no hash(), no random module, and no module or call that boards lack."""
    assert faults(path.read_text(), path.name) == []


@pytest.mark.parametrize(
    "source",
    [
        "import random", "from numpy import random", "import typing", "x = 0.5", "x = 1 / 2", "float('1')", "hash('a')",
        "x.to_bytes(4, byteorder='little')", "import threading", "(5).bit_length()", "import dataclasses",
        "[0, *x]", "{**x}",
    ],
)  # fmt: skip
def test_the_check_finds_what_it_looks_for(source: str) -> None:
    """Each kind of fault is found when it is planted."""
    assert faults(source)


def test_what_is_guarded_passes() -> None:
    """A module that one interpreter lacks may be imported where its absence is handled, or for the type checker."""
    assert faults("try:\n    import threading\nexcept ImportError:\n    threading = None") == []
    assert faults("TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from typing import Any") == []
