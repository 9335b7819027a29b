"""Folders with a bundle: built for every board, run by the same check as any other, read by people."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from hubbub_firmware.build.boards import find_board
from hubbub_firmware.build.check import check
from hubbub_firmware.build.errors import BuildError
from hubbub_firmware.build.folder import build
from hubbub_firmware.build.modules import source_of

from benchmarks.firmware.figures import METRICS
from tests.firmware.build.folders import names_in
from tests.registries import registry_of

SMALL = {"switch": METRICS["switch"]}
FULL = {"emoji": METRICS["emoji"], "app": METRICS["app"]}


def folder_of(place: Path, board: str, *, bundle: bool = True, force: bool = False) -> Path:
    """A folder for a board: of small reports for one that sends frames, else with all there is."""
    place.mkdir(exist_ok=True)
    found = find_board(board)
    registry = registry_of(place, **(SMALL if found.sends_frames else FULL))
    transport = "frames" if found.sends_frames else "https"
    build(registry, found, transport, place / "board", mpy=True, force=force, bundle=bundle)
    return place / "board"


@pytest.fixture(scope="module")
def pico(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for a Pico W, built at a time that is the same for all builds here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1800000000")
        yield folder_of(tmp_path_factory.mktemp("pico"), "rpi_pico_w")


def test_a_bundle_runs_in_96_kb(pico: Path) -> None:
    """The whole main loop of a Pico W records and uploads RAPPOR and HCMS over HTTP in 96 KB, of 64 bits."""
    figures = check(pico, "96k", peak=False)
    assert figures["fits"], figures["problem"]
    assert set(figures["metrics"]) == {"app", "emoji"}
    assert not figures["readings_refused"]


def test_a_board_without_a_network_runs_too(tmp_path: Path) -> None:
    """So does a board that sends frames."""
    figures = check(folder_of(tmp_path, "nrf52840"), "96k", peak=False)
    assert figures["fits"], figures["problem"]


def test_as_modules_it_does_not_fit(tmp_path: Path) -> None:
    """The same folder without a bundle finds no room in 96 KB."""
    assert not check(folder_of(tmp_path, "rpi_pico_w", bundle=False), "96k", peak=False)["fits"]


def test_people_can_read_what_runs(pico: Path) -> None:
    """The folder holds what was linked under the names of the sources, each name that runs, and each source's hash."""
    told = json.loads((pico / "readable" / "map.json").read_bytes())
    ledger = source_of("hubbub_client.ledger")
    assert ledger is not None
    assert told["sources"]["hubbub_client.ledger"] == sha256(ledger.read_bytes()).hexdigest()
    text = (pico / "readable" / "hubbub.py").read_text()
    assert "# hubbub_client.ledger\n" in text
    assert "def Ledger_spend(self, metric, now, tag):" in text
    assert told["names"]["Ledger_spend"] not in ("Ledger_spend", "")


def test_a_build_is_repeated_to_the_byte(pico: Path, tmp_path: Path) -> None:
    """The same registry and sources give the same folder; replaced, it keeps what people edited, and nothing else."""
    folder = shutil.copytree(pico, tmp_path / "board")
    before = {name: (folder / name).read_bytes() for name in names_in(folder)}
    assert {"lib/hubbub.mpy", "lib/hubbub.txt", "lib/hubbub_firmware/loop.mpy"} < set(before)
    own = b"import board\n\nfrom hubbub_firmware.loop import run\n\nrun(board, list)\n"
    (folder / "main.py").write_bytes(own)
    (folder / "lib" / "hubbub_old.mpy").write_bytes(b"")
    folder_of(tmp_path, "rpi_pico_w", force=True)
    assert {name: (folder / name).read_bytes() for name in names_in(folder)} == before | {"main.py": own}


def test_what_people_import_is_in_it(pico: Path, tmp_path: Path) -> None:
    """A program of people's own gets what it imports by the names it knows; one that is none is refused, and kept."""
    folder = shutil.copytree(pico, tmp_path / "board")
    own = "import board\n\nfrom hubbub_client.hashing import splitmix64\nfrom hubbub_firmware.loop import run\n\n"
    (folder / "main.py").write_text(own + "assert splitmix64(1, 0)\nrun(board, list)\n")
    folder_of(tmp_path, "rpi_pico_w", force=True)
    assert (folder / "lib" / "hubbub_client" / "hashing.mpy").is_file()
    assert check(folder, "128k", peak=False)["fits"]
    before = {name: (folder / name).read_bytes() for name in names_in(folder)}
    for text, why in (("def f(:\n", "is no program"), ("from hubbub_client.hashing import gone\n", "has no gone")):
        (folder / "main.py").write_text(text)
        with pytest.raises(BuildError, match=why):
            folder_of(tmp_path, "rpi_pico_w", force=True)
        assert {name: (folder / name).read_bytes() for name in names_in(folder)} == before | {"main.py": text.encode()}
