"""Leaves out what nothing reaches: units, and members of classes that no code which is kept says the name of."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hubbub_firmware.build.bundle.linking import Linked, Unit
from hubbub_firmware.build.bundle.overlays import Visit
from hubbub_firmware.build.bundle.scopes import Names


def prune(linked: Linked, roots: Sequence[str], visits: Sequence[Visit], kept: Sequence[str]) -> None:
    """Takes out all that ``roots`` do not reach; ``kept`` are members that a program outside asks for."""
    visited = {id(visit.entry): visit.function for visit in visits}
    said, done = set(kept), set()
    members: list[tuple[Unit, ast.stmt]] = []
    waiting = list(roots)

    def read(node: ast.stmt | ast.expr) -> None:
        names = [used.place.name for used in Names([node]).globals]
        names += [visited[id(child)] for child in ast.walk(node) if id(child) in visited]
        said.update(_said(node))
        waiting.extend(name for name in names if name in linked.units)

    while waiting:
        unit = linked.units[waiting.pop()]
        if id(unit) not in done:
            done.add(id(unit))
            if isinstance(unit.statement, ast.ClassDef):
                for base in unit.statement.bases:
                    read(base)
                for part in unit.statement.body:
                    if _member(part) is None:
                        read(part)
                    else:
                        members.append((unit, part))
            else:
                read(unit.statement)
        while not waiting:
            asked = [member for member in members if _member(member[1]) in said]
            if not asked:
                break
            members = [member for member in members if member not in asked]
            for _, part in asked:
                read(part)
    linked.units = {name: unit for name, unit in linked.units.items() if id(unit) in done}
    for unit, part in members:
        assert isinstance(unit.statement, ast.ClassDef)  # noqa: S101 - it has members
        unit.statement.body.remove(part)
        unit.statement.body = unit.statement.body or [ast.copy_location(ast.Pass(), part)]


def _member(part: ast.stmt) -> str | None:
    """The name by which a member of a class is asked for; None where it may be without one."""
    name = part.name if isinstance(part, ast.FunctionDef) else None
    if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
        name = part.targets[0].id
    return None if name is None or name.startswith("__") else name


def _said(node: ast.AST) -> set[str]:
    """Every name that code could ask for a member by."""
    said = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Attribute):
            said.add(child.attr)
        elif isinstance(child, ast.Constant) and isinstance(child.value, str):
            said.add(child.value)
        elif isinstance(child, ast.alias):
            said.add(child.name)
    return said
