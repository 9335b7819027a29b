"""The library of a board's folder as a bundle, for the folder's own ``main.py`` and ``board.py``."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hubbub_firmware.build.bundle.bundle import MODULE, bundle
from hubbub_firmware.build.bundle.entry import kept_of, redirected, roots_of
from hubbub_firmware.build.bundle.files import byte_code_files, text_files
from hubbub_firmware.build.byte_code import byte_code
from hubbub_firmware.build.errors import BuildError
from hubbub_firmware.build.modules import closure, imports

# What a Reporter takes for a state that is a path. A board hands it storage; one that uses this module imports it.
_FOR_PATHS, _ASKS = "hubbub_client.file_storage", "hubbub_client.arguments"
# ``hubbub firmware check`` drives the device itself, by these members of it.
_OF_CHECK = ("hubbub_firmware.device:Device",)
_MEMBERS_OF_CHECK = ("record", "reporter", "problem", "upload", "counts")


@dataclass(frozen=True)
class BundledLibrary:
    """``files`` below ``lib``; ``program``, ``board.py`` with its imports from there; ``readable``, for people."""

    files: Mapping[str, bytes]
    program: bytes
    readable: Mapping[str, bytes]


def bundled_library(own: bytes, program: str, modules: Mapping[str, Path], architecture: str) -> BundledLibrary:
    """The bundle of what ``main.py``, people's ``own``, and the board's ``program`` reach of ``modules`` and besides.

    ``main.py`` stays as it is: its imports find small modules of the names that they know. Raises BuildError, also
    where it is no program, or asks for what there is not.
    """
    main = _text(own)
    modules = {**modules, **closure([main])}
    sources = {module: path.read_text(encoding="utf-8") for module, path in modules.items()}
    if not [name for name, text in {**sources, "": program + main}.items()
            if name != _ASKS and _FOR_PATHS in imports(text)]:  # fmt: skip
        sources.pop(_FOR_PATHS, None)
    outside = sorted({*roots_of(main), *_OF_CHECK})
    roots = sorted({*outside, *roots_of(program)})
    made = bundle(sources, roots, sorted({*kept_of(main), *kept_of(program), *_MEMBERS_OF_CHECK}))
    files = byte_code_files(made, architecture)
    names = made.roots
    files |= byte_code(_doors({root: names[root] for root in outside}), architecture)
    readable = text_files(made.readable, made) | {"map.json": made.map()}
    return BundledLibrary(dict(sorted(files.items())), redirected(program, names, MODULE).encode(), readable)


def _text(own: bytes) -> str:
    try:
        text = own.decode()
        ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise BuildError(f"main.py is no program, so what it needs cannot be told: {error}") from None
    return text


def _doors(names: Mapping[str, str]) -> dict[str, bytes]:
    """Modules by the names that programs import from, each of which gives what the bundle has."""
    doors: dict[str, str] = {}
    for root, name in names.items():
        module, _, old = root.partition(":")
        path = f"{module.replace('.', '/')}.py"
        doors[path] = doors.get(path, "") + f"from {MODULE} import {name} as {old}\n"
        for package in _packages(module):
            doors.setdefault(f"{package}/__init__.py", "")
    return {path: text.encode() for path, text in sorted(doors.items())}


def _packages(module: str) -> list[str]:
    parts = module.split(".")[:-1]
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]
