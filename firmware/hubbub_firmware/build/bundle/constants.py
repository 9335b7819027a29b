"""Values that never change, written where they are used: a name in memory for each would cost more than the value."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hubbub_firmware.build.bundle.linking import Linked, Unit
from hubbub_firmware.build.bundle.scopes import Names

_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.LShift: operator.lshift,
    ast.BitOr: operator.or_,
}  # fmt: skip
_MOST = 1 << 64


def write_out(linked: Linked, roots: Sequence[str], given: Mapping[str, bool]) -> None:
    """Puts every constant in the place of its name, ``given`` ones with another value; then cuts what is never done.

    A constant is a number, a text, bytes, or None, assigned once; and a tuple of them that is used in one place.
    """
    for name, value in given.items():
        statement = linked.units[name].statement
        assert isinstance(statement, ast.Assign)  # noqa: S101 - a constant is assigned
        statement.value = ast.Constant(value)
    _write_all(linked, roots)
    for unit in linked.distinct():
        unit.statement = _Cutter().visit(unit.statement)


def _write_all(linked: Linked, roots: Sequence[str]) -> None:
    """Until there are no more: a constant may be made of others."""
    while True:
        values = {name: _constant(unit) for name, unit in linked.units.items() if name not in roots}
        said = {id(unit): _said(unit) for unit in linked.distinct()}
        uses: dict[str, int] = {}
        for names in said.values():
            for name in names.values():
                uses[name] = uses.get(name, 0) + 1
        found = {
            name: value
            for name, value in values.items()
            if isinstance(value, ast.Constant | ast.UnaryOp) or (value is not None and uses.get(name, 0) < 2)
        }
        if not found:
            return
        for name in found:
            del linked.units[name]
        for unit in linked.distinct():
            places = {node: name for node, name in said[id(unit)].items() if name in found}
            if places:
                unit.statement = _Writer(places, found).visit(unit.statement)


def _said(unit: Unit) -> dict[int, str]:
    """The id of each node that reads a global name -> the name."""
    return {
        id(used.place.node): used.place.name
        for used in Names([unit.statement]).globals
        if isinstance(used.place.node, ast.Name) and isinstance(used.place.node.ctx, ast.Load)
    }


def _constant(unit: Unit) -> ast.expr | None:
    statement = unit.statement
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1 or len(unit.names) > 1:
        return None
    return folded(statement.value)


def folded(node: ast.expr) -> ast.expr | None:
    """The value of an expression of constants, as a constant or a tuple of them; None where it is none."""
    if isinstance(node, ast.Constant):
        return node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        return node
    if isinstance(node, ast.Tuple):
        parts = [folded(part) for part in node.elts]
        return None if None in parts else ast.Tuple([part for part in parts if part], ast.Load())
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left, right = folded(node.left), folded(node.right)
        if isinstance(left, ast.Tuple) and isinstance(right, ast.Tuple) and isinstance(node.op, ast.Add):
            return ast.Tuple([*left.elts, *right.elts], ast.Load())
        numbers = [part.value for part in (left, right) if isinstance(part, ast.Constant) and type(part.value) is int]
        if len(numbers) == 2:
            value = _OPERATORS[type(node.op)](*numbers)
            return ast.Constant(value) if 0 <= value <= _MOST else None
    return None


class _Writer(ast.NodeTransformer):
    def __init__(self, places: Mapping[int, str], found: Mapping[str, ast.expr]) -> None:
        self._places = places
        self._found = found

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(self._found[self._places[id(node)]], node) if id(node) in self._places else node


class _Cutter(ast.NodeTransformer):
    """Takes out what an ``if`` of a constant never does."""

    def visit_If(self, node: ast.If) -> Any:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return (node.body if node.test.value else node.orelse) or ast.copy_location(ast.Pass(), node)
        return node
