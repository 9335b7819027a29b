"""Puts a folder for a board together, and puts it in its place whole or not at all."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hubbub_client.mechanisms import NAMES, module_name
from hubbub_firmware.build.boards import Board
from hubbub_firmware.build.byte_code import byte_code
from hubbub_firmware.build.errors import BuildError
from hubbub_firmware.build.installation import manifest, package
from hubbub_firmware.build.modules import closure, file_of
from hubbub_firmware.build.settings_template import settings_template
from hubbub_registry.commands.compile import plan_bytes
from hubbub_registry.registry import Registry

# A board holds the plan in memory, at about five bytes for each byte of the file where it lists values.
MOST_PLAN_BYTES = 8192
_TEMPLATES = Path(__file__).parent / "templates"
MARKER = "build.json"
GENERATED = ("board.py", "plan.json", "manifest.py", "package.json", MARKER)
_LIBRARY = ("lib/hubbub_client/", "lib/hubbub_firmware/")


@dataclass(frozen=True)
class Built:
    """What was built: how many modules of hubbub, their size, and the plan's, in bytes."""

    modules: int
    module_bytes: int
    plan_bytes: int


def build(registry: Registry, board: Board, transport: str, output: Path, *, mpy: bool, force: bool) -> Built:
    """Writes the folder ``output`` for ``board``. An existing one is replaced with ``force``, but for what is edited.

    Raises BuildError, with ``output`` as it was: for a mechanism that boards do not have, a plan that is too large for
    them, a folder that is not empty, or a compiler that is missing; OSError where the file system refuses.
    """
    if board.sends_frames != (transport == "frames"):
        what = "sends frames" if board.sends_frames else "has a network and sends no frames"
        raise BuildError(f"{board.name} {what}; --transport {transport} is for other boards")
    _refuse_to_overwrite(output, force=force)
    plan = plan_bytes(registry.document, as_msgpack=False)
    if len(plan) > MOST_PLAN_BYTES:
        raise BuildError(
            f"the plan takes {len(plan)} bytes, and a board holds {MOST_PLAN_BYTES}; "
            "shorten the lists of values, or give this board a registry of its own"
        )
    main = (_TEMPLATES / "main.py").read_bytes()
    program = board.program.read_bytes()
    modules = closure([main.decode(), program.decode()], _by_name(registry, transport))
    library = {file_of(module, path): path.read_bytes() for module, path in modules.items()}
    if mpy:
        library = byte_code(library, board.architecture)
    files = {f"lib/{name}": data for name, data in library.items()}
    kept = _edited(output) if force else {}
    files |= {
        "main.py": main,
        "board.py": program,
        "plan.json": plan,
        MARKER: marker(board.name),
        "settings.json": settings_template(transport),
        "manifest.py": manifest(sorted(library), mpy=mpy),
        "package.json": package(dict.fromkeys(sorted(library), "lib/")),
    }
    _put(output, files | kept)
    return Built(len(library), sum(map(len, library.values())), len(plan))


def marker(board: str) -> bytes:
    """``build.json``: the board, and the Unix time, before which the device's clock cannot be.

    SOURCE_DATE_EPOCH, where it is set, stands for the time, as in other builds that are to be repeated.
    """
    built = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    return (json.dumps({"board": board, "built": built}) + "\n").encode()


def _by_name(registry: Registry, transport: str) -> list[str]:
    """The modules that a board loads by a name it is given: the registry's mechanisms, and the transport."""
    for name, metric in registry.metrics.items():
        if metric.mechanism not in NAMES:
            raise BuildError(f"metric {name}: {metric.mechanism} does not run on boards; they have {', '.join(NAMES)}")
    mechanisms = {f"hubbub_client.mechanisms.{module_name(metric.mechanism)}" for metric in registry.metrics.values()}
    return [*mechanisms, f"hubbub_firmware.links.{transport}"]


def _refuse_to_overwrite(output: Path, *, force: bool) -> None:
    if output.exists() and not output.is_dir():
        raise BuildError(f"{output} is a file; name a folder")
    if not output.exists() or not any(output.iterdir()):
        return
    if not force:
        raise BuildError(f"{output} is not empty; name another folder, or replace what an earlier build made: --force")
    if not (output / MARKER).is_file():
        raise BuildError(f"{output} holds files that no build made; name another folder")


def _edited(output: Path) -> dict[str, bytes]:
    """What is people's own, which a build that replaces the folder keeps: all but the library and what is generated."""
    kept = {}
    for path in sorted(output.rglob("*")) if output.is_dir() else []:
        name = path.relative_to(output).as_posix()
        if path.is_file() and name not in GENERATED and not name.startswith(_LIBRARY):
            kept[name] = path.read_bytes()
    return kept


def _put(output: Path, files: Mapping[str, bytes]) -> None:
    """Writes all files beside ``output``, then renames: whatever interrupts it, no folder holds a part."""
    output = output.absolute()
    output.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{output.name}.new.", dir=output.parent))
    try:
        new.chmod(0o755)
        for name, data in files.items():
            path = new / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        if output.exists():
            old = Path(tempfile.mkdtemp(prefix=f".{output.name}.old.", dir=output.parent))
            output.rename(old)  # onto an empty folder
            new.rename(output)
            shutil.rmtree(old)
        else:
            new.rename(output)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
