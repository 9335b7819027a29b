"""The main job end to end: the real commands, in processes of their own, on a fleet small enough for a test."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import pytest
from rich.console import Console

from hubbub_simulations.commands import demo
from hubbub_simulations.demo.census import population
from hubbub_simulations.demo.pipeline import DemoError


def arguments(folder: Path, *words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    demo.add_arguments(parser)
    return parser.parse_args(["--output", str(folder), *words])


def test_a_fleet_reports_is_sealed_and_decoded(tmp_path: Path) -> None:
    """Every one of 3,000 devices is in each metric's estimates, and most intervals hold the truth.

    A 95 % interval for each of 50 names: fewer than 38 of 50 hold the truth with probability below 1e-6, if they are
    what they say. The noise is the operating system's, so this is the one test that no seed fixes.
    """
    text = io.StringIO()
    folder = tmp_path / "out"
    picture = demo.demonstrate(
        arguments(folder, "--devices", "3000", "--candidates", "50", "--top", "5"), Console(file=text, width=160)
    )
    assert picture.read_bytes().startswith(b"\x89PNG")
    for mechanism in ("rappor", "count-mean-sketch", "hadamard-count-mean-sketch"):
        line = next(line for line in text.getvalue().splitlines() if line.startswith(f"{mechanism}: "))
        assert line.startswith(f"{mechanism}: 3,000 reports; ")
        assert float(line.split("; ")[1].split("%")[0]) >= 100 * 38 / 50
    # Run again, it replaces its own folder.
    assert (folder / "made-by-hubbub-demo").exists()


def test_somebody_elses_folder_is_left_alone(tmp_path: Path) -> None:
    """A folder with files that no demonstration made is refused, and stays as it was."""
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(DemoError, match="--output"):
        demo.demonstrate(arguments(tmp_path), Console(file=io.StringIO()))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_population_is_the_census() -> None:
    """The shares add up to 1, and the most common given names of 1990 come first."""
    people = population()
    assert people.names[:3] == ("James", "John", "Robert")
    assert float(people.share.sum()) == pytest.approx(1)
    assert (people.share[:-1] >= people.share[1:]).all()
