"""Which modules a board has, and which imports of a file it could not run."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# Modules that CPython and MicroPython share, on every board. struct is for unpacking (see stores.py).
SHARED = {"binascii", "errno", "gc", "hashlib", "json", "os", "struct", "sys", "time", "hubbub_client"}
# Modules of one of the two, or of some boards, allowed where an ImportError is caught.
GUARDED = {
    "_thread", "fcntl", "hmac", "http", "micropython", "msgpack", "socket", "ssl", "threading", "tls", "unicodedata",
    "urllib", "xxhash", "zlib",
}  # fmt: skip
# What only boards have, with a network and radios or none.
BOARD = {
    "ble", "bluetooth", "board", "esp", "esp32", "machine", "micropython", "network", "nrf", "ntptime", "pyb", "rp2",
    "socket", "ssl", "stm", "tls", "uctypes", "umqtt", "vfs",
}  # fmt: skip
# Generators that are no cryptographic ones: guarded or not, nothing that a device runs may hold one.
RANDOM = {"random", "urandom", "numpy", "secrets"}


def modules(tree: ast.AST) -> Iterator[tuple[str, bool]]:
    """(top-level module, whether an except ImportError guards it), without those for the type checker only."""

    def walk(node: ast.AST, guarded: bool) -> Iterator[tuple[str, bool]]:
        if isinstance(node, ast.If) and _is_for_type_checkers(node.test):
            return
        if isinstance(node, ast.Try):
            caught = {name.id for h in node.handlers for name in ast.walk(h.type or h) if isinstance(name, ast.Name)}
            for attempted in node.body:
                yield from walk(attempted, guarded or bool(caught & {"ImportError", "Exception"}))
            for part in [*node.handlers, *node.orelse, *node.finalbody]:
                yield from walk(part, guarded)
            return
        if isinstance(node, ast.Import):
            yield from ((alias.name.split(".")[0], guarded) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0], guarded
        for child in ast.iter_child_nodes(node):
            yield from walk(child, guarded)

    yield from walk(tree, False)


def faults(tree: ast.AST, more: frozenset[str]) -> Iterator[str]:
    """Imports that fail on a board. ``more`` are the modules that this file may import besides, unguarded."""
    for module, guarded in modules(tree):
        if module in RANDOM or (module not in SHARED | more and not (guarded and module in GUARDED | BOARD)):
            yield f"import {module}"


def _is_for_type_checkers(test: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "TYPE_CHECKING" for part in ast.walk(test))
