"""The modules that go into a bundle, as trees, without what only a type checker or a host reads."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from hubbub_firmware.build.errors import BuildError

# Packages that no board has, which the sources try and do without.
ABSENT = ("xxhash", "unicodedata", "hmac")
# What every board has of ``time``, and a host has not.
_OF_BOARDS = ("ticks_ms", "sleep_ms")

# What takes modules out of memory after use, which a bundle does by its overlays.
_LETS_GO = ("let_go", "_let_go")


def parsed(source: str) -> list[ast.stmt]:
    """The statements of a module: without docstrings, annotations, and imports that a board would try in vain."""
    body = [part for part in _Cleaner().visit(ast.parse(source)).body if not _loads_names(part)]
    return [part for statement in body for part in _tried(statement)]


def _loads_names(statement: ast.stmt) -> bool:
    """The function that loads a package's names when they are asked for: here they are there, or not asked for."""
    return isinstance(statement, ast.FunctionDef) and statement.name == "__getattr__"


def _tried(statement: ast.stmt) -> list[ast.stmt]:
    """What is left of a ``try: import``: the way out, where the import fails on every board."""
    if isinstance(statement, ast.Try) and _imports(statement.body, ABSENT):
        return statement.handlers[0].body
    return [statement]


def _imports(statements: Sequence[ast.stmt], packages: Sequence[str]) -> bool:
    for statement in statements:
        if isinstance(statement, ast.ImportFrom) and statement.module in packages:
            return True
        if isinstance(statement, ast.Import) and statement.names[0].name in packages:
            return True
    return False


class _Cleaner(ast.NodeTransformer):
    """Takes out what has no effect on a board."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt] | None:
        if isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return None
        self.generic_visit(node)
        return node.body if _asks_for_board(node.test) else node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in ("TYPE_CHECKING", "__all__"):
            return None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        if node.value is None:
            return None
        self.generic_visit(node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in _LETS_GO:
            return None
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node


def _asks_for_board(test: ast.expr) -> bool:
    """``hasattr(time, "ticks_ms")`` and the like."""
    if not (isinstance(test, ast.Call) and ast.unparse(test.func) == "hasattr"):
        return False
    return ast.unparse(test.args[0]) == "time" and ast.literal_eval(test.args[1]) in _OF_BOARDS


def functions(statements: Sequence[ast.stmt]) -> dict[str, tuple[ast.ClassDef | None, ast.FunctionDef]]:
    """``name`` or ``Class.name`` -> the class, if any, and the function."""
    found: dict[str, tuple[ast.ClassDef | None, ast.FunctionDef]] = {}
    for statement in statements:
        if isinstance(statement, ast.FunctionDef):
            found[statement.name] = (None, statement)
        elif isinstance(statement, ast.ClassDef):
            for part in statement.body:
                if isinstance(part, ast.FunctionDef):
                    found[f"{statement.name}.{part.name}"] = (statement, part)
    return found


def trees(sources: Mapping[str, str]) -> dict[str, list[ast.stmt]]:
    """Module -> statements. Raises BuildError for a text that is no program."""
    found = {}
    for name, source in sources.items():
        try:
            found[name] = parsed(source)
        except SyntaxError as error:
            raise BuildError(f"{name} is no program: {error}") from None
    return found
