"""``hubbub decode --by`` of pairs, quantiles and ranges, and ``hubbub discover --by``, from the outside."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub_client.errors import HubbubError
from hubbub_decoder import (
    CandidateError,
    EstimateError,
)
from hubbub_decoder.commands import decode, discover

from tests.commands import run_on
from tests.decoder.split.cells import sealed_cells


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sealed_cells(tmp_path_factory.mktemp("cells")).path.parent


@pytest.mark.parametrize(
    ("asked", "columns"),
    [
        (["pair"], ["first", "second", "count"]),
        (["age"], ["probability", "quantile"]),
        (["age", "--quantiles", "0.5"], ["probability", "quantile"]),
        (["age", "--ranges", "0:16"], ["range", "count"]),
        (["age", "--histogram"], ["value", "count"]),
        (["words"], ["value", "count"]),
    ],
)
def test_every_format(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes], asked: list[str], columns: list[str]
) -> None:
    """CSV, JSON, Parquet, Arrow and a table have the cell and its n, then the columns of the metric's own result."""
    command = discover if asked[0] == "words" else decode
    errors = {}
    for form in ("csv", "json", "parquet", "arrow"):
        assert run_on(command, folder, *asked, "--by", "version", "--format", form) == 0
        out = capfdbinary.readouterr().out
        if form == "csv":
            found = list(csv.DictReader(io.StringIO(out.decode())))
            assert list(found[0])[: len(columns) + 2] == ["cell", "n", *columns]
            assert list(dict.fromkeys(row["cell"] for row in found)) == ["1.0", "1.1"]
            errors[form] = [float(row["std_error"]) for row in found]
        elif form == "json":
            document = json.loads(out)
            assert (document["dimension"], document["held_back"]) == ("version", ["other"])
            errors[form] = [row["std_error"] for row in document["rows"]]
        else:
            table = pq.read_table(io.BytesIO(out)) if form == "parquet" else pa.ipc.open_stream(out).read_all()
            assert table.column_names[: len(columns) + 2] == ["cell", "n", *columns]
            errors[form] = table["std_error"].to_pylist()
    assert errors["csv"] == errors["json"] == errors["parquet"] == errors["arrow"]
    assert run_on(command, folder, *asked, "--by", "version") == 0
    lines = [line.rstrip() for line in capfdbinary.readouterr().out.decode().splitlines()]
    end = lines.index("")
    assert max(map(len, lines[:end])) <= 120
    assert lines[end + 1].split()[: len(columns) + 2] == ["version", "n", *columns]


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (["letter", "--by", "version"], EstimateError, "no public dimension"),
        (["pair", "--by", "country"], EstimateError, "'country'"),
        (["pair", "--by", "version", "--consistent"], EstimateError, "column likeliest"),
        (["pair", "--by", "version", "--quantiles", "0.5"], EstimateError, "neither quantiles nor ranges"),
        (["age", "--by", "version", "--ranges", "0:99"], EstimateError, "leaves the metric's own"),
        (["age", "--by", "version", "--second-candidates", "x.txt"], CandidateError, "--second-candidates"),
    ],
)
def test_what_is_asked_wrongly_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str],
    error: type[HubbubError], says: str,
) -> None:  # fmt: skip
    """Each ends with its own error before anything is printed."""
    (folder / "x.txt").write_text("a\n")
    monkeypatch.chdir(folder)
    with pytest.raises(error, match=says):
        run_on(decode, folder, *arguments)
    assert capsys.readouterr().out == ""
