"""What goes wrong in silence on a board: integers that are cut to a byte, and the order of a dict.

CPython raises where a value above 255 is stored into a bytearray or packed into one byte; MicroPython stores its lowest
byte. CPython keeps a dict in the order it was filled in; MicroPython keeps none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

PACKING = {"pack", "pack_into"}
VIEWS = {"items", "keys", "values"}
# What a loop does that makes its order count.
GROWING = {"write", "update", "extend", "append", "send", "join"}


def faults(tree: ast.AST) -> Iterator[str]:
    """What a whole file stores, packs or puts in an order that differs on boards."""
    arrays = _bound(tree, _is_bytearray) | _annotated(tree, "bytearray")
    dicts = _bound(tree, lambda value: isinstance(value, (ast.Dict, ast.DictComp)))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "struct":
            yield from (f"line {node.lineno}: struct cuts" for alias in node.names if alias.name in PACKING)
        if isinstance(node, ast.Attribute) and node.attr in PACKING and _name(node.value) == "struct":
            yield f"line {node.lineno}: struct.{node.attr} cuts what does not fit; use to_bytes"
        if isinstance(node, (ast.Assign, ast.AugAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if _is_item_of(target, arrays) and not (isinstance(node, ast.Assign) and _fits_a_byte(node.value)):
                    yield f"line {node.lineno}: a bytearray cuts what does not fit; mask it with & 0xFF"
        if isinstance(node, ast.Call) and any(_is_unordered(part, dicts) for part in _joined(node)):
            yield f"line {node.lineno}: joined in the order of a dict; sort it"
        if isinstance(node, ast.For) and _is_unordered(node.iter, dicts) and _grows(node):
            yield f"line {node.lineno}: written in the order of a dict; sort it"
        if isinstance(node, ast.Call) and any(_is_unordered(part, dicts) for part in _first_of(node)):
            yield f"line {node.lineno}: the first of a dict is any of it"


def _name(node: ast.AST) -> str:
    """A name, or an attribute of self, as text; empty for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and _name(node.value) == "self":
        return f"self.{node.attr}"
    return ""


def _bound(tree: ast.AST, fits: object) -> set[str]:
    """The names that are ever bound to a value that ``fits``."""
    assert callable(fits)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and fits(node.value):
            found |= {_name(target) for target in node.targets}
        if isinstance(node, ast.AnnAssign) and node.value is not None and fits(node.value):
            found.add(_name(node.target))
    return found - {""}


def _annotated(tree: ast.AST, kind: str) -> set[str]:
    """The arguments that are annotated as ``kind``, with or without quotes."""
    arguments = [node for node in ast.walk(tree) if isinstance(node, ast.arg) and node.annotation is not None]
    return {node.arg for node in arguments if ast.unparse(node.annotation or node).strip("'\"") == kind}


def _is_bytearray(value: ast.AST) -> bool:
    return isinstance(value, ast.Call) and _name(value.func) == "bytearray"


def _is_item_of(target: ast.AST, arrays: set[str]) -> bool:
    return (
        isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice) and _name(target.value) in arrays
    )


def _fits_a_byte(value: ast.AST) -> bool:
    """A small constant, or anything masked with one."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, int) and 0 <= value.value < 256
    return (
        isinstance(value, ast.BinOp)
        and isinstance(value.op, ast.BitAnd)
        and (_fits_a_byte(value.left) or _fits_a_byte(value.right))
    )


def _joined(call: ast.Call) -> list[ast.AST]:
    """What a call of ``join`` goes over; nothing for another call."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "join":
        return []
    return [part for argument in call.args for part in _iterated(argument)]


def _first_of(call: ast.Call) -> list[ast.expr]:
    return call.args if _name(call.func) in {"iter", "next"} else []


def _iterated(argument: ast.AST) -> list[ast.AST]:
    """What ``join`` goes over, through a comprehension or a list around it."""
    if isinstance(argument, (ast.ListComp, ast.GeneratorExp)):
        return [generator.iter for generator in argument.generators]
    if isinstance(argument, ast.Call) and _name(argument.func) in {"list", "tuple"}:
        return list(argument.args)
    return [argument]


def _is_unordered(iterated: ast.AST, dicts: set[str]) -> bool:
    if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Attribute):
        return iterated.func.attr in VIEWS and not iterated.args
    return isinstance(iterated, (ast.Dict, ast.DictComp)) or _name(iterated) in dicts


def _grows(loop: ast.For) -> bool:
    """Whether bytes, text or a list comes out of a loop piece by piece."""
    for node in [part for statement in loop.body for part in ast.walk(statement)]:
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return True
        counts = isinstance(node, ast.AugAssign) and ast.unparse(node.value).isdigit()
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and not counts:
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in GROWING:
            return True
    return False
