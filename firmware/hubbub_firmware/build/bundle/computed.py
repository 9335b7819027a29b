"""Imports by a computed name: the few modules that a plan and settings can name, each as a table of what it defines."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

from hubbub_firmware.build.errors import BuildError

# A function that gives such a module, and what of the module is asked for while a board runs: that gets a function of
# its own, so that the rest need not be in memory.
_HOME, _GIVES, _ASKED = "hubbub_client.plan", "mechanism", "Encoder"


def resolve(trees: Mapping[str, list[ast.stmt]]) -> None:
    """Puts a choice among the modules that are there in place of each ``__import__`` of a prefix and a name.

    Raises BuildError for one that imports by anything else.
    """
    for module in sorted(trees):
        if module == _HOME:
            gives = [part for part in trees[module] if isinstance(part, ast.FunctionDef) and part.name == _GIVES]
            asked = copy.deepcopy(gives[0])
            asked.name = f"{_GIVES}_{_ASKED}"
            _replace(trees, module, [asked], _ASKED)
        _replace(trees, module, trees[module], "")
        if module == _HOME:
            trees[module].append(asked)
    for module in sorted(trees):
        trees[module][:] = [_Asking().visit(statement) for statement in trees[module]]


def _replace(trees: Mapping[str, list[ast.stmt]], module: str, statements: list[ast.stmt], attribute: str) -> None:
    resolver = _Resolver(module, trees, attribute)
    statements[:] = [resolver.visit(statement) for statement in statements]
    trees[module] += resolver.made


class _Resolver(ast.NodeTransformer):
    def __init__(self, module: str, trees: Mapping[str, list[ast.stmt]], attribute: str) -> None:
        self._module = module
        self._trees = trees
        self._attribute = attribute
        self.made: list[ast.stmt] = []

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not (isinstance(node.func, ast.Name) and node.func.id == "__import__") or self._module == "visiting":
            return node
        computed = node.args[0]
        if not (isinstance(computed, ast.BinOp) and isinstance(computed.left, ast.Constant)):
            raise BuildError(f"{self._module}: a bundle cannot tell what is imported by {ast.unparse(node)}")
        prefix = str(computed.left.value)
        known = {name.removeprefix(prefix): name for name in sorted(self._trees) if name.startswith(prefix)}
        kind = self._attribute or "module"
        choice = f"{kind}_of_{prefix.rstrip('.').rpartition('.')[2]}"
        if self._attribute:
            chosen = {name: f"{self._attribute}:{module}" for name, module in known.items()}
        else:
            tables = {name: self._table(module) for name, module in known.items()}
            self.made += tables.values()
            chosen = {name: table.name for name, table in tables.items()}
        self.made.append(_choice(choice, chosen))
        return ast.copy_location(ast.Call(ast.Name(choice, ast.Load()), [computed.right], []), node)

    def _table(self, module: str) -> ast.ClassDef:
        """A class whose attributes are what the module defines."""
        names = [part.name for part in self._trees[module] if isinstance(part, ast.FunctionDef | ast.ClassDef)]
        for part in self._trees[module]:
            if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name):
                names.append(part.targets[0].id)
        body: list[ast.stmt] = [
            ast.Assign([ast.Name(name, ast.Store())], ast.Name(f"{name}:{module}", ast.Load())) for name in names
        ]
        name = f"module_{module.rpartition('.')[2]}"
        table = ast.ClassDef(name=name, bases=[], keywords=[], body=body, decorator_list=[])
        return ast.fix_missing_locations(table)


def _choice(name: str, chosen: Mapping[str, str]) -> ast.stmt:
    """A function from a module's name to what was chosen of it."""
    choice = ast.parse(f"def {name}(name):\n    raise ImportError(name)\n").body[0]
    assert isinstance(choice, ast.FunctionDef)  # noqa: S101 - it says so
    for key, value in reversed(list(chosen.items())):
        test = ast.Compare(ast.Name("name", ast.Load()), [ast.Eq()], [ast.Constant(key)])
        choice.body.insert(0, ast.If(test, [ast.Return(ast.Name(value, ast.Load()))], []))
    return ast.fix_missing_locations(choice)


class _Asking(ast.NodeTransformer):
    """``mechanism(name).Encoder`` as ``mechanism_Encoder(name)``."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        call = node.value
        if node.attr != _ASKED or not isinstance(call, ast.Call) or ast.unparse(call.func) != _GIVES:
            return node
        call.func = ast.copy_location(ast.Name(f"{_GIVES}_{_ASKED}:{_HOME}", ast.Load()), call.func)
        return call
