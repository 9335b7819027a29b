"""Folders for boards, as tests build them."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from hubbub_firmware.build.boards import find_board
from hubbub_firmware.build.folder import build

from tests.registries import registry_of

SMALL: dict[str, dict[str, Any]] = {"band": {"mechanism": "randomized-response"}}
# What one run takes at the moment on 64 bits, and some room: the folders of tests are to work, not to fit a board.
HEAP = "256k"


def folder_of(
    place: Path,
    metrics: dict[str, dict[str, Any]] | None = None,
    board: str = "unix",
    transport: str | None = None,
    mpy: bool = False,
    force: bool = False,
) -> Path:
    """A folder in ``place``, built from a registry of these metrics."""
    place.mkdir(exist_ok=True)
    registry = registry_of(place, **(SMALL if metrics is None else metrics))
    found = find_board(board)
    transport = transport or ("frames" if found.sends_frames else "https")
    build(registry, found, transport, place / "board", mpy=mpy, force=force)
    return place / "board"


def names_in(folder: Path) -> set[str]:
    """Every file of a folder, by its path in it."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def root_of(package: str) -> Path:
    """The folder that a package of ours is in."""
    file = importlib.import_module(package).__file__
    assert file is not None
    return Path(file).parent
