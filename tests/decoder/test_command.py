"""``hubbub decode`` from the outside."""

from __future__ import annotations

import csv
import io
import json
import os
from functools import partial
from pathlib import Path

import pytest

from hubbub_client.errors import HubbubError
from hubbub_decoder import CandidateError, EstimateError
from hubbub_decoder.commands import decode
from hubbub_decoder.errors import OutputError
from hubbub_registry import RegistryError
from hubbub_registry.errors import DatasetError

from tests.commands import run_on
from tests.decoder.reports import encode, seal
from tests.registries import registry_of, write_registry

COLUMNS = ["value", "count", "frequency", "std_error", "low", "high", "p_value", "significant"]


hubbub_decode = partial(run_on, decode)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A registry with a closed and an open metric, both with sealed reports of two periods."""
    registry = registry_of(
        tmp_path,
        closed={"mechanism": "randomized-response", "epsilon": 4},
        open={"mechanism": "hadamard-count-mean-sketch", "epsilon": 4},
        mean={"mechanism": "one-bit-mean", "epsilon": 2},
        buckets={"mechanism": "d-bit-flip", "epsilon": 2},
    )
    for name in ("closed", "open"):
        metric = registry.metric(name)
        for period in (7, 8):
            seal(tmp_path, metric, encode(metric, ["a"] * 300 + ["b"] * 100, period), period=period)
    for name in ("mean", "buckets"):
        metric = registry.metric(name)
        seal(tmp_path, metric, encode(metric, ["7"] * 300 + ["57"] * 100, 3), period=7)
    (tmp_path / "list.txt").write_text("a\n\nb\n[c]\n")
    return tmp_path


def test_csv(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CSV on stdout is a header row and a row a value, most frequent first; the figures' header is on stderr."""
    assert hubbub_decode(data, "closed", "--format", "csv") == 0
    out, err = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == COLUMNS
    assert [row["value"] for row in rows][:2] == ["a", "b"]
    assert len(rows) == 5
    assert float(rows[0]["low"]) < 600 < float(rows[0]["high"])
    assert rows[0]["significant"] == "true"
    assert "n = 800 reports, randomized-response, epsilon = 3.99" in err


def test_json(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON is one document with n, mechanism, exact epsilon, periods, and the same columns in every row."""
    assert hubbub_decode(data, "closed", "--format", "json", "--consistent", "--level", "0.9") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["n"], document["mechanism"], document["periods"]) == (800, "randomized-response", [7, 8])
    assert document["level"] == 0.9
    assert document["exact"][0] / document["exact"][1] == pytest.approx(54.598, rel=1e-2)
    assert list(document["rows"][0]) == [*COLUMNS, "consistent"]
    assert sum(row["consistent"] for row in document["rows"]) == pytest.approx(800)
    assert sum(row["count"] for row in document["rows"]) == pytest.approx(800)


def test_table(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table has the header line and the rows, markup in a value printed as it is."""
    assert hubbub_decode(data, "open", "--candidates", str(data / "list.txt")) == 0
    out = capsys.readouterr().out
    assert out.startswith("open: n = 800 reports, hadamard-count-mean-sketch")
    assert "[c]" in out


def test_a_table_is_never_cut(data: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal narrower than the table every row is still one line with every figure whole."""
    monkeypatch.setenv("COLUMNS", "30")
    assert hubbub_decode(data, "closed", "--consistent") == 0
    lines = [
        line for line in capsys.readouterr().out.splitlines() if line.split()[:1] in [[value] for value in "abcde"]
    ]
    assert len(lines) == 5
    assert all(len(line.split()) == 9 for line in lines)


def test_a_mean(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A mean is one row: mean, std_error, low, high, and consistent where asked for; in JSON nothing of tests."""
    assert hubbub_decode(data, "mean", "--format", "csv", "--consistent") == 0
    out, err = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [list(row) for row in rows] == [["mean", "std_error", "low", "high", "consistent"]]
    assert float(rows[0]["low"]) < 19.5 < float(rows[0]["high"])
    assert "n = 400 reports, one-bit-mean, epsilon = 1.99" in err
    assert hubbub_decode(data, "mean", "--format", "json", "--level", "0.5") == 0
    document = json.loads(capsys.readouterr().out)
    assert list(document) == [
        "metric",
        "mechanism",
        "n",
        "epsilon",
        "exact",
        "periods",
        "level",
        "notes",
        "suspicious",
        "rows",
    ]
    assert [list(row) for row in document["rows"]] == [["mean", "std_error", "low", "high"]]
    assert float(rows[0]["low"]) < document["rows"][0]["low"]
    assert hubbub_decode(data, "mean") == 0
    header, *table = capsys.readouterr().out.splitlines()
    assert header.startswith("mean: n = 400 reports")
    assert next(line.split() for line in table if line.strip()) == ["mean", "std_error", "low", "high"]
    assert len(table[-1].split() or table[-2].split()) == 4


def test_buckets(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """d-bit flip has a row a bucket, named by its first and last integer; a list of candidates picks some."""
    assert hubbub_decode(data, "buckets", "--format", "json") == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["value"] for row in rows} == {"0..19", "20..39", "40..59", "60..79", "80..99"}
    assert list(rows[0]) == COLUMNS
    (data / "some.txt").write_text("40..59\n")
    assert hubbub_decode(data, "buckets", "--format", "json", "--candidates", str(data / "some.txt")) == 0
    assert [row["value"] for row in json.loads(capsys.readouterr().out)["rows"]] == ["40..59"]


def test_top_and_period(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--top limits the rows printed, --period what is read."""
    assert hubbub_decode(data, "closed", "--format", "json", "--top", "2", "--period", "8") == 0
    document = json.loads(capsys.readouterr().out)
    assert (len(document["rows"]), document["n"], document["periods"]) == (2, 400, [8])


def test_alpha_and_correction(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A stricter alpha names no more values than a loose one."""
    named = []
    for alpha in ("1e-9", "0.9"):
        hubbub_decode(data, "closed", "--format", "json", "--alpha", alpha, "--correction", "none")
        named.append(sum(row["significant"] for row in json.loads(capsys.readouterr().out)["rows"]))
    assert 0 < named[0] < named[1]


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (["open"], CandidateError, "--candidates"),
        (["open", "--candidates", "none.txt"], CandidateError, "none.txt"),
        (["open", "--candidates", "latin.txt"], CandidateError, "UTF-8"),
        (["open", "--candidates", "twice.txt"], CandidateError, "twice.txt"),
        (["open", "--candidates", "empty.txt"], CandidateError, "no candidates"),
        (["closed", "--candidates", "list.txt"], CandidateError, "[c]"),
        (["closed", "--candidates", "empty.txt"], CandidateError, "leave the list out for all of them"),
        (["buckets", "--candidates", "list.txt"], CandidateError, "its 5 buckets"),
        (["mean", "--candidates", "list.txt"], CandidateError, "gives a mean"),
        (["closed", "--level", "95"], EstimateError, "--level"),
        (["closed", "--alpha", "0"], EstimateError, "--alpha"),
        (["closed", "--period", "99"], DatasetError, "7 (1970-01-08), 8 (1970-01-09)"),
        (["closed", "--period", "8", "99"], DatasetError, "period 99 is not sealed"),
        (["closed", "--period", "2026-11-30"], DatasetError, "period 2026-11-30 is not sealed"),
        (["absent"], RegistryError, "absent"),
    ],
)
def test_bad_input(
    data: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], error: type[HubbubError], says: str
) -> None:
    """Each mistake is its own typed error, with what to do in the message."""
    monkeypatch.chdir(data)
    (data / "latin.txt").write_bytes(b"a\n\xff\n")
    (data / "twice.txt").write_text("a\na\n")
    (data / "empty.txt").write_text("\n")
    with pytest.raises(error) as caught:
        hubbub_decode(data, *arguments)
    assert says in str(caught.value)


def test_a_metric_with_no_sealed_batch(tmp_path: Path) -> None:
    """The error says to seal."""
    write_registry(tmp_path / "registry.toml", {"m": {"mechanism": "randomized-response"}})
    with pytest.raises(DatasetError, match="hubbub seal"):
        hubbub_decode(tmp_path, "m")


def test_only_empty_parts(tmp_path: Path) -> None:
    """Sealed parts without a record are an EstimateError, not a table."""
    metric = registry_of(tmp_path, m={"mechanism": "randomized-response"}).metric("m")
    seal(tmp_path, metric, encode(metric, ["a"], 1)[:0])
    with pytest.raises(EstimateError, match="no reports"):
        hubbub_decode(tmp_path, "m")


def test_dates_name_periods(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A date is the period that it is in; what is neither a number nor a date is wrong usage."""
    metric = registry_of(tmp_path, m={"mechanism": "randomized-response"}).metric("m")
    for period in (20787, 20788):
        seal(tmp_path, metric, encode(metric, ["a"] * 10, period), period=period)
    assert hubbub_decode(tmp_path, "m", "--format", "json", "--period", "2026-11-30") == 0
    assert json.loads(capsys.readouterr().out)["periods"] == [20787]
    with pytest.raises(SystemExit):
        hubbub_decode(tmp_path, "m", "--period", "yesterday")
    assert "2026-11-30" in capsys.readouterr().err


def test_json_says_nothing_on_stderr(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where stderr is no terminal there is no progress bar, nor a line in its place."""
    assert hubbub_decode(data, "closed", "--format", "json") == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("form", ["csv", "json", "table"])
def test_a_full_disk(data: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """An output that cannot be written is an OutputError that names standard output."""
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        with pytest.raises(OutputError, match="standard output: No space left on device"):
            hubbub_decode(data, "closed", "--format", form)
        monkeypatch.undo()
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())  # so that closing it can flush


def test_notes_are_printed(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What the data's notes say is on stderr beside a table, and in the document in JSON."""
    metric = registry_of(data, closed={"mechanism": "randomized-response", "epsilon": 5}).metric("closed")
    seal(data, metric, encode(metric, ["a"] * 10, 1), period=7)
    assert hubbub_decode(data, "closed") == 0
    assert "note: 800 records" in capsys.readouterr().err
    assert hubbub_decode(data, "closed", "--format", "json") == 0
    (note,) = json.loads(capsys.readouterr().out)["notes"]
    assert note.startswith("800 records")
