"""What a built folder holds, and when none is built."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hubbub_client.plan import Plan
from hubbub_firmware.build import folder as folder_module
from hubbub_firmware.build.boards import known_boards
from hubbub_firmware.build.errors import BuildError
from hubbub_firmware.settings import read_settings
from hubbub_registry.commands import main

from tests.firmware.build.folders import folder_of, names_in, root_of
from tests.registries import MECHANISMS, write_registry

MECHANISM_FILES = "lib/hubbub_client/mechanisms/"


def test_only_the_registrys_mechanisms_and_one_transport_are_in_it(tmp_path: Path) -> None:
    """The mechanisms and the transport of the board are those that the registry and the command name."""
    metrics: dict[str, Any] = {"a": {"mechanism": "randomized-response"}, "b": {"mechanism": "rappor"}}
    names = names_in(folder_of(tmp_path, metrics, transport="mqtt"))
    mechanisms = {name.removeprefix(MECHANISM_FILES) for name in names if name.startswith(MECHANISM_FILES)}
    assert mechanisms == {"__init__.py", "randomized_response.py", "rappor.py"}
    assert "lib/hubbub_firmware/transports/mqtt.py" in names
    assert "lib/hubbub_firmware/transports/https.py" not in names
    assert "lib/hubbub_client/http_transport.py" not in names


def test_every_file_of_the_library_is_the_one_in_the_tree(tmp_path: Path) -> None:
    """Nothing is forked: without --mpy the board gets the files of the packages, byte for byte."""
    built = folder_of(tmp_path)
    for name in names_in(built / "lib"):
        package, _, rest = name.partition("/")
        assert (built / "lib" / name).read_bytes() == (root_of(package) / rest).read_bytes()


def test_the_plan_and_the_settings_can_be_read_back(tmp_path: Path) -> None:
    """What a build writes is what a board reads: the plan, the settings, and when it was built."""
    built = folder_of(tmp_path)
    assert list(Plan.load(str(built / "plan.json")).metrics) == ["band"]
    settings = read_settings((built / "settings.json").read_bytes())
    assert settings["transport"] == "https"
    assert not settings["passphrase"]
    assert json.loads((built / "build.json").read_text())["board"] == "unix"


def test_the_time_of_a_build_can_be_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two builds with one SOURCE_DATE_EPOCH are the same, byte for byte."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1800000000")
    one, other = folder_of(tmp_path / "one"), folder_of(tmp_path / "other")
    assert names_in(one) == names_in(other)
    assert all((one / name).read_bytes() == (other / name).read_bytes() for name in names_in(one))
    assert json.loads((one / "build.json").read_text())["built"] == 1800000000


def test_byte_code_leaves_main_as_it_is(tmp_path: Path) -> None:
    """With --mpy the library is byte code, and what people edit is not."""
    names = names_in(folder_of(tmp_path, mpy=True))
    assert all(name.endswith(".mpy") for name in names if name.startswith("lib/"))
    assert {"main.py", "board.py", "settings.json"} <= names
    assert folder_of(tmp_path, mpy=True, force=True).joinpath("lib/hubbub_client/plan.mpy").read_bytes()[:2] == b"M\x06"


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_every_mechanism_can_be_built(tmp_path: Path, mechanism: str) -> None:
    """Each mechanism of the table is in the folder of a registry that uses it."""
    names = names_in(folder_of(tmp_path, {"m": {"mechanism": mechanism}}))
    assert f"{MECHANISM_FILES}{mechanism.replace('-', '_')}.py" in names


@pytest.mark.parametrize("board", known_boards())
def test_every_board_can_be_built(tmp_path: Path, board: str) -> None:
    """Each board's own program leads to portable modules only."""
    assert "board.py" in names_in(folder_of(tmp_path, board=board))


def test_a_mechanism_that_boards_lack_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry with a mechanism that no board runs gives no folder, and the error names the metric."""
    monkeypatch.setattr(folder_module, "NAMES", ("rappor",))
    with pytest.raises(BuildError, match="metric band: randomized-response does not run on boards"):
        folder_of(tmp_path)
    assert not (tmp_path / "board").exists()


def test_a_plan_that_is_too_large_is_refused(tmp_path: Path) -> None:
    """A list of values that no board can hold is refused where it can still be changed."""
    values = [f"value number {i}" for i in range(600)]
    with pytest.raises(BuildError, match="the plan takes"):
        folder_of(tmp_path, {"m": {"mechanism": "randomized-response", "values": values}})
    assert not (tmp_path / "board").exists()


def test_a_folder_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    """Neither an earlier build without --force, nor anybody's files at all, are replaced."""
    built = folder_of(tmp_path)
    with pytest.raises(BuildError, match="--force"):
        folder_of(tmp_path)
    (built / "build.json").unlink()
    with pytest.raises(BuildError, match="no build made"):
        folder_of(tmp_path, force=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "board").write_text("a file")
    with pytest.raises(BuildError, match="is a file"):
        folder_of(tmp_path / "other")


def test_force_keeps_what_is_peoples_own(tmp_path: Path) -> None:
    """A second build replaces the library and the plan, and keeps programs, settings and what lies beside them."""
    built = folder_of(tmp_path, {"m": {"mechanism": "rappor"}})
    (built / "main.py").write_text("mine")
    (built / "sensor.py").write_text("my driver")
    (built / "lib" / "other").mkdir()
    (built / "lib" / "other" / "driver.py").write_text("another driver")
    folder_of(tmp_path, force=True)
    assert (built / "main.py").read_text() == "mine"
    assert {"sensor.py", "lib/other/driver.py"} <= names_in(built)
    assert f"{MECHANISM_FILES}rappor.py" not in names_in(built)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board", "registry.toml"]


def test_force_keeps_links_modes_and_empty_folders(tmp_path: Path) -> None:
    """Whatever people made of a folder is there again: links as links, empty folders, and nobody gets a right more."""
    built = folder_of(tmp_path)
    (built / "settings.json").chmod(0o600)
    (built / "plan.json").chmod(0o640)
    built.chmod(0o700)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "driver.py").write_text("a driver")
    (built / "drivers").symlink_to("../elsewhere", target_is_directory=True)
    (built / "driver.py").symlink_to("../elsewhere/driver.py")
    (built / "broken").symlink_to("nowhere")
    (built / "data" / "empty").mkdir(parents=True)
    (built / "data").chmod(0o750)
    (built / "run.sh").write_text("#!/bin/sh")
    (built / "run.sh").chmod(0o755)
    folder_of(tmp_path, force=True)
    modes = {"": 0o700, "settings.json": 0o600, "plan.json": 0o640, "data": 0o750, "run.sh": 0o755}
    assert {name: (built / name).stat().st_mode & 0o777 for name in modes} == modes
    links = {"drivers": "../elsewhere", "driver.py": "../elsewhere/driver.py", "broken": "nowhere"}
    assert {name: os.readlink(built / name) for name in links} == links
    assert (built / "data" / "empty").is_dir()
    assert (tmp_path / "elsewhere" / "driver.py").read_text() == "a driver"


def test_the_state_of_a_device_is_moved_and_not_copied(tmp_path: Path) -> None:
    """A device that runs while its folder is built again goes on in the very same files: it has one ledger."""
    built = folder_of(tmp_path)
    (built / "state").mkdir(mode=0o700)
    (built / "state" / "ledger").write_text("spent")
    before = (built / "state").stat(), (built / "state" / "ledger").stat()
    folder_of(tmp_path, force=True)
    after = (built / "state").stat(), (built / "state" / "ledger").stat()
    assert [each.st_ino for each in after] == [each.st_ino for each in before]
    assert after[0].st_mode & 0o777 == 0o700


@pytest.mark.parametrize("fails_at", [1, 2, 3])
def test_the_state_is_in_its_place_whatever_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    """Where any of the renames fails, the old folder is there with its state, and nothing beside it."""
    built = folder_of(tmp_path)
    (built / "state").mkdir()
    (built / "state" / "ledger").write_text("spent")
    rename, calls = Path.rename, []

    def failing(path: Path, target: Path) -> Path:
        calls.append(path)
        if len(calls) == fails_at:
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="Input/output"):
        folder_of(tmp_path, force=True)
    assert (built / "state" / "ledger").read_text() == "spent"
    assert "main.py" in names_in(built)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board", "registry.toml"]


def test_the_state_that_a_killed_build_left_is_not_forgotten(tmp_path: Path) -> None:
    """Killed between two renames, a build leaves the state beside; the next one refuses, instead of starting anew."""
    (tmp_path / ".board.new.x" / "state").mkdir(parents=True)
    with pytest.raises(BuildError, match="move it to"):
        folder_of(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("build.json", '{"board": "unix"}'),
        ("build.json", '{"targets": []}'),
        ("build.json", "[]"),
        ("build.json", "no JSON"),
        ("package.json", '{"name": "web", "version": "1.0.0", "scripts": {}}'),
        ("package.json", "no JSON"),
    ],
)
def test_anybodys_folder_is_left_alone(tmp_path: Path, name: str, content: str) -> None:
    """A build.json or package.json of something else shows that no build made the folder, with --force too."""
    built = folder_of(tmp_path)
    (built / name).write_text(content)
    with pytest.raises(BuildError, match="no build made"):
        folder_of(tmp_path, force=True)
    assert (built / name).read_text() == content


def test_what_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    """A pipe in the folder is neither copied nor dropped."""
    built = folder_of(tmp_path)
    os.mkfifo(built / "pipe")
    with pytest.raises(BuildError, match="neither a file"):
        folder_of(tmp_path, force=True)
    assert (built / "pipe").is_fifo()


@pytest.mark.parametrize("value", ["yesterday", "1.5", "-1", "9" * 40, "１８"])
def test_a_time_of_a_build_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """SOURCE_DATE_EPOCH is named in the error, and nothing is built."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", value)
    with pytest.raises(BuildError, match="SOURCE_DATE_EPOCH"):
        folder_of(tmp_path)
    assert not (tmp_path / "board").exists()


def test_a_build_that_fails_leaves_nothing_and_spoils_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where writing fails midway there is the old folder, whole, and nothing half-written beside it."""
    built = folder_of(tmp_path)
    before = {name: (built / name).read_bytes() for name in names_in(built)}
    write = Path.write_bytes

    def full(path: Path, data: bytes) -> int:
        if path.name == "plan.json":
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space"):
        folder_of(tmp_path, force=True)
    assert {name: (built / name).read_bytes() for name in names_in(built)} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["board", "registry.toml"]


def test_an_unknown_board_is_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong name lists the boards there are, on one line and without a trace."""
    registry = write_registry(tmp_path / "registry.toml", {"m": {"mechanism": "rappor"}})
    assert main(["firmware", "build", str(registry), "--board", "teapot", "-o", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert "there is no board 'teapot'" in error
    assert "unix" in error
    assert not (tmp_path / "out").exists()


def test_the_command_says_what_to_do_next(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A build ends with the one command that brings the folder to the board."""
    registry = write_registry(tmp_path / "registry.toml", {"m": {"mechanism": "rappor"}})
    out = tmp_path / "out"
    assert main(["firmware", "build", str(registry), "--board", "unix", "-o", str(out)]) == 0
    assert f"mpremote cp -r {out}/. :" in capsys.readouterr().out
