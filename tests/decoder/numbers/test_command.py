"""``hubbub decode`` and ``hubbub trend`` of a hierarchical histogram, from the outside."""

from __future__ import annotations

import csv
import io
import json
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub_decoder import ArgumentError, CandidateError, Dataset, EstimateError, decode_quantiles, decode_ranges
from hubbub_decoder.commands import decode, trend
from hubbub_decoder.decode import choose_candidates
from hubbub_registry import Metric, load_registry

from tests.commands import run_command, run_on
from tests.decoder.reports import encode, seal
from tests.registries import registry_of

QUANTILES = ["probability", "quantile", "std_error", "low", "high"]
RANGES = ["range", "count", "frequency", "std_error", "low", "high"]


hubbub_decode = partial(run_on, decode)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A registry with a hierarchical histogram and a list of values, and two sealed periods of the former."""
    folder = tmp_path_factory.mktemp("numbers")
    tree = {"mechanism": "hierarchical-histogram", "epsilon": 3, "low": 0, "high": 31, "buckets": 16, "levels": 2}
    registry = registry_of(folder, age=tree, letter={"mechanism": "randomized-response"})
    metric = registry.metric("age")
    for period in (7, 8):
        seal(folder, metric, encode(metric, ["3"] * 300 + ["20"] * 100, period), period=period)
    (folder / "list.txt").write_text("2..3\n20..21\n")
    return folder


def metric_in(folder: Path) -> Metric:
    return load_registry(folder / "registry.toml").metric("age")


def test_quantiles_are_the_default(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Five usual ones as a table, with the header; others where asked for, at any level, those of Python."""
    assert hubbub_decode(data, "age") == 0
    header, *table = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert header[:5] == ["age:", "n", "=", "800", "reports,"]
    assert table[0] == QUANTILES
    assert [row[0] for row in table[2:]] == ["0.05", "0.25", "0.5", "0.75", "0.95"]
    assert hubbub_decode(data, "age", "--format", "csv", "--level", "0.5", "--quantiles", "0.5", "0.9") == 0
    out, err = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == QUANTILES
    metric = metric_in(data)
    found = decode_quantiles(metric, Dataset(data, metric), [0.5, 0.9]).at_level(0.5)
    assert [int(row["low"]) for row in rows] == found.low.tolist()
    assert [int(row["quantile"]) for row in rows] == found.quantile.tolist()
    assert "n = 800 reports, hierarchical-histogram" in err


def test_ranges(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A row a range, in the order asked for, with what is not negative where asked for; a cut bucket is a note."""
    options = ["--ranges", "0:4", "20:22", "--ranges=3:9", "--consistent"]
    assert hubbub_decode(data, "age", *options, "--format", "csv") == 0
    out, err = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == [*RANGES, "consistent"]
    assert [row["range"] for row in rows] == ["0..3", "20..21", "2..7"]
    assert "note: range 3:9 cuts a bucket" in err
    metric = metric_in(data)
    found = decode_ranges(metric, Dataset(data, metric), [(0, 4), (20, 22)])
    assert [float(row["count"]) for row in rows[:2]] == pytest.approx(found.count.tolist())
    assert abs(float(rows[0]["count"]) - 600) < 6 * float(rows[0]["std_error"])


def test_json_and_tables_for_programs(data: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    """JSON has the header's figures and no test's; Parquet and Arrow have typed columns and the rest as metadata."""
    assert hubbub_decode(data, "age", "--format", "json", "--quantiles", "0.5", "--level", "0.9") == 0
    document = json.loads(capsysbinary.readouterr().out)
    assert set(document) == {
        "metric", "mechanism", "n", "epsilon", "exact", "periods", "level", "notes", "suspicious", "rows",
    }  # fmt: skip
    assert (document["n"], document["level"], document["periods"]) == (800, 0.9, [7, 8])
    assert [list(row) for row in document["rows"]] == [QUANTILES]
    assert hubbub_decode(data, "age", "--format", "parquet", "--ranges", "0:4", "8:32") == 0
    table = pq.read_table(io.BytesIO(capsysbinary.readouterr().out))
    assert table.column_names == RANGES
    assert [str(table.schema.field(name).type) for name in ("range", "count")] == ["string", "double"]
    assert json.loads(table.schema.metadata[b"hubbub"])["mechanism"] == "hierarchical-histogram"
    assert hubbub_decode(data, "age", "--format", "arrow", "--quantiles", "0.5") == 0
    stream = pa.ipc.open_stream(capsysbinary.readouterr().out).read_all()
    assert [str(stream.schema.field(name).type) for name in ("probability", "quantile")] == ["double", "int64"]


def test_the_histogram(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its buckets' counts where asked for, by itself or by a list of some of them."""
    assert hubbub_decode(data, "age", "--histogram", "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 16
    assert rows[0]["value"] == "2..3"
    assert hubbub_decode(data, "age", "--candidates", str(data / "list.txt"), "--format", "csv") == 0
    some = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert some == [row for row in rows if row["value"] in ("2..3", "20..21")]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["age", "--quantiles", "0.5", "1"], "quantile 1.0 is not strictly between 0 and 1"),
        (["age", "--ranges", "9:3"], "range 9:3 is empty"),
        (["age", "--ranges", "0:33"], "leaves the metric's own, 0:32"),
        (["age", "--ranges", "2:3"], "small part of the bucket 2:4"),
        (["age", "--quantiles", "0.5", "--candidates", "list.txt"], "--candidates: it is for counts of buckets"),
        (["letter", "--quantiles", "0.5"], "randomized-response gives neither quantiles nor ranges"),
        (["letter", "--histogram"], "randomized-response gives neither quantiles nor ranges"),
    ],
)
def test_questions_that_cannot_be_answered(
    data: Path, arguments: list[str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is an error that says what is wrong, and nothing is printed."""
    monkeypatch.chdir(data)
    with pytest.raises(EstimateError, match=says):
        hubbub_decode(data, *arguments)


@pytest.mark.parametrize("text", ["5", "a:b", "1:", "0.5:2"])
def test_a_range_is_two_integers(data: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Anything else is refused as an argument, with an example."""
    with pytest.raises(SystemExit):
        hubbub_decode(data, "age", "--ranges", text)
    assert "is no range such as 0:100" in capsys.readouterr().err


def test_a_range_below_zero_looks_like_an_option(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where it stands by itself, and where there is none at all, the error says how it is written."""
    for words in (["--ranges", "-50:0"], ["--ranges"]):
        with pytest.raises(SystemExit):
            hubbub_decode(data, "age", *words)
        assert "takes an equals sign: --ranges=-50:0" in capsys.readouterr().err


def test_a_candidate_that_is_no_bucket(data: Path) -> None:
    """The error counts such candidates, names the first, and shows how a bucket is written."""
    metric = metric_in(data)
    with pytest.raises(CandidateError, match=r"2 of the .* not among its 16 buckets, the first is '100'") as caught:
        choose_candidates(metric, ["100", "2..9", "2..3"])
    assert "write buckets as they are named: '0..1'" in str(caught.value)


def test_python_checks_its_question_before_reading(data: Path) -> None:
    """What is no question is refused by its own type, whatever the data; another metric's data is refused, too."""
    metric = metric_in(data)
    dataset = Dataset(data, metric)
    with pytest.raises(ArgumentError, match="pass"):
        decode_quantiles(metric, dataset, 0.5)  # type: ignore[arg-type]
    with pytest.raises(EstimateError, match="is empty"):
        decode_ranges(metric, dataset, [(3, 3)])
    with pytest.raises(ArgumentError, match="not a Dataset"):
        decode_quantiles(metric, "data")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="not a Dataset"):
        decode_ranges(metric, "data", [(0, 1)])  # type: ignore[arg-type]


def test_over_time_buckets_are_followed(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``hubbub trend`` has a row for each bucket named and period, and compares two periods' buckets."""
    common = [str(data / "registry.toml"), "age", "--data", str(data), "--candidates", str(data / "list.txt")]
    assert run_command(trend, [*common, "--format", "csv"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["value"], row["period"]) for row in rows[:2]] == [("2..3", "7"), ("2..3", "8")]
    assert run_command(trend, [*common, "--compare", "7", "8", "--format", "csv"]) == 0
    changes = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["significant"] for row in changes} == {"false"}
