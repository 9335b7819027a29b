"""Short names, shared between name spaces: a board keeps every name that code says, once, and for good.

Globals, members and arguments are all named ``A``, ``B``, ..., each so that it hides none that is used there. Kept
are names that anything outside of the bundle could say: builtins, foreign modules and their members, whatever stands in
a text (``getattr``), arguments that are passed by name, and what the caller lists.
"""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Iterator, Mapping, Sequence

from hubbub_firmware.build.bundle.letters import letters
from hubbub_firmware.build.bundle.scopes import Names, Scope


class Shortened:
    """Renames in place, over all ``modules`` of a bundle, the resident one first; ``names`` says what became of each.

    ``kept`` are names of any kind that stay, ``foreign`` those of members.
    """

    def __init__(self, modules: Mapping[str, Sequence[ast.stmt]], kept: Sequence[str], foreign: Sequence[str]) -> None:
        every = [statement for statements in modules.values() for statement in statements]
        self._kept = frozenset([*kept, *_texts(every), *dir(builtins), *keyword.kwlist])
        self.names: dict[str, str] = {}
        defined = {module: set(_defined(statements)) - self._kept for module, statements in modules.items()}
        members = _members(every) - self._kept - set(foreign)
        stay = (_every_name(every) - members - {name for names in defined.values() for name in names}) | self._kept
        self._short = [name for name in letters() if name not in stay]
        self._share(modules, defined, members)
        for used in Names(every).globals:
            if used.place.name in self.names:
                used.place.put(self.names[used.place.name])
        for node in _walk(every):
            if isinstance(node, ast.Attribute) and node.attr in members:
                node.attr = self.names["." + node.attr]
            elif isinstance(node, ast.ClassDef):
                _rename_members(node, members, self.names)
        self._arguments(every)

    def _share(
        self, modules: Mapping[str, Sequence[ast.stmt]], defined: Mapping[str, set[str]], members: set[str]
    ) -> None:
        """One letter stands for a global, for a member, and again in each overlay that does not use that global.

        Not so for a global that the body of a class says itself: there a member would hide it.
        """
        said: dict[str, set[str]] = {}
        in_classes = set()
        count: dict[str, int] = {}
        for module, statements in modules.items():
            said[module] = set()
            for name in defined[module]:
                count[name] = count.get(name, 0) + 1
            for used in Names(statements).globals:
                said[module].add(used.place.name)
                if used.scope is not None and used.scope.is_class:
                    in_classes.add(used.place.name)
        overlays = list(modules)[1:]
        alone = {module: {name for name in defined[module] if count[name] == 1} - in_classes for module in overlays}
        every = {name for names in defined.values() for name in names}
        first = sorted(every & in_classes)
        wide = sorted(every - in_classes - {name for names in alone.values() for name in names})
        self._give(first + wide, set())
        apart = {self.names[name] for name in first}
        for module in overlays:
            self._give(sorted(alone[module]), {self.names[name] for name in said[module] if name in self.names})
        self._give(sorted("." + member for member in members), apart)

    def _give(self, names: Sequence[str], taken: set[str]) -> None:
        self.names |= dict(zip(names, (name for name in self._short if name not in taken), strict=False))

    def _arguments(self, statements: Sequence[ast.stmt]) -> None:
        """Gives arguments the first letters that nothing else in their function goes by."""
        by_name = {word.arg for node in _walk(statements) if isinstance(node, ast.Call) for word in node.keywords}
        new: dict[int, set[str]] = {}
        for scope in Names(statements).scopes:  # outer ones first
            if scope.is_class or not scope.arguments:
                continue
            hidden = scope.uses | _below(scope)
            for outer in scope.chain():
                hidden |= new.get(id(outer), set())
            free = (name for name in self._short if name not in hidden)
            chosen = new.setdefault(id(scope), set())
            for name in scope.arguments:
                if name in by_name or name in self._kept:
                    continue
                letter = next(free)
                chosen.add(letter)
                for place in scope.places[name]:
                    place.put(letter)


def _walk(statements: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    for statement in statements:
        yield from ast.walk(statement)


def _below(scope: Scope) -> set[str]:
    """The names of a scope and of all scopes in it, which must not hide one of an outer one."""
    found = set(scope.places)
    for inner in scope.inner:
        found |= _below(inner)
    return found


def _texts(statements: Sequence[ast.stmt]) -> set[str]:
    return {node.value for node in _walk(statements) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def _defined(statements: Sequence[ast.stmt]) -> list[str]:
    """The global names that statements bind, but for those that they import."""
    return [
        used.place.name
        for used in Names(statements).globals
        if isinstance(used.place.node, ast.FunctionDef | ast.ClassDef)
        or (isinstance(used.place.node, ast.Name) and not isinstance(used.place.node.ctx, ast.Load))
    ]


def _members(statements: Sequence[ast.stmt]) -> set[str]:
    """The members that classes here define, by a method, a value, or an assignment to ``self``."""
    found = set()
    for node in _walk(statements):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
        elif isinstance(node, ast.ClassDef):
            found |= {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
            targets = [part.targets[0] for part in node.body if isinstance(part, ast.Assign)]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in found if not name.startswith("__")}


def _rename_members(node: ast.ClassDef, members: set[str], names: dict[str, str]) -> None:
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name in members:
            part.name = names["." + part.name]
        elif isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name) and part.targets[0].id in members:
            part.targets[0].id = names["." + part.targets[0].id]


def _every_name(statements: Sequence[ast.stmt]) -> set[str]:
    found = set()
    for node in _walk(statements):
        found |= {str(getattr(node, name)) for name in ("id", "attr", "arg", "name", "asname") if hasattr(node, name)}
    return found
