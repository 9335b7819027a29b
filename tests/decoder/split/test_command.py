"""``hubbub decode --by`` and ``--where``, and ``hubbub trend --where``, from the outside."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub_decoder import EstimateError, HeldBackError
from hubbub_decoder.commands import decode, trend

from tests.commands import run_on
from tests.decoder.split.reports import sealed_folder, split_metric

COLUMNS = ["cell", "n", "value", "count", "frequency", "std_error", "low", "high", "p_value", "significant"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two periods of a closed metric: of the cells 1.0, 1.1 and other the last is too small to be shown."""
    return sealed_folder(tmp_path, split_metric(tmp_path, epsilon=4), (300, 100, 10), (200, 90, 20))


def run(command: ModuleType, folder: Path, *arguments: str) -> int:
    return run_on(command, folder, "m", *arguments)


def test_csv(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CSV has a row for each cell and value, its header line and notes on stderr."""
    assert run(decode, data, "--by", "version", "--format", "csv") == 0
    out, err = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == COLUMNS
    assert [row["cell"] for row in rows] == ["1.0"] * 5 + ["1.1"] * 5
    assert {row["n"] for row in rows} == {"500", "190"}
    assert "m: n = 720 reports" in err
    assert "by version: 2 shown, 1 held back" in err
    assert "note: held back, fewer than 50 reports or none: version other" in err


def test_json(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON says what it is split by, what is held back and the periods, and each row names its cell."""
    assert run(decode, data, "--by", "version", "--format", "json", "--top", "1", "--consistent", "--period", "7") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["n"], document["dimension"], document["min_cell"]) == (410, "version", 50)
    assert (document["held_back"], document["periods"]) == (["other"], [7])
    assert [(row["cell"], row["n"]) for row in document["rows"]] == [("1.0", 300), ("1.1", 100)]
    assert list(document["rows"][0]) == [*COLUMNS, "consistent"]
    assert document["correction"] == "holm"


def test_table(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table is headed by the dimension's own name."""
    assert run(decode, data, "--by", "version") == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[1] == "by version: 2 shown, 1 held back"
    assert lines[3].split()[:3] == ["version", "n", "value"]


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_binary(data: Path, capfdbinary: pytest.CaptureFixture[bytes], form: str) -> None:
    """Parquet and Arrow hold the same columns, and the rest as metadata."""
    assert run(decode, data, "--by", "version", "--format", form) == 0
    out = capfdbinary.readouterr().out
    table = pq.read_table(pa.BufferReader(out)) if form == "parquet" else pa.ipc.open_stream(out).read_all()
    assert table.column_names == COLUMNS
    assert table["cell"].to_pylist() == ["1.0"] * 5 + ["1.1"] * 5
    assert json.loads(table.schema.metadata[b"hubbub"])["held_back"] == ["other"]


def test_where(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--where gives one cell in every usual output, with a note that says so, and the same from a cache."""
    said = []
    for cache in ((), ("--cache",), ("--cache",)):
        assert run(decode, data, "--where", "version=1.1", "--format", "json", *cache) == 0
        said.append(json.loads(capsys.readouterr().out))
    assert said[0]["n"] == 190
    assert said[0]["notes"][0] == "only reports whose version is 1.1"
    assert said[0] == said[1] == said[2]


def test_a_mean_is_split_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A metric that gives a mean has one row a cell."""
    sealed_folder(tmp_path, split_metric(tmp_path, "one-bit-mean"), (300, 100, 10))
    assert run(decode, tmp_path, "--by", "version", "--format", "json") == 0
    document = json.loads(capsys.readouterr().out)
    assert [(row["cell"], row["n"]) for row in document["rows"]] == [("1.0", 300), ("1.1", 100)]
    assert "mean" in document["rows"][0]
    assert "alpha" not in document
    assert run(decode, tmp_path, "--by", "version") == 0


def test_trend(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """hubbub trend reads all cells, or one; --compare tests one cell's change from period to period."""
    assert run(trend, data, "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["n"] == 720
    assert run(trend, data, "--format", "json", "--where", "version=1.0") == 0
    assert json.loads(capsys.readouterr().out)["n"] == 500
    assert run(trend, data, "--where", "version=1.0", "--plot", str(data / "x.svg")) == 0
    assert "<!-- m: version is 1.0 -->" in (data / "x.svg").read_text()
    capsys.readouterr()
    assert run(trend, data, "--where", "version=1.0", "--compare", "7", "8") == 0
    assert "n = 300" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        (["--by", "country"], EstimateError, "'country'"),
        (["--where", "country=DE"], EstimateError, "'country'"),
        (["--where", "version=9"], EstimateError, "there are: 1.0, 1.1, other"),
        (["--where", "version=other"], HeldBackError, "held back"),
    ],
)
def test_what_is_asked_wrongly_is_refused(
    data: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], error: type[Exception], said: str
) -> None:
    """Another name, another value, and a cell that is too small end with what to do, and nothing on stdout."""
    with pytest.raises(error, match=said):
        run(decode, data, *arguments)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("arguments", [["--where", "version"], ["--by", "version", "--where", "version=1.1"]])
def test_what_is_no_question_is_a_usage_error(
    data: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    """A where without a value, and both at once, are refused by the parser."""
    with pytest.raises(SystemExit):
        run(decode, data, *arguments)
    assert "--where" in capsys.readouterr().err
