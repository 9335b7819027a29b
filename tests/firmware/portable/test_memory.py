"""What hubbub takes of a board's memory, which is the same on every machine: bytes are counted, not seconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.firmware import interpreter
from benchmarks.firmware.figures import FRAME_BYTES, HEAP, KIB, Figure, all_figures, write_plans
from tests.firmware.portable.interpreters import CLIENT

REPORTS = 1000
# Past its goal (docs/firmware-memory.md), and no further: what all of it holds on 64 bits, with a tenth to grow in.
ALL_OF_IT = {"by parts": 100 * KIB, "under a Reporter": 120 * KIB}


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Figure]:
    """Name -> figure, from byte code made of the files as they are."""
    return {figure.name: figure for figure in all_figures(tmp_path_factory.mktemp("memory"), REPORTS)}


def test_one_metric_fits_in_24_kib(figures: dict[str, Figure]) -> None:
    """Importing the client, checking a plan and encoding one HCMS report leaves at most 24 KiB in use on 64 bits."""
    figure = figures["import and one HCMS metric, held"]
    assert 12 * KIB < figure.x64 <= 24 * KIB
    assert 6 * KIB < (figure.bits32 or 0) <= 18 * KIB


def test_a_report_allocates_little(figures: dict[str, Figure]) -> None:
    """An HCMS report allocates at most 12 KiB and one of 128-bit RAPPOR at most 24 KiB, on 64 bits and on 32."""
    sketch, rappor = figures["an HCMS report, allocated"], figures["a 128-bit RAPPOR report, allocated"]
    assert 0 < max(sketch.x64, sketch.bits32 or 0) <= 12 * KIB
    assert 0 < max(rappor.x64, rappor.bits32 or 0) <= 24 * KIB


def test_no_report_leaves_anything_behind(figures: dict[str, Figure]) -> None:
    """After a thousand reports not one byte more is in use than before them."""
    assert figures[f"{REPORTS:,} HCMS reports, held"].x64 == 0
    assert figures[f"{REPORTS:,} RAPPOR reports, held"].x64 == 0
    # This interpreter does not collect within a call, so its heap grows, and with it what the heap itself takes.
    for mechanism in ("HCMS", "RAPPOR"):
        left = figures[f"{REPORTS:,} {mechanism} reports, held"].bits32
        assert left is not None
        assert left < KIB


def test_a_hadamard_report_fits_a_frame(figures: dict[str, Figure]) -> None:
    """One HCMS report and one Hadamard response fit LoRaWAN's least payload, with the byte that names the metric."""
    for name in ("an HCMS report as a frame", "a Hadamard response as a frame"):
        assert 1 < figures[name].x64 <= FRAME_BYTES
        assert figures[name].bits32 == figures[name].x64


@pytest.mark.parametrize("way", ALL_OF_IT)
def test_all_of_it_together_does_not_grow(figures: dict[str, Figure], way: str) -> None:
    """RAPPOR, HCMS, ledger, entropy and HTTP together hold no more than they did, on 64 bits."""
    (figure,) = [figure for name, figure in figures.items() if name.startswith("RAPPOR, HCMS, ") and way in name]
    assert (figure.bits32 or 0) < figure.x64 <= ALL_OF_IT[way]


def test_less_is_held_where_code_stays_in_flash(figures: dict[str, Figure]) -> None:
    """Byte code that runs from ROMFS leaves at least a fifth of the memory free that it would take from files."""
    from_files = figures["RAPPOR, HCMS, entropy, HTTP under a Reporter, held"].x64
    assert 5 * figures["the same, run from flash with ROMFS, held"].x64 < 4 * from_files


def test_what_a_report_leaves_behind_would_be_seen(tmp_path: Path) -> None:
    """A client that keeps one byte of each report is found by the same measurement."""
    library = interpreter.compile_library(tmp_path)
    source = CLIENT / "hubbub_client" / "records.py"
    leaky = source.read_text().replace("    record = 0\n", "    record = 0\n    _kept.append(0)\n") + "\n_kept = []\n"
    (library / "hubbub_client" / "records.mpy").unlink()
    (library / "hubbub_client" / "records.py").write_text(leaky)
    assert "_kept.append" in leaky
    write_plans(tmp_path)
    arguments = ["plans/emoji.json", "emoji", "a smile", str(REPORTS)]
    measured = interpreter.unix(tmp_path, "one_metric.py", arguments, HEAP)
    assert measured["after"] - measured["before"] >= REPORTS
