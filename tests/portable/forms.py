"""Forms of the language, calls and formats that some board, or MicroPython itself, lacks; and all that floats."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator

NAMES = {"float", "hash", "complex", "frozenset", "breakpoint", "vars"}
METHODS = {
    "bit_length", "bit_count", "removeprefix", "removesuffix", "casefold", "zfill", "ljust", "rjust", "expandtabs",
    "swapcase", "format_map", "isidentifier", "maketrans", "hexdigest", "as_integer_ratio", "is_integer", "add_note",
    "with_traceback", "popitem",
}  # fmt: skip
# Written in C on boards, with positions and no names. json has no options there either, so keys are never sorted.
NO_KEYWORDS = {
    "to_bytes", "from_bytes", "hex", "split", "rsplit", "encode", "decode", "dumps", "dump",
    "loads", "load", "replace", "find",
}  # fmt: skip
NO_KEYWORD_FUNCTIONS = {"int", "open", "zip", "sha256", "bytes", "bytearray", "pow", "getattr", "sum"}


def faults(node: ast.AST, divides: bool = False) -> Iterator[str]:
    """What is wrong with one node by itself. ``divides``: whether its file may, to wait on a host."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (float, complex)):
        yield "a float"
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.Div) and not divides:
        yield "true division gives a float"
    if isinstance(node, ast.Name) and node.id in NAMES:
        yield node.id
    if isinstance(node, ast.arguments) and node.posonlyargs:
        yield "positional-only arguments"
    if isinstance(node, ast.ClassDef) and node.keywords:
        yield "keywords of a class"
    if isinstance(node, (ast.Match, ast.TryStar)) or type(node).__name__ == "TypeAlias":
        yield "syntax that boards lack"
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        yield from ("a starred display" for part in node.elts if isinstance(part, ast.Starred))
    if isinstance(node, ast.Dict) and None in node.keys:
        yield "a starred display"
    if isinstance(node, ast.JoinedStr):
        yield from _f_string(node)
    if isinstance(node, ast.Call):
        yield from _call(node)


def _call(node: ast.Call) -> Iterator[str]:
    method = isinstance(node.func, ast.Attribute)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if method and name in METHODS:
        yield f"{name} is not on every board"
    if node.keywords and name in (NO_KEYWORDS if method else NO_KEYWORD_FUNCTIONS):
        yield f"{name} takes no keywords on boards"
    of_integers = name == "to_bytes" or (name == "from_bytes" and ast.unparse(node.func) == "int.from_bytes")
    if method and of_integers and len(node.args) < 2:
        yield f"{name} needs its byte order on boards"
    if method and name == "hex" and node.args:
        yield "hex takes no separator on every board"
    if name == "round":
        yield "round is for floats"
    if (
        method
        and name == "format"
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Constant)
        and isinstance(node.func.value.value, str)
    ):
        for _, field, spec, conversion in string.Formatter().parse(node.func.value.value):
            if field is not None and ("." in field or "[" in field):
                yield "format looks up no attributes on boards"
            yield from _spec(spec or "", conversion)


def _f_string(node: ast.JoinedStr) -> Iterator[str]:
    for part in node.values:
        if not isinstance(part, ast.FormattedValue):
            continue
        if part.conversion != -1:
            yield "an f-string with a conversion"
        inside = list(ast.walk(part.value))
        if any(isinstance(node, (ast.Constant, ast.JoinedStr)) and not _is_integer(node) for node in inside):
            yield "an f-string with quotes in it"
        if any(isinstance(node, (ast.Dict, ast.Set, ast.DictComp, ast.SetComp, ast.Lambda)) for node in inside):
            yield "an f-string with braces in it"
        for spec in part.format_spec.values if isinstance(part.format_spec, ast.JoinedStr) else []:
            yield from _spec(str(spec.value) if isinstance(spec, ast.Constant) else "_", None)


def _is_integer(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _spec(spec: str, conversion: str | None) -> Iterator[str]:
    if "," in spec or "_" in spec or spec[-1:] in {"e", "f", "g", "%", "n"} or conversion == "a":
        yield "a format that boards lack"
