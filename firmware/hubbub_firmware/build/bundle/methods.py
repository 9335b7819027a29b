"""Methods as functions: what a class defines under a name that nothing else has is called without asking the object.

So it need not lie in the class, and can be where it is needed. Only where every use is a call; and not for what a
program outside could call, or what the system's own types could be meant by (foreign.py).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from hubbub_firmware.build.bundle.linking import Linked, Unit, fresh
from hubbub_firmware.build.bundle.scopes import Names


def as_functions(linked: Linked, kept: Collection[str]) -> None:
    """Makes functions of methods, and of ``__init__`` where a class is only ever called; ``kept`` names stay."""
    statements = linked.statements()
    calls = _calls(statements)
    called = _only_called(statements) - set(kept)
    made = _only_made(statements)
    homes = _homes(statements)
    for unit in linked.distinct():
        if not isinstance(unit.statement, ast.ClassDef) or not _stands_alone(unit.statement, statements):
            continue
        name = unit.names[0]
        for method in [part for part in unit.statement.body if isinstance(part, ast.FunctionDef)]:
            if method.name == "__init__" and name in made and name not in kept:
                _move_init(linked, unit, method, made[name])
            elif method.name in called and homes[method.name] == 1 and _plain(method):
                _move(linked, unit, method, calls[method.name])


def _calls(statements: Sequence[ast.stmt]) -> dict[str, list[ast.Call]]:
    """Name of a member -> its calls."""
    calls: dict[str, list[ast.Call]] = {}
    for node in _walk(statements):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            calls.setdefault(node.func.attr, []).append(node)
    return calls


def _only_called(statements: Sequence[ast.stmt]) -> set[str]:
    """Names of members that are said in calls only, and in no text."""
    functions = {id(node.func) for node in _walk(statements) if isinstance(node, ast.Call)}
    called: set[str] = set()
    otherwise: set[str] = set()
    for node in _walk(statements):
        if isinstance(node, ast.Attribute):
            (called if id(node) in functions else otherwise).add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            otherwise.add(node.value)
    return called - otherwise


def _only_made(statements: Sequence[ast.stmt]) -> dict[str, list[ast.Call]]:
    """Global name -> its calls, of all names that are only called, or that ``isinstance`` asks for."""
    calls: dict[int, ast.Call] = {}
    asked = set()
    for node in _walk(statements):
        if isinstance(node, ast.Call):
            calls[id(node.func)] = node
            if isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                asked |= {id(argument) for argument in node.args}
    made: dict[str, list[ast.Call]] = {}
    otherwise = set()
    for used in Names(statements).globals:
        if not isinstance(used.place.node, ast.Name):
            continue
        if id(used.place.node) in calls:
            made.setdefault(used.place.name, []).append(calls[id(used.place.node)])
        elif id(used.place.node) not in asked:
            otherwise.add(used.place.name)
    return {name: places for name, places in made.items() if name not in otherwise}


def _homes(statements: Sequence[ast.stmt]) -> dict[str, int]:
    """Name of a member -> how many classes define it."""
    homes: dict[str, int] = {}
    for statement in statements:
        for part in statement.body if isinstance(statement, ast.ClassDef) else ():
            names = [part.name] if isinstance(part, ast.FunctionDef) else []
            if isinstance(part, ast.Assign):
                names = [target.id for target in part.targets if isinstance(target, ast.Name)]
            for name in names:
                homes[name] = homes.get(name, 0) + 1
    return homes


def _stands_alone(statement: ast.ClassDef, statements: Sequence[ast.stmt]) -> bool:
    """Whether a class derives from none, and none from it."""
    bases = [ast.unparse(base) for other in statements if isinstance(other, ast.ClassDef) for base in other.bases]
    return not statement.bases and statement.name not in bases


def _plain(method: ast.FunctionDef) -> bool:
    """Whether a method is one of an object, and asks for no class."""
    names = [node.id for node in ast.walk(method) if isinstance(node, ast.Name)]
    dunder = method.name.startswith("__")
    return not method.decorator_list and not dunder and "super" not in names and method.args.vararg is None


def _move(linked: Linked, unit: Unit, method: ast.FunctionDef, calls: Sequence[ast.Call]) -> None:
    """``thing.method(...)`` becomes ``Class_method(thing, ...)``."""
    method.name = _take_out(linked, unit, method, method.name.strip("_"))
    for call in calls:
        assert isinstance(call.func, ast.Attribute)  # noqa: S101 - the caller found it by that
        call.args.insert(0, call.func.value)
        call.func = ast.copy_location(ast.Name(method.name, ast.Load()), call.func)


def _move_init(linked: Linked, unit: Unit, method: ast.FunctionDef, calls: Sequence[ast.Call]) -> None:
    """``Class(...)`` becomes ``Class_made(Class(), ...)``."""
    this = method.args.args[0].arg
    for node in ast.walk(method):
        if isinstance(node, ast.Return):
            node.value = ast.Name(this, ast.Load())
    method.body.append(ast.Return(ast.Name(this, ast.Load())))
    method.name = _take_out(linked, unit, method, "made")
    ast.fix_missing_locations(method)
    for call in calls:
        call.args.insert(0, ast.Call(call.func, [], []))
        call.func = ast.Name(method.name, ast.Load())
        ast.fix_missing_locations(call)


def _take_out(linked: Linked, unit: Unit, method: ast.FunctionDef, name: str) -> str:
    """A unit of its own for a method. The name that it has now."""
    home = unit.statement
    assert isinstance(home, ast.ClassDef)  # noqa: S101 - it has methods
    home.body.remove(method)
    home.body = home.body or [ast.copy_location(ast.Pass(), home)]
    new = fresh(linked.units, f"{home.name}_{name}")
    linked.add(Unit(unit.module, [new], method))
    return new


def _walk(statements: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    for statement in statements:
        yield from ast.walk(statement)
