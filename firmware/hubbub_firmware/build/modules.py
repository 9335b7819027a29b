"""Which portable modules a program needs: the transitive closure of its imports, read from the source.

Lazy imports inside functions count, since the board will get there; those under ``if TYPE_CHECKING`` do not. What is
imported by a computed name (a mechanism by the plan, a transport by the settings) cannot be read; the caller names it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

from hubbub_firmware.build.errors import BuildError

PACKAGES = ("hubbub_client", "hubbub_firmware")
# What a board never runs, although a portable module names it: the reason for each.
CUT = {
    "hubbub_client.http_transport": "it is urllib's; a Reporter on a board is given the board's own transport",
}
# Host-only parts of a portable package. A path that leads into one is a fault of the package, and no board runs it.
HOST_ONLY = ("hubbub_firmware.gateway", "hubbub_firmware.bridge", "hubbub_firmware.curator", "hubbub_firmware.build",
             "hubbub_firmware.commands")  # fmt: skip


def source_of(module: str) -> Path | None:
    """The file of a module of ours, a package's ``__init__.py`` for a package; None where there is no such module."""
    package, *rest = module.split(".")
    top = import_module(package).__file__
    assert top is not None  # noqa: S101 - both packages have an __init__.py
    path = Path(top).parent.joinpath(*rest)
    for candidate in (path / "__init__.py", path.with_name(path.name + ".py")):
        if candidate.is_file():
            return candidate
    return None


def file_of(module: str, path: Path) -> str:
    """Where a module lies in a library on a board."""
    name = module.replace(".", "/")
    return f"{name}/__init__.py" if path.name == "__init__.py" else f"{name}.py"


def closure(sources: Iterable[str], named: Iterable[str] = ()) -> dict[str, Path]:
    """Module -> file, of every module of ours that the programs ``sources`` reach, and those ``named`` besides.

    Raises BuildError for a module that is none, and for one that only a host can run.
    """
    found: dict[str, Path] = {}
    waiting = [module for source in sources for module in imports(source)] + list(named)
    while waiting:
        module = waiting.pop()
        if module in found or module in CUT:
            continue
        if module.startswith(HOST_ONLY):
            raise BuildError(f"{module} runs on a host only, and a program for a board imports it")
        path = source_of(module)
        if path is None:
            raise BuildError(f"there is no module {module}, which a program for a board imports")
        found[module] = path
        waiting += [module.rpartition(".")[0]] if "." in module else []
        waiting += imports(path.read_text(encoding="utf-8"))
    return dict(sorted(found.items()))


def imports(source: str) -> list[str]:
    """The modules of ours that a program imports by name, wherever in it."""
    return [name for node in _nodes(ast.parse(source)) for name in _named(node) if name.split(".")[0] in PACKAGES]


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Every node but those for the type checker."""
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            for other in child.orelse:
                yield from _nodes(other)
        else:
            yield from _nodes(child)


def _named(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module
        for alias in node.names:
            yield from _part(node.module, alias.name)
    elif (
        isinstance(node, ast.Call) and ast.unparse(node.func) == "__import__" and isinstance(node.args[0], ast.Constant)
    ):
        yield str(node.args[0].value)


def _part(module: str, name: str) -> Iterator[str]:
    """The module that ``from module import name`` loads besides ``module``, if any."""
    if module.split(".")[0] not in PACKAGES or module.startswith(HOST_ONLY):
        return
    if source_of(f"{module}.{name}"):
        yield f"{module}.{name}"
    elif module == "hubbub_client":  # its names are loaded when they are asked for
        home = getattr(import_module(module), name, None)
        if home is not None and home.__module__ in sys.modules:
            yield home.__module__
