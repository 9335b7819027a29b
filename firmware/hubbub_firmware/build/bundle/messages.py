"""Messages of errors, kept in a file beside the code: in memory only while one is made."""

from __future__ import annotations

import ast
from collections.abc import Mapping

MESSAGE = "message"
FILE = "hubbub.txt"
RUNTIME = "visiting"
# A shorter one costs less than the call.
_LEAST = 12


def put_away(trees: Mapping[str, list[ast.stmt]]) -> list[str]:
    """The messages, in order, that stood in ``raise`` and in what makes errors; a call with a number stands there now.

    Only a text with spaces that is an argument of a call of an error, alone or with ``%``.
    """
    writer = _Writer()
    for module in sorted(trees):
        if module != RUNTIME:
            before = len(writer.messages)
            trees[module][:] = [writer.visit(statement) for statement in trees[module]]
            if len(writer.messages) > before or writer.took:
                line = ast.ImportFrom(RUNTIME, [ast.alias(MESSAGE)], 0)
                trees[module].insert(0, ast.fix_missing_locations(line))
            writer.took = False
    return writer.messages


class _Writer(ast.NodeTransformer):
    def __init__(self) -> None:
        self.messages: list[str] = []
        self.took = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id.endswith(("Error", "Refusal")):
            node.args = [self._put_away(argument) for argument in node.args]
        return node

    def _put_away(self, argument: ast.expr) -> ast.expr:
        text, parts = argument, None
        if isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Mod):
            text, parts = argument.left, argument.right
        if not (isinstance(text, ast.Constant) and isinstance(text.value, str)):
            return argument
        if len(text.value) < _LEAST or " " not in text.value or "\n" in text.value:
            return argument
        if text.value not in self.messages:
            self.messages.append(text.value)
        self.took = True
        given: list[ast.expr] = [ast.Constant(self.messages.index(text.value))]
        given += [] if parts is None else [parts]
        call = ast.Call(ast.Name(MESSAGE, ast.Load()), given, [])
        return ast.fix_missing_locations(ast.copy_location(call, argument))
