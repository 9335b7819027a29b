"""Puts a built folder in its place, whole or not at all, and keeps what people have put into the one before."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hubbub_firmware.build.errors import BuildError

MARKER = "build.json"
STATE = "state"
"""Where a device that runs in the folder has its ledger. It is moved and never copied: a device that is running would
go on with the other copy, and what it spends there would be forgotten."""
_PACKAGE = "package.json"
_MARKED = {"board": str, "built": int}
_PACKAGED = {"urls": list, "deps": list, "version": str}


def refuse_to_overwrite(output: Path, *, force: bool) -> None:
    """Raises BuildError unless ``output`` is free, or, with ``force``, a folder that a build made."""
    if output.exists() and not output.is_dir():
        raise BuildError(f"{output} is a file; name a folder")
    output = output.absolute()
    for left in sorted(output.parent.glob(f".{output.name}.*.*/{STATE}")):
        raise BuildError(f"an interrupted build left the device's state in {left}; move it to {output / STATE}")
    if not output.exists() or not any(output.iterdir()):
        return
    if not force:
        raise BuildError(f"{output} is not empty; name another folder, or replace what an earlier build made: --force")
    package = output / _PACKAGE
    if not _has(output / MARKER, _MARKED) or (os.path.lexists(package) and not _has(package, _PACKAGED)):
        raise BuildError(f"{output} holds files that no build made; name another folder")


def own_entries(output: Path, ours: Callable[[str], bool]) -> list[str]:
    """Names in ``output`` of the files, links and folders that are not ``ours``, each folder before what is in it.

    Raises BuildError for what is none of the three.
    """
    names = []
    for folder, folders, files in os.walk(output):
        if Path(folder) == output and STATE in folders:
            folders.remove(STATE)
        for entry in sorted(folders + files):
            path = Path(folder, entry)
            name = path.relative_to(output).as_posix()
            if ours(name) or name == STATE:
                continue
            if not (path.is_symlink() or path.is_dir() or path.is_file()):
                raise BuildError(f"{path} is neither a file, a folder nor a link; move it away")
            names.append(name)
    return names


def put(output: Path, files: Mapping[str, bytes], own: Sequence[str]) -> None:
    """Writes ``files`` and a copy of the ``own`` entries beside ``output``, then renames.

    An own entry goes before a file of the same name. Modes are those of the folder that is replaced.
    """
    output = output.absolute()
    output.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(prefix=f".{output.name}.new.", dir=output.parent))
    try:
        new.chmod(0o755)
        for name in own:
            _copy(output / name, new / name)
        for name, data in files.items():
            path = new / name
            if not os.path.lexists(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
        if output.exists():
            _copy_modes(output, new)
            _exchange(output, new)
        else:
            new.rename(output)
    except BaseException:
        if not os.path.lexists(new / STATE):
            shutil.rmtree(new, ignore_errors=True)
        raise


def _has(path: Path, kinds: Mapping[str, type]) -> bool:
    """Whether a file is a JSON object with these keys and no others, each of its type."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return (
        isinstance(document, dict)
        and document.keys() == kinds.keys()
        and all(type(document[key]) is kind for key, kind in kinds.items())
    )


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir() and not source.is_symlink():
        target.mkdir(exist_ok=True)
    else:
        shutil.copy2(source, target, follow_symlinks=False)


def _copy_modes(output: Path, new: Path) -> None:
    """Gives each file and folder the mode that it had, from the innermost outwards."""
    for path in [*sorted(new.rglob("*"), reverse=True), new]:
        before = output / path.relative_to(new)
        if before.exists() and not before.is_symlink() and not path.is_symlink():
            shutil.copymode(before, path)


def _exchange(output: Path, new: Path) -> None:
    """Renames ``new`` to ``output``, with the state of the one before; where that fails ``output`` is as it was."""
    old = Path(tempfile.mkdtemp(prefix=f".{output.name}.old.", dir=output.parent))
    moves = os.path.lexists(output / STATE)
    try:
        if moves:
            (output / STATE).rename(new / STATE)
        output.rename(old)  # onto an empty folder
        new.rename(output)
    except BaseException:
        if not output.exists():
            old.rename(output)
        if moves and not os.path.lexists(output / STATE):
            (new / STATE).rename(output / STATE)
        with contextlib.suppress(OSError):
            old.rmdir()
        raise
    shutil.rmtree(old)
