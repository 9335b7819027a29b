"""The demonstration of boards, end to end: the real interpreter, collector, broker and bridge, for few boards."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

from rich.console import Console

from hubbub_simulations.commands import demo_device
from hubbub_simulations.demo_device import thermometer


def test_boards_report_over_both_transports_and_are_decoded(tmp_path: Path) -> None:
    """Every board's report, over HTTP and over MQTT, is in the estimates, whose intervals hold the truth.

    A 95 % interval for each of 8 bands: fewer than 3 of 8 hold the truth with probability below 1e-6, if they are what
    they say. The noise is the boards' own, which no seed fixes.
    """
    parser = argparse.ArgumentParser()
    demo_device.add_arguments(parser)
    output = tmp_path / "out"
    text = io.StringIO()
    comparison = demo_device.demonstrate(
        parser.parse_args(["--output", str(output), "--boards", "101"]), Console(file=text, width=160)
    )
    assert comparison.n == 101
    assert sum(row.covered for row in comparison.rows) >= 3
    assert sum(row.truth for row in comparison.rows) == 101
    said = text.getvalue()
    assert "51 boards reported over https" in said
    assert "50 boards reported over mqtt" in said
    assert (output / "estimates.png").read_bytes().startswith(b"\x89PNG")
    states = list(output.glob("*/boards/*/state/secret"))
    assert len({path.read_bytes() for path in states}) == 101


def test_the_series_is_the_public_one() -> None:
    """Hours are spread over the year, never more than there are, and lie in the bands of the registry."""
    year = thermometer.readings(10**6)
    assert len(year) == 8759
    assert (min(year), max(year)) == (375, 759)
    quarter = thermometer.readings(4)
    assert quarter == [year[0], year[2189], year[4379], year[6569]]
    bands = {thermometer.band(tenths) for tenths in year}
    registry = Path(thermometer.__file__).with_name("registry.toml").read_text(encoding="utf-8")
    assert all(f'"{band}"' in registry for band in bands)


def test_a_band_is_three_degrees_wide() -> None:
    """The bands begin at multiples of three degrees Celsius, below zero too."""
    assert [thermometer.band(tenths) for tenths in (320, 373, 374, 266)] == ["0-2 °C", "0-2 °C", "3-5 °C", "-3--1 °C"]
