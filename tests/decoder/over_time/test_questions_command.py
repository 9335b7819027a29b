"""``hubbub trend`` of quantiles, ranges and pairs, from the outside."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub_client.errors import HubbubError
from hubbub_decoder import CandidateError, EstimateError
from hubbub_decoder.commands import trend

from tests.commands import run_on
from tests.decoder.over_time.questions import sealed

hubbub_trend = partial(run_on, trend)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two days of numbers and of pairs."""
    folder = tmp_path_factory.mktemp("questions")
    sealed(folder)
    (folder / "list.txt").write_text("a\n")
    return folder


@pytest.mark.parametrize(
    ("asked", "columns", "first"),
    [
        (["age", "--quantiles", "0.5", "0.9"], ["probability", "quantile"], "0.5"),
        (["age", "--ranges", "0:16", "16:32"], ["range", "frequency"], "0..15"),
        (["pair"], ["first", "second", "frequency"], "a"),
    ],
)
@pytest.mark.parametrize("compare", [False, True])
def test_every_question_in_every_format(
    data: Path, capfdbinary: pytest.CaptureFixture[bytes], asked: list[str], columns: list[str], first: str,
    compare: bool,
) -> None:  # fmt: skip
    """Quantiles, ranges and pairs have a row for each period, or one that compares two, in every format alike."""
    *labels, figure = columns
    expected = [*labels, "period", "begins", "n", figure, "std_error", "low", "high"]
    options = []
    if compare:
        expected = [*labels, "before", "after", "difference", "std_error", "low", "high", "p_value", "significant"]
        options = ["--compare", "2026-11-30", "2026-12-01"]
    errors = {}
    for form in ("csv", "json", "parquet", "arrow"):
        assert hubbub_trend(data, *asked, *options, "--format", form) == 0
        out = capfdbinary.readouterr().out
        if form == "csv":
            rows = list(csv.DictReader(io.StringIO(out.decode())))
            assert list(rows[0]) == expected
            assert first in {row[labels[0]] for row in rows}
            errors[form] = [float(row["std_error"]) for row in rows]
        elif form == "json":
            errors[form] = [row["std_error"] for row in json.loads(out)["rows"]]
        else:
            table = pq.read_table(io.BytesIO(out)) if form == "parquet" else pa.ipc.open_stream(out).read_all()
            assert table.column_names == expected
            errors[form] = table["std_error"].to_pylist()
    assert errors["csv"] == errors["json"] == errors["parquet"] == errors["arrow"]
    assert hubbub_trend(data, *asked, *options) == 0
    out = capfdbinary.readouterr().out
    assert all(name.encode() in out for name in expected)


def test_quantiles_plot(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--quantiles with --plot draws beside the table, which shows probabilities and integers as they are."""
    assert hubbub_trend(data, "age", "--quantiles", "0.5", "--plot", str(data / "age.png")) == 0
    assert (data / "age.png").read_bytes()[:4] == b"\x89PNG"
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[:2] for row in rows if row and row[0] == "0.5"] == [["0.5", "20787"], ["0.5", "20788"]]


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (["letter", "--quantiles", "0.5"], EstimateError, "neither quantiles nor ranges"),
        (["pair", "--ranges", "0:5"], EstimateError, "neither quantiles nor ranges"),
        (["age", "--quantiles", "1.5"], EstimateError, "not strictly between 0 and 1"),
        (["age", "--ranges", "0:99"], EstimateError, "leaves the metric's own"),
        (["age", "--quantiles", "0.5", "--candidates", "list.txt"], EstimateError, "--candidates"),
        (["letter", "--second-candidates", "list.txt"], CandidateError, "--second-candidates"),
        (["pair", "--candidates", "list.txt"], CandidateError, "reports nothing but its 3 values"),
        (["pair", "--compare", "20787", "20788", "--plot", "x.png"], EstimateError, "leave one"),
    ],
)
def test_questions_that_have_no_answer(
    data: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], error: type[HubbubError], says: str
) -> None:
    """Each is refused by its own type before anything is read, and says what to do."""
    monkeypatch.chdir(data)
    with pytest.raises(error) as caught:
        hubbub_trend(data, *arguments)
    assert says in str(caught.value)
