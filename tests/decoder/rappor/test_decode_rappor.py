"""``hubbub decode-rappor``: google/rappor's three files, and what is wrong with some."""

from __future__ import annotations

import csv
import io
import json
import os
from fractions import Fraction
from math import log
from pathlib import Path

import numpy as np
import pytest

from hubbub_decoder import CandidateError, EstimateError
from hubbub_decoder.commands import decode_rappor
from hubbub_decoder.errors import InputFileError, OutputError
from hubbub_decoder.rappor import bloom
from hubbub_decoder.rappor.google import decode_files
from hubbub_decoder.rappor.google_files import Parameters, read_parameters

from tests.commands import run_command

K, H, M = 8, 2, 16
PER_COHORT = 1 << 20
# Shares out of 8; nobody holds the last three.
HOLDERS = {"first": 4, 'a "quoted", text': 2, "é": 1, "": 1, "none": 0, "nobody": 0, "e\u0301": 0}


def write(folder: Path, params: str = "0.5,0.75,0.5", per_cohort: int = PER_COHORT) -> tuple[Path, Path, Path]:
    """The three files, in the formats of google/rappor's tools, with the bit counts that are expected."""
    rng = np.random.default_rng(3)
    places = rng.integers(0, K, (len(HOLDERS), M, H))
    p, q, f = (float(part) for part in params.split(","))
    one, zero = f / 2 * (p + q) + (1 - f) * q, f / 2 * (p + q) + (1 - f) * p
    paths = folder / "params.csv", folder / "counts.csv", folder / "map.csv"
    paths[0].write_text(f"k,h,m,p,q,f\n{K},{H},{M},{params}\n")
    with paths[1].open("w", newline="") as file:
        for cohort in range(M):
            held = np.zeros(K)
            for row, share in enumerate(HOLDERS.values()):
                held[np.unique(places[row, cohort])] += share / 8
            csv.writer(file).writerow([per_cohort, *(round(per_cohort * (zero + (one - zero) * at)) for at in held)])
    with paths[2].open("w", newline="") as file:
        for row, value in enumerate(HOLDERS):
            bits = (places[row] + np.arange(M)[:, np.newaxis] * K + 1).ravel()
            csv.writer(file).writerow([value, *bits])
    return paths


def run(folder: Path, *arguments: str) -> int:
    named = [f"--{name}={folder / f'{name}.csv'}" for name in ("params", "counts", "map")]
    return run_command(decode_rappor, [*named, *arguments])


def test_expected_counts_give_the_truth(tmp_path: Path) -> None:
    """From exactly the expected counts every value gets its true share; texts stay as the map has them."""
    estimates = decode_files(*write(tmp_path))
    found = dict(zip(estimates.value, estimates.frequency, strict=True))
    assert found == pytest.approx({value: share / 8 for value, share in HOLDERS.items()}, abs=1e-4)
    assert estimates.n == M * PER_COHORT
    assert estimates.notes == ()


def test_epsilon_is_the_papers() -> None:
    """The header's epsilon is the paper's h ln(q*(1-p*)/(p*(1-q*))), 1.0743 for its Windows processes; exactly."""
    windows = Parameters(128, 2, 8, Fraction(1, 2), Fraction(3, 4), Fraction(1, 2))
    assert windows.ratio == Fraction(11 * 7, 9 * 5) ** 2
    assert log(windows.ratio) == pytest.approx(1.0743, abs=1e-4)
    swapped = Parameters(128, 2, 8, Fraction(3, 4), Fraction(1, 2), Fraction(1, 2))
    assert swapped.ratio == windows.ratio


def test_formats(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Table, CSV and JSON hold the same rows as ``hubbub decode``, and the diagnostics beside them."""
    write(tmp_path)
    assert run(tmp_path, "--format", "csv", "--consistent", "--top", "2") == 0
    out, err = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["value"] for row in rows] == ["first", 'a "quoted", text']
    assert float(rows[0]["consistent"]) == pytest.approx(M * PER_COHORT / 2, rel=0.01)
    assert "variance of the bits' shares: explained" in err
    assert "not allocated to candidates" in err
    assert run(tmp_path, "--format", "json", "--correction", "bh", "--alpha", "0.1") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["mechanism"] == "rappor"
    assert document["correction"] == "bh"
    parts = document["diagnostics"]
    assert parts["explained_variance"] > 100 * abs(parts["noise_variance"])
    assert abs(parts["missing_variance"]) <= parts["noise_variance"]
    assert abs(parts["unallocated"]) < 4 * parts["unallocated_std_error"]
    assert run(tmp_path) == 0
    assert "counts.csv: n = 16,777,216 reports" in capsys.readouterr().out


def test_basic_rappor_and_a_boolean(tmp_path: Path) -> None:
    """A bit a value (one hash, one cohort), as basic RAPPOR has it, and one bit alone, decode by their own bits."""
    (tmp_path / "params.csv").write_text("k,h,m,p,q,f\n3,1,1,0.25,0.75,0\n")
    (tmp_path / "counts.csv").write_text("1000,500,300,250\n")
    (tmp_path / "map.csv").write_text("a,1\nb,2\nc,3\n")
    basic = decode_files(*(tmp_path / f"{name}.csv" for name in ("params", "counts", "map")))
    assert dict(zip(basic.value, basic.count, strict=True)) == pytest.approx({"a": 500, "b": 100, "c": 0})
    (tmp_path / "params.csv").write_text("k,h,m,p,q,f\n1,1,1,0.25,0.75,0\n")
    (tmp_path / "map.csv").write_text("yes,1\n")
    for ones, count in ((250, 0), (500, 500), (750, 1000)):
        (tmp_path / "counts.csv").write_text(f"1000,{ones}\n")
        boolean = decode_files(*(tmp_path / f"{name}.csv" for name in ("params", "counts", "map")))
        assert boolean.count == pytest.approx([count])
        assert (boolean.low < count + 1e-6).all()
        assert (boolean.high > count - 1e-6).all()


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("params", "k,h,m", "k,m,h", "line 1: the first row is not k,h,m,p,q,f"),
        ("params", "8,2,16", "8,2", "one row of six numbers"),
        ("params", "8,2,16", "8,2,0", "m is '0'"),
        ("params", "8,2,16", "8.5,2,16", "k is '8.5'"),
        ("params", "0.5,0.75", "0.5,1.75", "q is '1.75'"),
        ("params", "0.5,0.75", "nan,0.75", "p is 'nan'"),
        ("params", "0.5,0.75", "0.75,0.75", "with p = q reports do not depend on values"),
        ("params", "0.75,0.5", "0.75,1", "with f = 1 reports do not depend on values"),
        ("params", "0.75,0.5", "0.75,0.9999999999999999", "changes the chance of a reported 1 by 2.5e-17 only"),
        ("params", "0.5,0.75,0.5", "1e-300,2e-300,0", "changes the chance of a reported 1 by 1e-300 only"),
        ("params", "0.5,0.75,0.5", "0,0.75,0", "epsilon is infinite"),
        ("params", "8,2,16", "1000000000000,2,16", "67,108,864 at most fit in memory"),
        ("params", "8,2,16", "8,1000000000000,16", "67,108,864 at most fit in memory"),
        ("params", "8,2,16", "8,2,1_6", "m is '1_6'"),
        ("params", "8,2,16", "9,2,16", "counts.csv, line 1: 9 columns, not k + 1 = 10"),
        ("params", "8,2,16", "8,2,17", "16 rows, not m = 17"),
        ("params", "8,2,16", "8,2,15", "line 16: there are more than m = 15 rows"),
        ("params", "8,2,16", "8,3,16", "map.csv, line 1: 33 columns, not h m + 1 = 49"),
        ("counts", f"{PER_COHORT},", f"{PER_COHORT},7,", "line 1: 10 columns, not k + 1 = 9"),
        ("counts", f"{PER_COHORT},", "-5,", "a count is '-5'"),
        ("counts", f"{PER_COHORT},", "5.0,", "a count is '5.0'"),
        ("counts", f"{PER_COHORT},", "1_0,", "a count is '1_0'"),
        ("counts", f"{PER_COHORT},", "12,", "of 12 reports"),
        ("map", "first,", "é,", "'é' repeats line 1"),
        ("map", "first,", "first,0,", "34 columns"),
        ("map", "nobody,", "nobody,1.5,", "34 columns"),
        ("map", "none", '"none', "is not CSV"),
    ],
)
def test_bad_files(tmp_path: Path, file: str, old: str, new: str, says: str) -> None:
    """Each fault is an InputFileError that names the file, the line, and what a row should hold."""
    write(tmp_path)
    path = tmp_path / f"{file}.csv"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputFileError) as caught:
        run(tmp_path)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("cell", "says"), [("9", "column 2 is 9; a bit of its cohort is 1 to 8"), ("x", "not a whole")]
)
def test_bits_outside_their_cohort(tmp_path: Path, cell: str, says: str) -> None:
    """A map made for other parameters, or with bits counted from 0 in each cohort, is refused and not misread."""
    *_, path = write(tmp_path)
    rows = list(csv.reader(path.read_text().splitlines()))
    rows[0][1] = cell
    path.write_text("\n".join(",".join(row) for row in rows if '"' not in row[0]) + "\n")
    with pytest.raises(InputFileError, match=says):
        run(tmp_path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    """A missing file, a folder, another encoding, and files that are empty or hold blank lines only are told apart."""
    paths = write(tmp_path)
    for path in paths:
        kept = path.read_bytes()
        path.unlink()
        with pytest.raises(InputFileError, match="no such file"):
            run(tmp_path)
        path.mkdir()
        with pytest.raises(InputFileError, match="cannot be read"):
            run(tmp_path)
        path.rmdir()
        path.write_bytes(b"\xff\xfe")
        with pytest.raises(InputFileError, match="UTF-8"):
            run(tmp_path)
        path.write_bytes(b"\n \n")
        with pytest.raises(InputFileError, match=path.name):
            run(tmp_path)
        path.write_bytes(kept)
    assert read_parameters(paths[0]).cohorts == M


def test_no_reports(tmp_path: Path) -> None:
    """Counts that are all 0 are an error; one report alone decodes, with an error as large as it must be."""
    _, path, _ = write(tmp_path)
    path.write_text("\n".join([",".join("0" * (K + 1))] * M))
    with pytest.raises(InputFileError, match="no cohort has a report"):
        run(tmp_path)
    path.write_text("\n".join(["1,1,0,0,0,1,0,0,0", *[",".join("0" * (K + 1))] * (M - 1)]))
    estimates = decode_files(tmp_path / "params.csv", path, tmp_path / "map.csv")
    assert np.isfinite(estimates.count).all()
    assert (estimates.std_error > 1).all()


def test_other_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels outside (0, 1), maps that memory cannot hold, and a full disk each have their own error."""
    write(tmp_path)
    for option in ("--level", "--alpha"):
        with pytest.raises(EstimateError, match=option):
            run(tmp_path, option, "1")
    with pytest.raises(SystemExit):
        run(tmp_path, "--top", "0")
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        with pytest.raises(OutputError, match="No space left"):
            run(tmp_path, "--format", "csv")
        monkeypatch.undo()
        os.dup2(os.open(os.devnull, os.O_WRONLY), full.fileno())  # so that closing it can flush
    monkeypatch.setattr(bloom, "MAX_PLACES", 3 * H * M)
    with pytest.raises(CandidateError, match="3 are as many as can be decoded"):
        run(tmp_path)
