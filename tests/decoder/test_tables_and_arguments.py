"""What the decoder's commands take for an argument, and what of their figures a table shows."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import pytest

from hubbub_decoder import EstimateError
from hubbub_decoder.commands import decode, discover, trend
from hubbub_decoder.errors import OutputError
from hubbub_decoder.output import render
from hubbub_decoder.output.render import TABLE_ROWS

from tests.commands import run_on
from tests.decoder.reports import encode, seal
from tests.registries import registry_of

hubbub_decode = partial(run_on, decode)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A registry with a closed and an open metric, both with sealed reports of two periods."""
    registry = registry_of(
        tmp_path, closed={"mechanism": "randomized-response"}, open={"mechanism": "hadamard-count-mean-sketch"}
    )
    for metric in registry.metrics.values():
        for period in (7, 8):
            seal(tmp_path, metric, encode(metric, ["a"] * 30 + ["b"] * 10, period), period=period)
    return tmp_path


def many(data: Path, values: int) -> tuple[str, str]:
    """The option that names a list of so many candidates."""
    (data / "many.txt").write_text("\n".join(f"candidate-{i}" for i in range(values)))
    return "--candidates", str(data / "many.txt")


def test_a_table_is_for_people(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --top a table ends after 200 rows, and says how many more there are; CSV and --top leave none out."""
    assert hubbub_decode(data, "open", *many(data, 203)) == 0
    rows = capsys.readouterr().out.splitlines()
    assert sum("candidate-" in row for row in rows) == TABLE_ROWS == 200
    assert rows[-1] == "... and 3 more (--top N shows N rows, --format csv all)"
    assert hubbub_decode(data, "open", *many(data, 203), "--top", "202") == 0
    out = capsys.readouterr().out
    assert out.count("candidate-") == 202
    assert "more" not in out
    assert hubbub_decode(data, "open", *many(data, 200)) == 0
    assert "more" not in capsys.readouterr().out
    assert hubbub_decode(data, "open", *many(data, 203), "--format", "csv") == 0
    assert capsys.readouterr().out.count("candidate-") == 203


def test_a_table_of_changes_is_for_people(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same holds of what changed."""
    assert run_on(trend, data, "open", *many(data, 203), "--compare", "7", "8") == 0
    rows = capsys.readouterr().out.splitlines()
    assert sum("candidate-" in row for row in rows) == TABLE_ROWS
    assert rows[-1].startswith("... and 3 more")


@pytest.mark.parametrize("form", ["table", "csv", "json", "parquet"])
def test_a_closed_output(data: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """Without a standard output, as after >&-, the error says so."""
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(OutputError, match="standard output: is closed"):
        hubbub_decode(data, "closed", "--format", form)


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--period", "1_0"),
        ("--period", " 7"),
        ("--period", "٧"),
        ("--period", "7.0"),
        ("--top", "1_0"),
        ("--top", "0"),
        ("--ranges", "0:1_0"),
        ("--ranges", " 0:10"),
    ],
)
def test_integers_are_digits(data: Path, capsys: pytest.CaptureFixture[str], option: str, text: str) -> None:
    """What Python takes for an integer and people would not, such as 1_0, is refused where the command is read."""
    with pytest.raises(SystemExit, match="2"):
        hubbub_decode(data, "closed", option, text)
    assert option in capsys.readouterr().err


@pytest.mark.parametrize("name", ["count", "frequency", "mean", "low"])
@pytest.mark.parametrize("mean", [True, False])
def test_nothing_is_less_than_nothing(name: str, mean: bool) -> None:
    """What rounds to 0 has no sign in a table, and other figures keep theirs."""
    for value in (-0.0, -1e-9):
        assert not render.cell_text(name, value if name == "frequency" or not mean else -0.0, mean=mean).startswith("-")
    assert render.cell_text(name, -12.5, mean=mean).startswith("-")


def test_a_probability_is_shown_as_it_was_asked(tmp_path: Path) -> None:
    """A short one is short, and one that is nearly 1 is not rounded to it."""
    for value, shown in ((0.5, "0.5"), (0.999, "0.999"), (1 - 2**-53, "0.9999999999999999"), (1e-9, "1e-09")):
        assert render.cell_text("probability", value) == shown
        assert float(shown) == value


@pytest.mark.parametrize(
    ("text", "range_"), [("a-z", "a-z"), ("A-Za-z", "A-Z"), ("xyz0-9", "0-9"), ("ab-c", "b-c"), ("--alphabet-x", "t-x")]
)
def test_an_alphabet_is_no_range(data: Path, capsys: pytest.CaptureFixture[str], text: str, range_: str) -> None:
    """A hyphen between two letters of a kind, or two digits, is refused with what to write; elsewhere it is none."""
    with pytest.raises(SystemExit, match="2"):
        run_on(discover, data, "open", f"--alphabet={text}")
    assert f"{range_} is three characters, and no range" in capsys.readouterr().err
    for fine in ("abc-", "-abc", "a-.", "a-1", "é-"):
        with pytest.raises(EstimateError, match="do not spell"):  # as of any alphabet
            run_on(discover, data, "open", f"--alphabet={fine}")
