"""A whole board on a bundle stores, sends and says what it does on the modules that the bundle was made of."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hubbub_firmware.build.settings_template import settings_template

from benchmarks.firmware.figures import METRICS
from benchmarks.firmware.interpreter import PROGRAMS as MEASURED
from benchmarks.firmware.interpreter import compile_library
from tests.firmware.bundle.bundles import Bundled, bundled
from tests.firmware.portable import interpreters
from tests.firmware.portable.interpreters import CLIENT
from tests.registries import registry_of

PROGRAM = Path(__file__).parent / "programs" / "device.py"
BY_NAME = (
    "hubbub_client.mechanisms.rappor",
    "hubbub_client.mechanisms.hadamard_count_mean_sketch",
    "hubbub_firmware.links.https",
)


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Bundled:
    """The program on its bundle, with a folder ``files`` for it to read."""
    folder = tmp_path_factory.mktemp("device")
    made = bundled(PROGRAM, folder, BY_NAME)
    (folder / "files").mkdir()
    shutil.copy(MEASURED / "stand_ins.py", folder / "files")
    registry = registry_of(folder, **{name: METRICS[name] for name in ("emoji", "app")})
    (folder / "files" / "plan.json").write_text(json.dumps(registry.document))
    settings = json.loads(settings_template("https")) | {"collector": "http://c.example.org", "ca": "", "plain": True}
    (folder / "files" / "settings.json").write_text(json.dumps(settings))
    return made


def test_a_board_stores_sends_and_says_the_same(device: Bundled, tmp_path: Path) -> None:
    """Over a dozen starts, good and bad, a bundle leaves the same bytes everywhere, and the same words, as byte code.

    In half of the memory that the modules need for it.
    """
    files = str(device.program.parent / "files")
    said = interpreters.unix(PROGRAM, [str(compile_library(tmp_path)), files], heap="256k")
    assert interpreters.unix(device.program, [str(device.byte_code), files], heap="128k") == said
    assert said.count("== ") == 13
    assert said.count("hubbub: ") > 40
    assert "ledger is older than what it paid for" in said


@pytest.mark.parametrize("form", ["text", "readable"])
def test_the_text_of_a_bundle_is_a_board_too(device: Bundled, form: str) -> None:
    """The same under CPython, by the text that the byte code is made of, and by the one that people read."""
    files = str(device.program.parent / "files")
    said = interpreters.cpython(PROGRAM, [str(CLIENT), files])
    assert said.count("hubbub: ") > 40
    assert interpreters.cpython(device.program, [str(getattr(device, form)), files]) == said


@pytest.mark.parametrize(
    ("overlay", "words"),
    [("hubbub_send", "ImportError"), ("hubbub_noise", "no random bytes on this boot"), ("hubbub_state", "ImportError")],
)
def test_a_part_that_cannot_be_loaded_is_a_trouble(device: Bundled, tmp_path: Path, overlay: str, words: str) -> None:
    """Where the flash does not give a module when it is needed, nothing is sent, the loop goes on, and it says so."""
    library = tmp_path / "library"
    shutil.copytree(device.byte_code, library)
    (library / f"{overlay}.mpy").unlink()
    said = interpreters.unix(device.program, [str(library), str(device.program.parent / "files")], heap="128k")
    assert said.count(" True\n") == 13
    assert words in said
    assert "sent-" not in said
    reports = [line for line in said.splitlines() if line.startswith("upload-")]
    assert bool(reports) is (overlay == "hubbub_send")
