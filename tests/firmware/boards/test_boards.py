"""Each board gives what the main loop asks for, on both interpreters and by the stubs of its own MicroPython."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hubbub_firmware.build.boards import boards_folder

from tests.firmware.boards import typed
from tests.firmware.portable.interpreters import REPOSITORY, cpython, unix

SEAM = Path(__file__).parent / "programs" / "seam.py"
PATHS = json.dumps([str(REPOSITORY), str(REPOSITORY / "client"), str(REPOSITORY / "firmware")])
SOURCES = {
    "rpi_pico_w": "rp2040-rosc",
    "rpi_pico2_w": "rp2350-trng",
    "esp32": "esp32-rng",
    "esp32s3": "esp32-rng",
    "stm32": "stm32-rng",
    "nrf52840": "nrf52-rng",
}


@pytest.mark.parametrize("interpreter", ["cpython", "micropython"])
@pytest.mark.parametrize("board", SOURCES)
def test_a_board_gives_what_the_loop_asks_for(board: str, interpreter: str) -> None:
    """Importing touches nothing; source, storage, identity and network are there, and a network that fails says so."""
    arguments = [PATHS, board, str(boards_folder() / board), SOURCES[board]]
    # The stand-ins are sources, and to compile them takes more than a board has.
    printed = cpython(SEAM, arguments) if interpreter == "cpython" else unix(SEAM, arguments, heap="512k")
    assert printed.strip() == "ok"


def test_every_board_is_tested() -> None:
    """The boards above and those with stubs are those that there are, but for the one that is the host itself."""
    there = {path.parent.name for path in boards_folder().glob("*/board.py")} - {"unix"}
    assert there == set(SOURCES) == set(typed.STUBS)


def test_boards_agree_with_the_stubs_of_their_micropython() -> None:
    """mypy finds no fault in what a board calls of its port, with that port's stubs at fixed versions."""
    assert not {board: text for board, text in typed.all_faults().items() if text}


@pytest.mark.parametrize(
    ("board", "call", "fault"),
    [
        ("rpi_pico_w", "from machine import unique_id\nnumber: int = unique_id()", "Incompatible types"),
        ("esp32", "from esp32 import NVS\nNVS('hubbub').set_text('a', 'b')", "set_text"),
        ("nrf52840", "from network import WLAN", "network"),
        ("stm32", "from esp32 import NVS", "esp32"),
    ],
)
def test_a_call_that_a_port_lacks_is_found(board: str, call: str, fault: str, tmp_path: Path) -> None:
    """A wrong type, a method that is not there, and another port's module are faults."""
    program = tmp_path / "wrong.py"
    program.write_text(call + "\n")
    assert fault in typed.faults(board, program)
