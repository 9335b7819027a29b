"""``hubbub trend`` from the outside."""

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
from hubbub_decoder.errors import DecodeError, OutputError
from hubbub_registry.errors import DatasetError

from tests.commands import run_on
from tests.decoder.reports import encode, seal
from tests.registries import registry_of

hubbub_trend = partial(run_on, trend)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two days: half of the holders of a turn to b."""
    registry = registry_of(
        tmp_path,
        closed={"mechanism": "randomized-response", "epsilon": 4},
        open={"mechanism": "hadamard-count-mean-sketch", "epsilon": 4},
        mean={"mechanism": "one-bit-mean", "epsilon": 2},
        hourly={"mechanism": "randomized-response", "epsilon": 4, "period": "12h"},
    )
    for name in ("closed", "open"):
        metric = registry.metric(name)
        for period, a in ((20787, 400), (20788, 200)):
            seal(tmp_path, metric, encode(metric, ["a"] * a + ["b"] * (600 - a), period), period=period)
    metric = registry.metric("mean")
    for period, value in ((20787, "7"), (20788, "77")):
        seal(tmp_path, metric, encode(metric, [value] * 300, period), period=period)
    metric = registry.metric("hourly")
    for period in range(41574, 41578):
        seal(tmp_path, metric, encode(metric, ["a"] * 100, period), period=period)
    (tmp_path / "list.txt").write_text("a\nb\n[c]\n")
    return tmp_path


def test_csv(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CSV on stdout has a row for each value and period; the header is on stderr."""
    assert hubbub_trend(data, "closed", "--format", "csv") == 0
    out, err = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 10
    assert list(rows[0]) == ["value", "period", "begins", "n", "frequency", "std_error", "low", "high"]
    assert [row["begins"] for row in rows[:2]] == ["2026-11-30", "2026-12-01"]
    assert "closed: n = 1,200 reports" in err
    assert "2 periods" in err


def test_json(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON is one document with what the figures are of, and the same rows; simultaneous bands are wider."""
    width = []
    for extra in ([], ["--simultaneous"]):
        assert hubbub_trend(data, "open", "--candidates", str(data / "list.txt"), "--format", "json", *extra) == 0
        document = json.loads(capsys.readouterr().out)
        assert (document["metric"], document["n"], document["periods"]) == ("open", 1200, [20787, 20788])
        assert document["period_seconds"] == 86400
        width.append(document["rows"][0]["high"] - document["rows"][0]["low"])
    assert width[1] > width[0]


def test_table(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table shows per cent, markup in a value as it is, and as many values as asked for."""
    assert hubbub_trend(data, "open", "--candidates", str(data / "list.txt")) == 0
    out = capsys.readouterr().out
    assert "[c]" in out
    assert "%" in out
    assert hubbub_trend(data, "open", "--candidates", str(data / "list.txt"), "--top", "1") == 0
    assert "[c]" not in capsys.readouterr().out


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_binary(data: Path, capfdbinary: pytest.CaptureFixture[bytes], form: str) -> None:
    """Parquet and Arrow hold the same columns with their types, and the rest of the JSON as metadata."""
    assert hubbub_trend(data, "closed", "--format", form) == 0
    out = capfdbinary.readouterr().out
    table = pq.read_table(io.BytesIO(out)) if form == "parquet" else pa.ipc.open_stream(out).read_all()
    assert table.num_rows == 10
    assert table.schema.field("frequency").type == pa.float64()
    assert json.loads(table.schema.metadata[b"hubbub"])["periods"] == [20787, 20788]


def test_compare(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two days compare by date: the values that moved are significant, and so is that anything did."""
    days = ["--compare", "2026-11-30", "2026-12-01"]
    assert hubbub_trend(data, "closed", *days, "--format", "json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["names"] == ["2026-11-30", "2026-12-01"]
    assert document["periods"] == [[20787], [20788]]
    assert (document["mechanism"], document["n"]) == ("randomized-response", [600, 600])
    assert document["epsilon"] == [pytest.approx(4, rel=0.01)] * 2
    assert document["any_p_value"] < 1e-9
    assert {row["value"] for row in document["rows"] if row["significant"]} == {"a", "b"}
    assert hubbub_trend(data, "closed", *days, "--format", "csv", "--sampled", "--simultaneous", "--top", "1") == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert hubbub_trend(data, "closed", *days) == 0
    assert "change of frequency from 2026-11-30 (n = 600)" in capsys.readouterr().out
    assert hubbub_trend(data, "closed", "--compare", "20787", "20788") == 0
    assert "from 20787 (2026-11-30) (n = 600) to 20788 (2026-12-01) (n = 600)" in capsys.readouterr().out


def test_a_mean(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A mean has a row a period, and compares as one row."""
    assert hubbub_trend(data, "mean", "--format", "csv") == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head == "period,begins,n,mean,std_error,low,high"
    assert len(rows) == 2
    assert hubbub_trend(data, "mean", "--plot", str(data / "mean.svg")) == 0
    capsys.readouterr()
    assert hubbub_trend(data, "mean", "--compare", "20787", "20788", "--format", "json") == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["significant"] is True


def test_noise_that_repeats_widens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a device may report twice a period with one permanent noise, errors are bounds, and one note says so."""
    errors = []
    for often in (1, 2):
        keys = {"mechanism": "d-bit-flip", "epsilon": 2, "reports_per_period": often}
        metric = registry_of(tmp_path, buckets=keys).metric("buckets")
        for period in (7, 8):
            seal(tmp_path, metric, encode(metric, ["7"] * 200 + ["57"] * 100, period), period=period)
        assert hubbub_trend(tmp_path, "buckets", "--compare", "7", "8", "--format", "json") == 0
        document = json.loads(capsys.readouterr().out)
        errors.append({row["value"]: row["std_error"] for row in document["rows"]})
        bounds = [note for note in document["notes"] if "the errors are bounds" in note]
        assert len(bounds) == often - 1
        assert not any("too small" in note for note in document["notes"])
    assert min(errors[1][value] / errors[0][value] for value in errors[0]) > 1.2


def test_a_date_of_several_periods_is_pooled(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A day of two half-day periods compares as one."""
    assert hubbub_trend(data, "hourly", "--compare", "2026-11-30", "2026-12-01", "--format", "json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["n"] == [200, 200]
    assert document["periods"] == [[41574, 41575], [41576, 41577]]


def test_plot_and_cache(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--plot draws beside the table; --cache keeps a state a part in the data directory, or where it says."""
    assert hubbub_trend(data, "closed", "--plot", str(data / "trend.png"), "--cache") == 0
    assert (data / "trend.png").read_bytes()[:4] == b"\x89PNG"
    first = capsys.readouterr().out
    assert len(list((data / "states" / "closed").rglob("*.state"))) == 2
    assert hubbub_trend(data, "closed", "--cache", str(data / "kept")) == 0
    assert capsys.readouterr().out == first
    assert len(list((data / "kept").rglob("*.state"))) == 2


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (["open"], CandidateError, "--candidates"),
        (["mean", "--candidates", "list.txt"], CandidateError, "gives a mean"),
        (["closed", "--level", "95"], EstimateError, "--level"),
        (["closed", "--alpha", "0"], EstimateError, "--alpha"),
        (["closed", "--period", "99"], DatasetError, "20787 (2026-11-30)"),
        (["closed", "--compare", "99", "20787"], DatasetError, "period 99 is not sealed"),
        (["closed", "--compare", "2026-11-30", "20787"], EstimateError, "same period"),
        (["closed", "--compare", "20787", "20788", "--plot", "x.png"], EstimateError, "leave one"),
        (["closed", "--plot", "x.words"], DecodeError, ".png, .svg or .pdf"),
        (["closed", "--by", "version"], EstimateError, "--where NAME=VALUE of one cell"),
        (["closed", "--plot", "none/x.png"], OutputError, "--plot"),
    ],
)
def test_bad_input(
    data: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], error: type[HubbubError], says: str
) -> None:
    """Each mistake is its own typed error, with what to do in the message."""
    monkeypatch.chdir(data)
    with pytest.raises(error) as caught:
        hubbub_trend(data, *arguments)
    assert says in str(caught.value)
