"""``hubbub decode`` from the outside."""

from __future__ import annotations

import argparse
import csv
import io
import json
from pathlib import Path

import pytest

from hubbub_client.errors import HubbubError
from hubbub_decoder import CandidateError, EstimateError
from hubbub_decoder.commands import decode
from hubbub_registry import RegistryError
from hubbub_registry.errors import DatasetError

from tests.decoder.reports import encode, seal
from tests.registries import registry_of, write_registry

COLUMNS = ["value", "count", "frequency", "std_error", "low", "high", "p_value", "significant"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A registry with a closed and an open metric, both with sealed reports of two periods."""
    registry = registry_of(
        tmp_path,
        closed={"mechanism": "randomized-response", "epsilon": 4},
        open={"mechanism": "hadamard-count-mean-sketch", "epsilon": 4},
    )
    for name in ("closed", "open"):
        metric = registry.metric(name)
        for period in (7, 8):
            seal(tmp_path, metric, encode(metric, ["a"] * 300 + ["b"] * 100, period), period=period)
    (tmp_path / "list.txt").write_text("a\n\nb\n[c]\n")
    return tmp_path


def hubbub_decode(folder: Path, *arguments: str) -> int:
    parser = argparse.ArgumentParser()
    decode.add_arguments(parser)
    return decode.run(parser.parse_args([str(folder / "registry.toml"), *arguments, "--data", str(folder)]))


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
        (["closed", "--level", "95"], EstimateError, "--level"),
        (["closed", "--alpha", "0"], EstimateError, "--alpha"),
        (["closed", "--period", "99"], DatasetError, "7, 8"),
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
