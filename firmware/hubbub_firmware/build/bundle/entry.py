"""A program that stays outside of a bundle: what it imports of ours, and what it could ask of that."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from hubbub_firmware.build.modules import PACKAGES


def roots_of(program: str) -> list[str]:
    """``module:name`` of whatever a program imports from modules of ours."""
    return sorted(f"{node.module}:{alias.name}" for node in _imports(ast.parse(program)) for alias in node.names)


def kept_of(program: str) -> list[str]:
    """Every name that a program could ask for a member, or pass an argument by."""
    kept = set()
    for node in ast.walk(ast.parse(program)):
        if isinstance(node, ast.Attribute):
            kept.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg:
            kept.add(node.arg)
        elif isinstance(node, ast.FunctionDef):
            kept.add(node.name)  # a class of its own may be what the library is handed
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            kept.add(node.value)
    return sorted(kept)


def redirected(program: str, names: Mapping[str, str], module: str) -> str:
    """The program with its imports of ours from ``module``, where ``module:name`` goes by ``names``; else as it is."""
    lines = program.split("\n")
    for node in sorted(_imports(ast.parse(program)), key=lambda node: node.lineno, reverse=True):
        given = [(names[f"{node.module}:{alias.name}"], alias.asname or alias.name) for alias in node.names]
        parts = [new if new == old else f"{new} as {old}" for new, old in given]
        indent = lines[node.lineno - 1][: node.col_offset]
        lines[node.lineno - 1 : node.end_lineno] = [f"{indent}from {module} import {', '.join(parts)}"]
    return "\n".join(lines)


def _imports(tree: ast.Module) -> Sequence[ast.ImportFrom]:
    """The imports of ours, but for those that only a type checker reads."""
    waiting: list[ast.AST] = [tree]
    found = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
            found.append(node)
        waiting += ast.iter_child_nodes(node)
    return found
