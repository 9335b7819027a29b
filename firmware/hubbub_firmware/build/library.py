"""``firmware/package.json`` and ``firmware/manifest.py``: the whole portable library, for ``mip`` and for freezing.

``python -m hubbub_firmware.build.library`` writes both anew. A folder from ``hubbub firmware build`` holds less: what
one registry and one board need.
"""

from __future__ import annotations

from pathlib import Path

import hubbub_firmware
from hubbub_client.mechanisms import module_name
from hubbub_client.mechanisms.names import COMPOSITES, NAMES
from hubbub_firmware.build.boards import known_boards
from hubbub_firmware.build.installation import package
from hubbub_firmware.build.modules import closure, file_of
from hubbub_firmware.settings import TRANSPORTS

_ROOTS = {"hubbub_client": "../client/", "hubbub_firmware": ""}
# What a program of one's own may import, besides what the main loop and the boards do.
_FOR_PROGRAMS = ("hubbub_firmware.loop", "hubbub_firmware.transports.frames")
_MANIFEST = '''\
"""Freezes the whole portable library: make FROZEN_MANIFEST=<this folder>/manifest.py"""

include("$(PORT_DIR)/boards/manifest.py")
'''


def portable_modules() -> dict[str, Path]:
    """Module -> file of everything that runs on a board."""
    programs = [board.program.read_text(encoding="utf-8") for board in known_boards().values()]
    by_name = [f"hubbub_client.mechanisms.{module_name(name)}" for name in NAMES + COMPOSITES]
    by_name += [f"hubbub_firmware.links.{name}" for name in TRANSPORTS]
    return closure(programs, [*by_name, *_FOR_PROGRAMS])


def library_files() -> dict[str, bytes]:
    """Name -> content of the two files."""
    names = [file_of(module, path) for module, path in portable_modules().items()]
    listed = {package: [name for name in names if name.startswith(f"{package}/")] for package in _ROOTS}
    lines = [
        f'package(\n    "{package}",\n    base_path="{root or "."}",\n    files=(\n'
        + "".join(f'        "{name.partition("/")[2]}",\n' for name in listed[package])
        + "    ),\n)\n"
        for package, root in _ROOTS.items()
    ]
    roots = {name: _ROOTS[name.split("/")[0]] for name in names}
    return {"package.json": package(roots), "manifest.py": (_MANIFEST + "".join(lines)).encode()}


def main() -> None:
    """Writes both files in the source tree."""
    folder = Path(hubbub_firmware.__file__).parents[1]
    for name, data in library_files().items():
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
