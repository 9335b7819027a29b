"""Which names of a piece of program are global, and which are its functions' own: by the rules of the language."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hubbub_firmware.build.errors import BuildError

_FUNCTIONS = (ast.FunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Place:
    """One place that a name stands at: a field of a node."""

    node: ast.AST
    field: str

    @property
    def name(self) -> str:
        """What stands there."""
        if isinstance(self.node, ast.alias):
            return self.node.asname or self.node.name
        return str(getattr(self.node, self.field))

    def put(self, name: str) -> None:
        """Another name. What is imported keeps its own, and goes by another."""
        if isinstance(self.node, ast.alias):
            self.node.asname = None if name == self.node.name else name
        else:
            setattr(self.node, self.field, name)


@dataclass(eq=False)
class Scope:
    """A function, a comprehension, or the body of a class: its own names, each with all places; ``arguments`` of it."""

    outer: Scope | None
    is_class: bool = False
    places: dict[str, list[Place]] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)
    inner: list[Scope] = field(default_factory=list)
    uses: set[str] = field(default_factory=set)

    def chain(self) -> Iterator[Scope]:
        """This scope and all around it."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer


@dataclass(frozen=True)
class Global:
    """A place of a global name, and the scope that it is used in; ``at_once`` where that is when the module loads."""

    place: Place
    scope: Scope | None
    at_once: bool


class Names(ast.NodeVisitor):
    """The names of some statements of a module: ``globals``, and the ``scopes`` in them."""

    def __init__(self, statements: Sequence[ast.stmt | ast.expr]) -> None:
        self.globals: list[Global] = []
        self.scopes: list[Scope] = []
        self._scope: Scope | None = None
        self._depth = 0  # of functions
        for statement in statements:
            self.visit(statement)

    def _use(self, place: Place) -> None:
        # In the body of a class, what is read is taken for global: a table of what a module defines says name = name.
        loads = isinstance(place.node, ast.Name) and isinstance(place.node.ctx, ast.Load)
        for scope in self._scope.chain() if self._scope else ():
            scope.uses.add(place.name)
            if place.name in scope.places and not (scope.is_class and (loads or scope is not self._scope)):
                scope.places[place.name].append(place)
                return
        self.globals.append(Global(place, self._scope, self._depth == 0))

    def _within(self, scope: Scope, nodes: Sequence[ast.AST]) -> None:
        self.scopes.append(scope)
        if scope.outer:
            scope.outer.inner.append(scope)
        outer, self._scope = self._scope, scope
        for node in nodes:
            self.visit(node)
        self._scope = outer

    def visit_Name(self, node: ast.Name) -> None:
        """A use."""
        self._use(Place(node, "id"))

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        """Raises BuildError: a global that is bound from inside of a function is nowhere in these sources."""
        raise BuildError(f"line {node.lineno}: a bundle takes no global or nonlocal: {', '.join(node.names)}")

    visit_Nonlocal = visit_Global  # noqa: N815 - as the visitor calls it

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        """Binds a name."""
        if node.name:
            self._use(Place(node, "name"))
        self.generic_visit(node)

    def visit_alias(self, node: ast.alias) -> None:
        """Binds a name."""
        self._use(Place(node, "asname"))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Its bases are around it, its body is a scope that functions in it do not see."""
        self._use(Place(node, "name"))
        for part in [*node.decorator_list, *node.bases]:
            self.visit(part)
        self._within(Scope(self._scope, is_class=True, places={name: [] for name in stored(node.body)}), node.body)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Decorators and defaults are around it."""
        self._use(Place(node, "name"))
        for part in node.decorator_list:
            self.visit(part)
        self._function(node.args, node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        """A function without a name."""
        self._function(node.args, [node.body])

    def _function(self, arguments: ast.arguments, body: Sequence[ast.AST]) -> None:
        for default in [*arguments.defaults, *[one for one in arguments.kw_defaults if one is not None]]:
            self.visit(default)
        scope = Scope(self._scope, places={name: [] for name in stored(body)})
        for argument in arguments_of(arguments):
            scope.places.setdefault(argument.arg, []).append(Place(argument, "arg"))
            scope.arguments.append(argument.arg)
        self._depth += 1
        self._within(scope, body)
        self._depth -= 1

    def visit_ListComp(self, node: ast.AST) -> None:
        """Its first iterable is around it."""
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        self.visit(generators[0].iter)
        inner: list[ast.AST] = [part for one in generators[1:] for part in (one.target, one.iter, *one.ifs)]
        inner += [generators[0].target, *generators[0].ifs]
        inner += [getattr(node, name) for name in ("key", "value", "elt") if hasattr(node, name)]
        names = {name for one in generators for name in stored([one.target])}
        self._within(Scope(self._scope, places={name: [] for name in names}), inner)

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp  # noqa: N815


def arguments_of(arguments: ast.arguments) -> list[ast.arg]:
    """All arguments of a function, in order."""
    rest = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *rest]


def stored(nodes: Sequence[ast.AST]) -> set[str]:
    """The names that some nodes bind in the scope they stand in."""
    found = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name)
        elif not isinstance(node, (ast.Lambda, ast.Constant, *_COMPREHENSIONS)):
            if isinstance(node, ast.ExceptHandler) and node.name:
                found.add(node.name)
            waiting.extend(ast.iter_child_nodes(node))
    return found
