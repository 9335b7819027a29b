"""Puts a folder for a board together, and puts it in its place whole or not at all."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hubbub_client.mechanisms import module_name
from hubbub_client.mechanisms.names import COMPOSITES, NAMES
from hubbub_firmware.build.boards import Board
from hubbub_firmware.build.bundle.library import bundled_library
from hubbub_firmware.build.byte_code import byte_code
from hubbub_firmware.build.errors import BuildError
from hubbub_firmware.build.installation import manifest, package
from hubbub_firmware.build.modules import closure, file_of
from hubbub_firmware.build.replacing import MARKER, own_entries, put, refuse_to_overwrite
from hubbub_firmware.build.settings_template import settings_template
from hubbub_registry.commands.compile import plan_bytes
from hubbub_registry.registry import Registry

# A board holds the plan in memory, at about five bytes for each byte of the file where it lists values.
MOST_PLAN_BYTES = 8192
_MOST_DIGITS = 11
_TEMPLATES = Path(__file__).parent / "templates"
GENERATED = ("board.py", "plan.json", "manifest.py", "package.json", MARKER)
# What a bundle is, in names of the sources: for people, and not for the board.
READABLE = "readable"
_LIBRARY = ("lib/hubbub_client/", "lib/hubbub_firmware/", "lib/hubbub", f"{READABLE}/hubbub", f"{READABLE}/map.json")


@dataclass(frozen=True)
class Built:
    """What was built: how many modules of hubbub, their size, and the plan's, in bytes."""

    modules: int
    module_bytes: int
    plan_bytes: int


def build(
    registry: Registry, board: Board, transport: str, output: Path, *, mpy: bool, force: bool, bundle: bool = False
) -> Built:
    """Writes the folder ``output`` for ``board``. An existing one is replaced with ``force``, but for what is edited.

    ``bundle`` links the library into one module of byte code and a few that come and go (bundle/).

    Raises BuildError, with ``output`` as it was: for a mechanism that boards do not have, a plan that is too large for
    them, a folder that is not empty, or a compiler that is missing; OSError where the file system refuses.
    """
    if board.sends_frames != (transport == "frames"):
        what = "sends frames" if board.sends_frames else "has a network and sends no frames"
        raise BuildError(f"{board.name} {what}; --transport {transport} is for other boards")
    refuse_to_overwrite(output, force=force)
    plan = plan_bytes(registry.document, as_msgpack=False)
    if len(plan) > MOST_PLAN_BYTES:
        raise BuildError(
            f"the plan takes {len(plan)} bytes, and a board holds {MOST_PLAN_BYTES}; "
            "shorten the lists of values, or give this board a registry of its own"
        )
    main = (_TEMPLATES / "main.py").read_bytes()
    program = board.program.read_bytes()
    modules = closure([main.decode(), program.decode()], _by_name(registry, transport))
    kept = own_entries(output, _is_ours) if force else []
    readable: Mapping[str, bytes] = {}
    if bundle:
        own = (output / "main.py").read_bytes() if "main.py" in kept else main
        bundled = bundled_library(own, program.decode(), modules, board.architecture)
        library, program, readable = dict(bundled.files), bundled.program, bundled.readable
    else:
        library = {file_of(module, path): path.read_bytes() for module, path in modules.items()}
        library = byte_code(library, board.architecture) if mpy else library
    files = {f"lib/{name}": data for name, data in library.items()}
    files |= {f"{READABLE}/{name}": data for name, data in readable.items()}
    files |= {
        "main.py": main,
        "board.py": program,
        "plan.json": plan,
        MARKER: marker(board.name),
        "settings.json": settings_template(transport),
        "manifest.py": manifest(sorted(library), mpy=mpy or bundle),
        "package.json": package(dict.fromkeys(sorted(library), "lib/")),
    }
    put(output, files, kept)
    return Built(len(library), sum(map(len, library.values())), len(plan))


def marker(board: str) -> bytes:
    """``build.json``: the board, and the Unix time, before which the device's clock cannot be.

    SOURCE_DATE_EPOCH, where it is set, stands for the time, as in other builds that are to be repeated. Raises
    BuildError where it is none.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH") or str(int(time.time()))
    if not (given.isascii() and given.isdecimal() and len(given) <= _MOST_DIGITS):
        raise BuildError("SOURCE_DATE_EPOCH is no Unix time in seconds; correct it, or unset it")
    built = int(given)
    return (json.dumps({"board": board, "built": built}) + "\n").encode()


def _by_name(registry: Registry, transport: str) -> list[str]:
    """The modules that a board loads by a name it is given: the registry's mechanisms, and the transport."""
    for name, metric in registry.metrics.items():
        if metric.mechanism not in NAMES + COMPOSITES:
            raise BuildError(f"metric {name}: {metric.mechanism} does not run on boards; they have {', '.join(NAMES)}")
    used = {each.mechanism for metric in registry.metrics.values() for each in (metric, *metric.parts)}
    mechanisms = {f"hubbub_client.mechanisms.{module_name(name)}" for name in used}
    return [*mechanisms, f"hubbub_firmware.links.{transport}"]


def _is_ours(name: str) -> bool:
    """Whether an entry of a folder is the library or generated, and not people's own."""
    return name in (*GENERATED, "lib", READABLE) or name.startswith(_LIBRARY)
