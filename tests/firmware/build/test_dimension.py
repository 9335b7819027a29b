"""A board whose metric has a public dimension: built, run and checked as any other; loaded only where there is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from hubbub_firmware.build.boards import find_board
from hubbub_firmware.build.check import check
from hubbub_firmware.build.folder import build

from tests.firmware.build.folders import HEAP, folder_of
from tests.firmware.loop.boards import board
from tests.registries import registry_of

VERSIONS = {"name": "version", "values": ["1.0", "1.1", "other"], "other": "other"}
SPLIT = {"band": {"mechanism": "randomized-response", "reports_per_period": 100, "dimension": VERSIONS}}


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder as a bundle."""
    place = tmp_path_factory.mktemp("bundled")
    registry = registry_of(place, **SPLIT)
    build(registry, find_board("unix"), "https", place / "board", mpy=True, force=False, bundle=True)
    return place / "board"


def test_a_folder_reports_with_its_dimension(bundled: Path, tmp_path: Path) -> None:
    """As modules and as a bundle the board records and uploads records that are one byte wider."""
    for folder in (bundled, folder_of(tmp_path, SPLIT, mpy=True)):
        figures = check(folder, HEAP, peak=False)
        assert figures["fits"], figures["problem"]
        assert figures["metrics"]["band"]["record_bytes"] == 2


def test_a_reading_names_its_dimension_third(tmp_path: Path) -> None:
    """The main loop passes on what read() gives third; without it the reading is refused, and the console says why."""
    with board(folder_of(tmp_path / "built", SPLIT, mpy=True), tmp_path) as device:
        assert device.run([("band", "a", "1.1")]) == "ran True\n"  # type: ignore[list-item]
        assert device.reports() == 1
        console = device.run([("band", "a"), ("band", "a", "9.9")])  # type: ignore[list-item]
        assert "no value of its public dimension version was given" in console
        assert device.reports() == 2


def test_a_bundle_holds_no_code_of_dimensions_in_memory(bundled: Path) -> None:
    """What the main loop of a board keeps in memory has a visit in the place of the code that looks a dimension up."""
    apart = (bundled / "readable" / "hubbub_dimension.py").read_text()
    assert "# hubbub_client.dimension" in apart
    assert ".index(" in apart
    resident = (bundled / "readable" / "hubbub.py").read_text()
    front = resident.partition("def front_of(")[2].partition("\ndef ")[0]
    assert "'hubbub_dimension'" in front
    assert ".index(" not in front
    assert "def taken_off(" not in resident or "'hubbub_dimension'" in resident.partition("def taken_off(")[2][:200]
