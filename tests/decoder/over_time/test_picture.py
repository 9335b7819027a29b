"""The picture of a trend: what it says it is of, and that every character of it can be read."""

from __future__ import annotations

import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hubbub_decoder import Dataset, Trend, trend
from hubbub_decoder.errors import DecodeError
from hubbub_decoder.over_time.picture import draw

from tests.decoder.reports import encode, seal
from tests.registries import metric_of


@pytest.fixture
def found(tmp_path: Path) -> Trend:
    metric = metric_of(tmp_path, "randomized-response", epsilon=4)
    for period in (7, 8, 9):
        seal(tmp_path, metric, encode(metric, ["a"] * 50 + ["b"] * 20, period), period=period)
    return trend(metric, Dataset(tmp_path, metric))


def test_a_picture(tmp_path: Path, found: Trend) -> None:
    """A picture is a PNG or SVG with a legend of the values asked for."""
    draw(found, tmp_path / "trend.png", top=2)
    assert (tmp_path / "trend.png").read_bytes()[:4] == b"\x89PNG"
    draw(found, tmp_path / "trend.svg", top=2, simultaneous=True)
    assert "<svg" in (tmp_path / "trend.svg").read_text()


def texts_of(found: Trend, file: Path, **how: Any) -> tuple[list[str], tuple[str, ...]]:
    """The texts of the picture, which its SVG has as comments; and the notes."""
    notes = draw(found, file, top=5, **how)
    return [text.strip() for text in re.findall(r"<!-- (.*?) -->", file.read_text())], notes


def test_a_picture_says_what_it_is_of(tmp_path: Path, found: Trend) -> None:
    """The title names the metric and the cell, the axis when periods begin, and the level is in per cent."""
    texts, notes = texts_of(found, tmp_path / "trend.svg", cell="version is 1.1")
    assert "m: version is 1.1" in texts
    assert {"1970-01-08", "1970-01-09", "1970-01-10"} < set(texts)
    assert "period (UTC); bands cover each with 95 %" in texts
    assert notes == ()
    texts, _ = texts_of(replace(found, seconds=3600), tmp_path / "hours.svg")
    assert "m" in texts
    assert "1970-01-01T07:00Z" in texts


def test_a_picture_names_what_its_font_lacks(tmp_path: Path) -> None:
    """An emoji is drawn as its code point, without a warning, and a note has the key; what the font has stays."""
    metric = metric_of(tmp_path, "randomized-response", values=["\U0001f389", "é$x$", "b"], epsilon=4)
    for period in (7, 8):
        seal(tmp_path, metric, encode(metric, ["\U0001f389", "é$x$", "b"] * 20, period), period=period)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        texts, (note,) = texts_of(trend(metric, Dataset(tmp_path, metric)), tmp_path / "trend.svg")
    assert "U+1F389" in texts
    assert r"é\$x\$" in texts or "é$x$" in texts
    assert note == "the picture's font lacks some characters, which it shows as code points: U+1F389 is \U0001f389"


@pytest.mark.parametrize("name", ["x.gif", "x", "x.jpg"])
def test_a_picture_of_another_format_is_refused(tmp_path: Path, found: Trend, name: str) -> None:
    """Whatever else matplotlib could write."""
    with pytest.raises(DecodeError, match=r"\.png, \.svg or \.pdf"):
        draw(found, tmp_path / name, top=2)
    assert not (tmp_path / name).exists()
