"""The two files with which MicroPython's own tools install a library: one to freeze it, one for ``mip``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

_MANIFEST = '''\
"""Freezes what this board needs of hubbub into its firmware: make FROZEN_MANIFEST=<this folder>/manifest.py

main.py, settings.json and plan.json stay files on the board, so that they can be changed without a new firmware.
"""

include("$(PORT_DIR)/boards/manifest.py")
'''


def manifest(library: Sequence[str], *, mpy: bool) -> bytes:
    """``manifest.py``: the board's own modules, then ``library``, whose names are relative to ``lib``."""
    if mpy:
        lines = ['freeze_mpy("lib")']
    else:
        packages = sorted({name.split("/")[0] for name in library})
        lines = [f'package("{package}", base_path="lib")' for package in packages]
    return (_MANIFEST + "\n".join([*lines, 'module("board.py")']) + "\n").encode()


def package(roots: Mapping[str, str]) -> bytes:
    """``package.json`` from each file's name on the board and the folder it is in, relative to ``package.json``."""
    urls = ",\n".join(f"    {json.dumps([name, root + name])}" for name, root in roots.items())
    return f'{{\n  "urls": [\n{urls}\n  ],\n  "deps": [],\n  "version": "0.1.0"\n}}\n'.encode()
