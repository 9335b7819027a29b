"""The names that a bundle borrows take no memory, and mean nothing to the interpreter."""

from __future__ import annotations

import builtins
import keyword
import re
from itertools import pairwise
from pathlib import Path

from hubbub_firmware.build.bundle.letters import IN_FLASH

from tests.firmware.portable import interpreters

# The names come from a file: in the text of the program they would be there from the start.
PROGRAM = """\
import micropython, sys
exec("def f():\\n x.y")
with open(sys.argv[1]) as file:
    for line in file:
        micropython.qstr_info()
        exec("def f():\\n x." + line)
micropython.qstr_info()
"""


def test_borrowed_names_are_in_flash(tmp_path: Path) -> None:
    """The interpreter has each of them before a program says it, and has not two others."""
    names = ["surely_not_this", *IN_FLASH, "nor_this"]
    (tmp_path / "names.txt").write_text("\n".join(names))
    (tmp_path / "names.py").write_text(PROGRAM)
    said = interpreters.unix(tmp_path / "names.py", [str(tmp_path / "names.txt")])
    counts = [int(count) for count in re.findall(r"n_qstr=(\d+)", said)]
    new = [name for name, (before, after) in zip(names, pairwise(counts), strict=True) if after > before]
    assert new == ["surely_not_this", "nor_this"]


def test_borrowed_names_mean_nothing() -> None:
    """None is a builtin, a keyword, a member of an error, or ``const``, which the compiler takes for its own."""
    of_errors = {*dir(OSError()), *dir(UnicodeDecodeError), "value"}
    assert not set(IN_FLASH) & {*dir(builtins), *keyword.kwlist, *of_errors, "const"}
    assert len(set(IN_FLASH)) == len(IN_FLASH) > 100
