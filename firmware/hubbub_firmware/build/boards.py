"""The boards that folders are built for: one folder each, with its ``board.py``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import hubbub_firmware
from hubbub_firmware.build.errors import BuildError

# What mpy-cross calls the processor. Byte code runs on all of them; it matters to native code only, of which hubbub has
# none, and mpy-cross notes it in the file all the same.
_ARCHITECTURES = {
    "rpi_pico_w": "armv6m",
    "rpi_pico2_w": "armv7emsp",
    "esp32": "xtensawin",
    "esp32s3": "xtensawin",
    "stm32": "armv7emsp",
    "nrf52840": "armv7emsp",
    "unix": "x64",
}


@dataclass(frozen=True)
class Board:
    """A board by the name of its folder. ``architecture`` is empty where mpy-cross is to be told none."""

    name: str
    program: Path
    architecture: str

    @property
    def sends_frames(self) -> bool:
        """Whether it has no IP network, and a ``send_frame`` in its place."""
        return "\ndef send_frame(" in self.program.read_text(encoding="utf-8")


def boards_folder() -> Path:
    """Where the boards are: beside the package in a source tree, inside of it in an installed wheel."""
    package = Path(hubbub_firmware.__file__).parent
    inside = package / "boards"
    return inside if inside.is_dir() else package.parent / "boards"


def known_boards() -> dict[str, Board]:
    """Name -> board."""
    programs = sorted(boards_folder().glob("*/board.py"))
    return {
        path.parent.name: Board(path.parent.name, path, _ARCHITECTURES.get(path.parent.name, "")) for path in programs
    }


def find_board(name: str) -> Board:
    """The board ``name``. Raises BuildError, naming those there are."""
    boards = known_boards()
    if name not in boards:
        raise BuildError(f"there is no board {name!r}; name one of: {', '.join(boards)}")
    return boards[name]
