"""Joins modules into one set of units with names of their own: what imports between modules said is resolved."""

from __future__ import annotations

import ast
import copy
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from hubbub_firmware.build.bundle.scopes import Names, Scope, stored
from hubbub_firmware.build.errors import BuildError


@dataclass(eq=False)
class Unit:
    """A statement at the top of a module, and the names it gives: a function, a class, a value, a foreign import."""

    module: str
    names: list[str]
    statement: ast.stmt
    foreign: bool = False


class Linked:
    """``units`` by each of their names, which are one name space now; ``name_of`` says what became of a name."""

    def __init__(self, trees: Mapping[str, list[ast.stmt]]) -> None:
        self._trees = trees
        self._tables: dict[str, dict[str, tuple[str, str]]] = {name: {} for name in trees}
        self._new: dict[tuple[str, str], str] = {}
        self.units: dict[str, Unit] = {}
        units: list[Unit] = []
        for module in sorted(trees):
            for statement in trees[module]:
                units += self._units(module, statement)
        for unit in units:
            self._resolve(unit)

    def name_of(self, module: str, name: str) -> str:
        """The name that ``name`` of ``module`` has now. Raises BuildError where there is none."""
        return self._new[self._home(module, name)]

    def distinct(self) -> list[Unit]:
        """Every unit once."""
        return list({id(unit): unit for unit in self.units.values()}.values())

    def statements(self) -> list[ast.stmt]:
        """Their statements."""
        return [unit.statement for unit in self.distinct()]

    def add(self, unit: Unit) -> None:
        """One more unit, under names that are free."""
        self.units |= dict.fromkeys(unit.names, unit)

    def _units(self, module: str, statement: ast.stmt) -> Iterator[Unit]:
        table = self._tables[module]
        if isinstance(statement, ast.ImportFrom) and statement.module in self._trees:
            self._alias(module, statement)
            return
        if isinstance(statement, ast.Import | ast.ImportFrom) and len(statement.names) > 1:
            for alias in statement.names:
                one = copy.copy(statement)
                one.names = [alias]
                yield from self._units(module, one)
            return
        if isinstance(statement, ast.Expr | ast.For | ast.While | ast.With):
            raise BuildError(f"{module}, line {statement.lineno}: a bundle takes no statement that runs at import")
        for node in ast.walk(statement):
            for body in (getattr(node, "body", None), getattr(node, "orelse", None), getattr(node, "finalbody", None)):
                if isinstance(body, list) and body:
                    body[:] = [part for one in body for part in self._inner(module, one)] or [ast.Pass()]
        foreign = isinstance(statement, ast.Import | ast.ImportFrom)
        unit = Unit(module, sorted(stored([statement])), statement, foreign)
        if not unit.names:
            raise BuildError(f"{module}, line {statement.lineno}: a bundle takes no statement that names nothing")
        for name in unit.names:
            table[name] = (module, name)
            self._new[module, name] = self._free(module, name, statement)
        if foreign and self._new[module, unit.names[0]] in self.units:
            return
        for name in unit.names:
            self.units[self._new[module, name]] = unit
        yield unit

    def _inner(self, module: str, statement: ast.AST) -> Iterator[ast.AST]:
        """An import of ours inside of a function, or of a ``try``, taken out: its names are global as it is."""
        if not isinstance(statement, ast.ImportFrom) or statement.module not in self._trees:
            yield statement
            return
        for alias in statement.names:
            target = ast.Name(alias.asname or alias.name, ast.Store())
            if (module, alias.asname or alias.name) in self._tried(module):
                value = ast.Name(f"{alias.name}:{statement.module}", ast.Load())
                yield ast.fix_missing_locations(ast.Assign([target], value, lineno=statement.lineno))
            else:
                self._alias(module, ast.ImportFrom(statement.module, [alias], 0))

    def _tried(self, module: str) -> set[tuple[str, str]]:
        """Names that a module gets in one of two ways, with ``try``."""
        tries = [statement for statement in self._trees[module] if isinstance(statement, ast.Try)]
        return {(module, name) for name in stored(tries)}

    def _alias(self, module: str, statement: ast.ImportFrom) -> None:
        for alias in statement.names:
            name, source = alias.asname or alias.name, statement.module or ""
            whole = f"{source}.{alias.name}"
            home = (whole, "") if whole in self._trees else (source, alias.name)
            if self._tables[module].setdefault(name, home) != home:
                raise BuildError(f"{module}: {name} stands for two things, and a bundle has one name space")

    def _free(self, module: str, name: str, statement: ast.stmt) -> str:
        """A name that nothing else has; imports of one foreign thing share one."""
        if name not in self.units:
            return name
        same = ast.dump(self.units[name].statement) == ast.dump(statement)
        if isinstance(statement, ast.Import | ast.ImportFrom) and same:
            return name
        new = f"{name}__{module.replace('.', '_')}"
        if isinstance(statement, ast.Import | ast.ImportFrom):
            statement.names[0].asname = new
        return new

    def _home(self, module: str, name: str) -> tuple[str, str]:
        """Where a name was defined; (module, "") where it is a module."""
        while True:
            home = self._tables.get(module, {}).get(name)
            if home is None:
                raise BuildError(f"{module} has no {name}, which a bundle links")
            if home == (module, name) or not home[1]:
                return home
            module, name = home

    def _resolve(self, unit: Unit) -> None:
        """Gives every global name in a unit the one it has now, and notes which they are."""
        unit.statement = _Modules(self, unit.module).visit(unit.statement)
        names = Names([unit.statement])
        for used in names.globals:
            name, _, module = used.place.name.partition(":")
            if module:
                new = self.name_of(module, name)
            elif name in self._tables[unit.module]:
                new = self.name_of(unit.module, name)
            else:
                continue  # a builtin
            used.place.put(new)
            for scope in used.scope.chain() if used.scope else ():
                if new in scope.places and not scope.is_class:
                    _move_aside(scope, new)
        unit.names = [self._new[unit.module, name] for name in unit.names]

    def module_at(self, module: str, name: str) -> str | None:
        """The module that a name stands for, or None."""
        home = self._tables[module].get(name, ("", name))
        return home[0] if not home[1] else None


class _Modules(ast.NodeTransformer):
    """``module.name`` as one name, where the module is in the bundle."""

    def __init__(self, linked: Linked, module: str) -> None:
        self._linked = linked
        self._module = module

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name):
            home = self._linked.module_at(self._module, node.value.id)
            if home is not None:
                return ast.copy_location(ast.Name(f"{node.attr}:{home}", node.ctx), node)
        return node


def _move_aside(scope: Scope, name: str) -> None:
    """Gives a function's own name way to a global one. Raises BuildError for an argument, which callers may name."""
    if name in scope.arguments:
        raise BuildError(f"an argument {name} has the name of something else that its function uses")
    aside = fresh(scope.uses | set(scope.places), name)
    scope.places[aside] = scope.places.pop(name)
    for place in scope.places[aside]:
        place.put(aside)


def fresh(taken: Container[str], name: str) -> str:
    """``name``, or one like it that is not taken."""
    while name in taken:
        name += "_"
    return name
