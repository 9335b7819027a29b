"""Kinds of things that nothing asks for by their kind: there may be two of one, or one for several."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hubbub_firmware.build.bundle.linking import Linked, Unit, fresh
from hubbub_firmware.build.bundle.scopes import Names


def only_raised(statements: Sequence[ast.stmt]) -> set[str]:
    """Errors that are made and derived from, and that no ``except`` or ``isinstance`` asks for."""
    tables = [part for part in statements if isinstance(part, ast.ClassDef)]
    kinds = {"Exception"}
    for _ in tables:
        kinds |= {part.name for part in tables if part.bases and ast.unparse(part.bases[0]) in kinds}
    return kinds - _asked(statements) - {"Exception"}


def merge(linked: Linked) -> None:
    """One class for all that have nothing in them, and that are only called: their objects hold values, and no more."""
    statements = linked.statements()
    asked = _asked(statements)
    empty = [
        unit.statement
        for unit in linked.distinct()
        if isinstance(unit.statement, ast.ClassDef)
        and not unit.statement.bases
        and [type(part) for part in unit.statement.body] == [ast.Pass]
        and unit.names[0] not in asked
    ]
    names = {statement.name for statement in empty}
    if len(names) < 2:
        return
    name = fresh(linked.units, "Holder")
    for statement in statements:
        for used in Names([statement]).globals:
            if used.place.name in names and isinstance(used.place.node, ast.Name):
                used.place.put(name)
    for old in names:
        del linked.units[old]
    holder = ast.parse(f"class {name}:\n    pass\n").body[0]
    linked.add(Unit("visiting", [name], holder))


def _asked(statements: Sequence[ast.stmt]) -> set[str]:
    """The global names that are said otherwise than to call them, or to derive from them."""
    fine = {id(node.func) for part in statements for node in ast.walk(part) if isinstance(node, ast.Call)}
    fine |= {id(base) for part in statements if isinstance(part, ast.ClassDef) for base in part.bases}
    return {
        used.place.name
        for part in statements
        for used in Names([part]).globals
        if isinstance(used.place.node, ast.Name) and id(used.place.node) not in fine
    }
