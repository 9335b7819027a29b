"""Functions that run now and then, moved to modules of their own: loaded for a call, and let go after it.

What calls them does not change. In their place stays a function with the same arguments that visits the other module.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hubbub_firmware.build.bundle.linking import Linked, Unit, fresh
from hubbub_firmware.build.bundle.scopes import arguments_of
from hubbub_firmware.build.errors import BuildError

VISIT = "visit"
RUNTIME = "visiting"


@dataclass(frozen=True)
class Visit:
    """The unit ``function`` lives in the module ``overlay``; ``entry`` is the constant that says where there."""

    overlay: str
    function: str
    entry: ast.Constant


def set_apart(linked: Linked, wanted: Mapping[str, Sequence[str]]) -> list[Visit]:
    """Moves ``wanted``, overlay -> names of functions as units have them, or ``Class.method``, where they are there.

    Raises BuildError for one that cannot be moved.
    """
    visits = []
    for overlay, names in wanted.items():
        for name in names:
            home, _, method = name.partition(".")
            unit = linked.units.get(home)
            if unit is None:
                continue
            parts = getattr(unit.statement, "body", []) if method else [unit.statement]
            for function in [part for part in parts if not method or getattr(part, "name", "") == method]:
                if not isinstance(function, ast.FunctionDef):
                    raise BuildError(f"{name} is no function, and cannot be set apart")
                visits.append(_moved(linked, unit, overlay, name, function))
    return visits


def _moved(linked: Linked, unit: Unit, overlay: str, name: str, function: ast.FunctionDef) -> Visit:
    for node in ast.walk(function):
        if isinstance(node, ast.Yield | ast.YieldFrom) or (isinstance(node, ast.Name) and node.id == "super"):
            raise BuildError(f"{name} cannot be set apart: it yields, or calls super()")
    given = function.args
    if given.vararg or given.kwarg or given.kwonlyargs:
        raise BuildError(f"{name} cannot be set apart: it takes any number of arguments")
    names = [argument.arg for argument in arguments_of(given)]
    moved = ast.FunctionDef(
        name=fresh(linked.units, name.replace(".", "_") + "_apart"),
        args=ast.arguments([], [ast.arg(argument) for argument in names], None, [], [], None, []),
        body=function.body,
        decorator_list=[],
    )
    visit = Visit(overlay, moved.name, ast.Constant(0))
    passed: list[ast.expr] = [ast.Constant(overlay), visit.entry]
    passed += [ast.Name(argument, ast.Load()) for argument in names]
    call = ast.Call(ast.Name(linked.name_of(RUNTIME, VISIT), ast.Load()), passed, [])
    function.body = [ast.Expr(call) if name.endswith("__init__") else ast.Return(call)]
    for node in (moved, function):
        ast.fix_missing_locations(node)
    linked.add(Unit(unit.module, [moved.name], moved))
    return visit
