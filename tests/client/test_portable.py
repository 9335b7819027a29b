"""The portable code stays portable: nothing in it that boards lack or do otherwise, and no floating point anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.portable.faults import BOARDS, CLIENT, FIRMWARE, REPOSITORY, allowed, faults, faults_in, portable_files


def test_all_portable_folders_are_looked_at() -> None:
    """The files that are checked lie in the client and in the firmware, and none of them is a host's."""
    files = portable_files()
    assert CLIENT / "mechanisms" / "rappor.py" in files
    assert FIRMWARE / "__init__.py" in files
    assert all((FIRMWARE / "build") not in path.parents for path in files)


@pytest.mark.parametrize("path", portable_files(), ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_a_file_runs_on_boards(path: Path) -> None:
    """No float, no hash(), no random module, no module or form that boards lack, nothing that they cut or reorder."""
    assert faults_in(path) == []


@pytest.mark.parametrize(
    "source",
    [
        "import random", "from numpy import random", "import typing", "import threading", "import dataclasses",
        "try:\n    import random\nexcept ImportError:\n    pass", "import machine", "import hubbub_registry",
        "from hubbub_firmware.gateway import server", "from hubbub_sealing import PublicKey",
        "x = 0.5", "x = 1 / 2", "x /= 2", "float('1')", "hash('a')", "round(x)", "x = 1j",
        "x.to_bytes(4, byteorder='little')", "x.to_bytes(4)", "x.to_bytes()", "int.from_bytes(x)",
        "int.from_bytes(x, 'big', signed=True)", "(5).bit_length()", "x.removeprefix('a')", "x.hexdigest()",
        "x.hex(':')", "int('5', base=6)", "open('a', encoding='ascii')", "zip(a, b, strict=True)",
        "json.dumps(x, sort_keys=True)", "x.split(sep=',')", "x.decode(errors='replace')",
        "[0, *x]", "{**x}", "def f(a, /): pass", "class A(metaclass=B): pass", "match x:\n    case 1: pass",
        "f'{x!r}'", "f'{x[\"a\"]}'", "f'{x:,}'", "f'{x:{y}}'", "f'{[y for y in {1: 2}]}'",
        "'{:,}'.format(x)", "'{:_}'.format(x)", "'{:.2f}'.format(x)", "'{.a}'.format(x)", "'{[0]}'.format(x)",
        "'{!a}'.format(x)",
        "import struct\nstruct.pack('<B', 300)", "from struct import pack",
        "import struct\nstruct.pack_into('<B', b, 0)",
        "b = bytearray(4)\nb[0] = x", "b = bytearray(4)\nb[0] += 1", "b = bytearray(4)\nb[0] = 256",
        "def f(b: bytearray, x: int) -> None:\n    b[0] = x", "def f(b: 'bytearray', x: int) -> None:\n    b[0] = x",
        "class A:\n    def f(self, x):\n        self.b = bytearray(1)\n        self.b[0] = x",
        "b''.join([x[k] for k in {1: 2}])", "','.join(x.values())", "','.join(list(x.keys()))",
        "d = {1: 2}\n','.join(d)", "d = {1: 2}\nfor k in d:\n    out += d[k]",
        "for k, v in x.items():\n    file.write(v)", "for v in x.values():\n    yield v", "next(iter(x.values()))",
        "d = {}\nnext(iter(d))", "x.popitem()",
    ],
)  # fmt: skip
def test_the_check_finds_what_it_looks_for(source: str) -> None:
    """Each kind of fault is found when it is planted."""
    assert faults(source)


@pytest.mark.parametrize(
    "source",
    [
        "try:\n    import threading\nexcept ImportError:\n    threading = None",
        "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from typing import Any",
        "try:\n    import machine\nexcept ImportError:\n    machine = None",
        "import struct\nstruct.unpack('<B', x)", "b = bytearray(4)\nb[0] = x & 0xFF\nb[1] = 255\nb[0:2] = x",
        "x = [0]\nx[0] = 300", "','.join(sorted(x.values()))", "for k in sorted(d):\n    out += d[k]",
        "for k, v in x.items():\n    total += 1", "'{:02x} {}'.format(x, y)", "f'{x} {y:04d} {z[0]}'",
        "x.to_bytes(4, 'big').hex()", "x // 2", "a, *b = x",
    ],
)  # fmt: skip
def test_what_boards_can_do_passes(source: str) -> None:
    """What one interpreter lacks may be imported where its absence is handled; and what is safe is left alone."""
    assert faults(source) == []


def test_a_board_may_import_its_own_modules_and_no_other_file_may() -> None:
    """The hardware's modules belong to the boards' folders, to the raw sources of entropy and to the networks."""
    for module, path in (
        ("machine", BOARDS / "rpi_pico_w" / "board.py"),
        ("network", BOARDS / "esp32" / "board.py"),
        ("machine", FIRMWARE / "entropy" / "raw" / "rp2040.py"),
        ("network", FIRMWARE / "networks" / "wifi.py"),
    ):
        assert faults(f"import {module}", allowed(path)) == []
    for path in (CLIENT / "plan.py", FIRMWARE / "loop.py", FIRMWARE / "entropy" / "drbg.py"):
        assert faults("import machine", allowed(path))
