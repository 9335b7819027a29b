from __future__ import annotations

from pathlib import Path

import pytest

from tests.firmware.portable.webassembly import install


def test_a_tarball_that_was_changed_is_refused(tmp_path: Path) -> None:
    """What npm fetched is unpacked only if its hash is the pinned one."""
    (tmp_path / "package.tgz").write_bytes(b"something else")
    with pytest.raises(ValueError, match=r"pins sha512-.*nothing was installed"):
        install.checked(tmp_path / "package.tgz")


def test_a_missing_tool_fails_and_skips_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without node the tests of 32-bit MicroPython fail and say what to install."""
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(RuntimeError, match="there is no node"):
        install.tool("node")
