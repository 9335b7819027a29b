"""Columns as text, and notes of several results as one."""

from __future__ import annotations

import csv
import io
import json
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from hubbub_decoder.errors import DecodeError
from hubbub_decoder.output.columns import csv_of, grid_of, json_of, top_rows
from hubbub_decoder.output.frame import data_frame
from hubbub_decoder.shared_notes import shared_notes

COLUMNS = {
    "value": ("a", "[b]"), "n": np.array([1, 2]), "share": np.array([0.1, np.nan]), "there": np.array([True, False])
}  # fmt: skip


def test_what_is_no_number_is_no_text() -> None:
    """NaN is empty in CSV and a table and null in JSON; truth is spelled as JSON's; markup is not read."""
    assert csv_of(COLUMNS) == "value,n,share,there\na,1,0.1,true\n[b],2,,false\n"
    assert json.loads(json_of({"metric": "m"}, COLUMNS)) == {
        "metric": "m",
        "rows": [
            {"value": "a", "n": 1, "share": 0.1, "there": True},
            {"value": "[b]", "n": 2, "share": None, "there": False},
        ],
    }
    console = Console(file=io.StringIO(), width=80)
    console.print(grid_of(COLUMNS, lambda name, value: f"{value}!", {"n": "count"}))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert [line.split() for line in shown.splitlines() if "!" in line] == [
        ["a!", "1!", "0.1!", "True!"], ["[b]!", "2!", "False!"],
    ]  # fmt: skip
    assert "count" in shown


def test_top_rows() -> None:
    """The first rows of every column, or all of them."""
    assert csv_of(top_rows(COLUMNS, 1)) == "value,n,share,there\na,1,0.1,true\n"
    assert csv_of(top_rows(COLUMNS, None)) == csv_of(COLUMNS)


@given(st.lists(st.tuples(st.text(max_size=9), st.floats(allow_nan=False)), max_size=9))
def test_csv_reads_back(rows: list[tuple[str, float]]) -> None:
    """Texts and numbers of any kind are the same when read back."""
    columns = {"value": [text for text, _ in rows], "number": np.array([number for _, number in rows])}
    found = list(csv.reader(io.StringIO(csv_of(columns), newline="")))[1:]
    assert [(text, float(number)) for text, number in found] == rows


def test_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    """A DataFrame has the columns; without pandas the error says what to install."""
    assert list(data_frame(COLUMNS)["value"]) == ["a", "[b]"]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(DecodeError, match="pip install pandas"):
        data_frame(COLUMNS)


def test_shared_notes() -> None:
    """What all say is said once, and first; the rest with the name of whose it is."""
    assert shared_notes({"1": ["x", "y"], "2": ["z", "x"]}) == ("x", "1: y", "2: z")
    assert shared_notes({"1": ["x"]}) == ("x",)
    assert shared_notes({}) == ()
