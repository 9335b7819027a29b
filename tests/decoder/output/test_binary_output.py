"""Estimates as Arrow and Parquet: the columns of every other output, nothing rounded, and what they are of."""

from __future__ import annotations

import io
import json
import os
import pty
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub_decoder import Dataset, Mean, decode, decode_mean
from hubbub_decoder.commands import decode as command
from hubbub_decoder.errors import OutputError

from tests.commands import run_on
from tests.decoder.reports import encode, seal
from tests.registries import registry_of

hubbub_decode = partial(run_on, command)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    registry = registry_of(
        tmp_path,
        closed={"mechanism": "randomized-response", "epsilon": 4},
        mean={"mechanism": "one-bit-mean", "epsilon": 2},
    )
    for name, values in (("closed", ["a", "b"]), ("mean", ["7", "57"])):
        metric = registry.metric(name)
        seal(tmp_path, metric, encode(metric, values * 200, 1), period=7)
    return tmp_path


def test_to_arrow(data: Path) -> None:
    """The table of estimates, and of a mean, has the columns of to_pandas, bit for bit, and metadata."""
    registry = registry_of(
        data,
        closed={"mechanism": "randomized-response", "epsilon": 4},
        mean={"mechanism": "one-bit-mean", "epsilon": 2},
    )
    metric = registry.metric("closed")
    found = decode(metric, Dataset(data, metric))
    table = found.to_arrow(consistent=True)
    frame = found.to_pandas(consistent=True)
    assert table.column_names == list(frame.columns)
    for name in frame.columns:
        assert table[name].to_pylist() == frame[name].tolist()
    assert json.loads(table.schema.metadata[b"hubbub"])["n"] == 400
    metric = registry.metric("mean")
    mean = decode_mean(metric, Dataset(data, metric))
    assert isinstance(mean, Mean)
    assert mean.to_arrow().to_pylist() == [{name: column[0] for name, column in mean.columns().items()}]


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("metric", ["closed", "mean"])
def test_the_command(data: Path, capfdbinary: pytest.CaptureFixture[bytes], form: str, metric: str) -> None:
    """stdout is one Parquet file or Arrow stream, the header is on stderr, and the metadata is that of the JSON."""
    assert hubbub_decode(data, metric, "--format", form, "--top", "1") == 0
    out, err = capfdbinary.readouterr()
    table = pq.read_table(io.BytesIO(out)) if form == "parquet" else pa.ipc.open_stream(out).read_all()
    assert hubbub_decode(data, metric, "--format", "json", "--top", "1") == 0
    document = json.loads(capfdbinary.readouterr().out)
    rows = document.pop("rows")
    assert table.to_pylist() == rows
    assert json.loads(table.schema.metadata[b"hubbub"]) == document
    assert b"n = 400 reports" in err


def test_not_on_a_terminal(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes are not sent to a terminal: the error says to send them to a file."""
    leader, follower = pty.openpty()
    with os.fdopen(follower, "w") as terminal:
        monkeypatch.setattr("sys.stdout", terminal)
        with pytest.raises(OutputError, match="> FILE"):
            hubbub_decode(data, "closed", "--format", "parquet")
        monkeypatch.undo()
    os.close(leader)


def test_a_cached_decode(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --cache the figures are the same, the first time and the second."""
    outputs = []
    for extra in ([], ["--cache"], ["--cache"], ["--cache", str(data / "kept")]):
        assert hubbub_decode(data, "closed", "--format", "json", *extra) == 0
        outputs.append(capsys.readouterr().out)
    assert len(set(outputs)) == 1
    assert len(list(data.rglob("*.state"))) == 2
    assert np.isfinite(json.loads(outputs[0])["rows"][0]["low"])
