"""What a bundle takes of a board's memory: bytes are counted, so the figures of 64 bits are the same everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from hubbub_firmware.build.bundle.bundle import STEPS

from benchmarks.firmware.bundles import compile_bundle, fullest, measured
from benchmarks.firmware.figures import HEAP, HEAP_OF_ALL, KIB, write_plans

# Recording RAPPOR and HCMS with ledger and entropy, and uploading both over HTTP, in one program.
BOUND = 40 * KIB
UNDER_A_REPORTER = {"held": 52 * KIB, "fullest": 66 * KIB}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place for libraries, with the plans."""
    write_plans(tmp_path)
    return tmp_path


def test_all_of_it_by_parts_stays_within_40_kib(folder: Path) -> None:
    """In a heap of 96 KB, at the fullest moment of start, reports and uploads, at most 40 KiB are in use on 64 bits."""
    steps, most, bits32 = measured(folder, compile_bundle(folder, "parts"), HEAP)
    assert 20 * KIB < steps["held"] < most <= BOUND
    assert 12 * KIB < bits32 < steps["held"]


def test_without_overlays_it_would_not(folder: Path) -> None:
    """The same measurement finds more than 40 KiB where everything stays in memory."""
    steps = [step for step in STEPS if step != "overlays"]
    assert fullest(folder, compile_bundle(folder, "parts", steps), HEAP_OF_ALL) > BOUND


def test_a_reporter_does_not_grow(folder: Path) -> None:
    """RAPPOR, HCMS, entropy and HTTP under a Reporter hold less than half of what they hold as modules."""
    steps, most, bits32 = measured(folder, compile_bundle(folder, "reporter"), HEAP_OF_ALL)
    assert bits32 < steps["held"] <= UNDER_A_REPORTER["held"]
    assert steps["held"] < most <= UNDER_A_REPORTER["fullest"]
