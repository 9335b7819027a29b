"""Linking changes nothing that a program can see, whatever names its modules share; and refuses what it cannot link."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hubbub_firmware.build.bundle.bundle import MODULE, STEPS, Bundle, bundle
from hubbub_firmware.build.bundle.entry import kept_of, redirected, roots_of
from hubbub_firmware.build.bundle.files import byte_code_files, text_files
from hubbub_firmware.build.errors import BuildError

from tests.firmware.bundle.hazards import EXPECTED, LIBRARY, OVERLAYS, PROGRAM
from tests.firmware.portable import interpreters


def linked(library: dict[str, str] = LIBRARY, steps: tuple[str, ...] = STEPS) -> Bundle:
    """The bundle of a library for the program of hazards."""
    return bundle(library, roots_of(PROGRAM), kept_of(PROGRAM), steps, OVERLAYS)


def said(made: Bundle, folder: Path, run: interpreters.Run) -> str:
    """What the program says on a bundle."""
    files = text_files(made.modules, made) if run is interpreters.cpython else byte_code_files(made, "")
    for name, data in files.items():
        (folder / name).write_bytes(data)
    program = folder / "main.py"
    program.write_text(f"import sys\nsys.path.insert(0, {str(folder)!r})\n" + redirected(PROGRAM, made.roots, MODULE))
    return run(program, [], [folder])


@pytest.mark.parametrize("run", [interpreters.cpython, interpreters.unix])
@pytest.mark.parametrize("count", range(1, len(STEPS) + 1))
def test_no_step_changes_what_a_program_sees(run: interpreters.Run, count: int, tmp_path: Path) -> None:
    """Shared names, hidden ones, defaults, closures, locks, errors and overlays mean what they meant."""
    assert said(linked(steps=STEPS[:count]), tmp_path, run) == EXPECTED


def test_a_changed_library_is_another_bundle(tmp_path: Path) -> None:
    """A change of one number in the library is seen in what the program says, so that the test above can fail."""
    library = {name: text.replace("self.thing.size * 2", "self.thing.size * 3") for name, text in LIBRARY.items()}
    assert said(linked(library), tmp_path, interpreters.cpython) == EXPECTED.replace("14", "21")


def test_what_nothing_reaches_is_left_out() -> None:
    """A function that nobody calls is in no module, and one that only an overlay needs is in that one."""
    made = linked()
    assert not [name for name, text in made.readable.items() if "left_out" in text]
    assert [name for name, text in made.readable.items() if "Passing_depth" in text] == ["hubbub_rare"]


def test_long_messages_are_in_the_file(tmp_path: Path) -> None:
    """A message is in no module; where its file is gone, the number and what fills it in are said."""
    made = linked()
    assert not [text for text in made.modules.values() if "a thing of" in text]
    assert made.messages == "a thing of %d is more than %d\n"
    without = Bundle(made.modules, made.readable, "", made.names, made.roots, made.sources)
    assert "('large', 'message 0 of hubbub.txt: ((7, 3),)')" in said(without, tmp_path, interpreters.unix)


def test_the_same_sources_are_the_same_bytes(tmp_path: Path) -> None:
    """Two processes, which hash differently, make the same bundle, to the last byte."""
    program = tmp_path / "link.py"
    program.write_text(
        "from tests.firmware.bundle.test_linking import linked\n"
        "made = linked()\nprint(made.modules, made.readable, made.messages, made.map())\n"
    )
    outputs = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(interpreters.REPOSITORY)}
        command = [sys.executable, str(program)]
        outputs.add(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(outputs) == 1
    assert len(outputs.pop()) > 2000


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("print('at import')\n", "no statement that runs at import"),
        ("count = 0\n\ndef f():\n    global count\n    count = 1\n", "global or nonlocal"),
        ("from hubbub_client.first import nothing\n\ndef f():\n    return nothing\n", "has no nothing"),
        ("def f(name):\n    return __import__(name)\n", "what is imported by"),
        ("def f(:\n", "is no program"),
    ],
)
def test_what_cannot_be_linked_is_refused(text: str, why: str) -> None:
    """A module that a bundle could not be faithful to is named, with the reason, and nothing is made."""
    with pytest.raises(BuildError, match=why):
        bundle({**LIBRARY, "hubbub_client.bad": text}, ["hubbub_client.bad:f"], [])


def test_what_cannot_be_set_apart_is_refused() -> None:
    """A generator would run on after its module is gone."""
    library = {"hubbub_client.bad": "def f():\n    yield 1\n"}
    with pytest.raises(BuildError, match="yields"):
        bundle(library, ["hubbub_client.bad:f"], [], STEPS, {"hubbub_rare": ("f",)})
