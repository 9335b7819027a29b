"""``hubbub decode`` of a joint metric, from the outside."""

from __future__ import annotations

import argparse
import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hubbub_client.errors import HubbubError
from hubbub_client.pairs import pair_bytes
from hubbub_decoder import Dataset, StateCache, decode_joint, estimate_joint, partial
from hubbub_decoder.commands import decode, trend
from hubbub_decoder.errors import CandidateError, EstimateError
from hubbub_registry import Metric, load_registry
from hubbub_simulations.mechanisms import encode

from tests.decoder.joint.test_results import COLUMNS
from tests.decoder.reports import seal
from tests.joints import BOOLEAN, joint, part, report
from tests.registries import write_registry

HELD = ["a", "b", "c"]
COUNTS = np.array([[300, 50], [50, 100], [100, 0]])


def options(data: Path, *more: str, command: Any = decode) -> argparse.Namespace:
    """The parsed command line for the registry and the data in ``data``."""
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args([str(data / "registry.toml"), more[0], "--data", str(data), *more[1:]])


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A registry with two joint metrics and a single one, with two sealed parts of either joint one."""
    metrics = {
        "word": {"mechanism": "local-hashing", "epsilon": 3, "hashes": 32, "candidates": ["a", "b"]},
        "pair": {"mechanism": "joint", "epsilon": 6, "first": {"like": "word"}, "second": BOOLEAN},
        "words": {
            "mechanism": "joint",
            "epsilon": 6,
            "first": {"like": "word"},
            "second": part("local-hashing", hashes=32),
        },
    }
    registry = load_registry(write_registry(tmp_path / "registry.toml", metrics))
    for name, second in (("pair", ["true", "false"]), ("words", ["x", "y"])):
        for period in (7, 8):
            records = report(registry.metric(name), HELD, second, COUNTS, period)
            seal(tmp_path, registry.metric(name), records, period=period)
    (tmp_path / "first.txt").write_text("a\nc\n")
    (tmp_path / "second.txt").write_text("x\ny\n")
    return tmp_path


def metric_in(data: Path, name: str) -> Metric:
    """A metric of the registry in ``data``."""
    return load_registry(data / "registry.toml").metric(name)


def test_the_table_shows_every_pair(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without options the registry's candidates are decoded, and a table with a header line is printed."""
    assert decode.run(options(data, "pair")) == 0
    said = capsys.readouterr().out
    assert said.startswith("pair: n = 1,200 reports of pairs, epsilon = 5.99")
    assert all(name in said for name in COLUMNS)
    assert sum(line.startswith((" a ", " b ", " (other) ")) for line in said.splitlines()) == 6


def test_every_format_holds_the_same_figures(data: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """CSV, JSON, Parquet and Arrow give what the function gives, with a period or all of them."""
    metric = metric_in(data, "pair")
    whole = decode_joint(metric, Dataset(data, metric))
    decode.run(options(data, "pair", "--format", "csv"))
    rows = list(csv.DictReader(io.StringIO(capfdbinary.readouterr().out.decode())))
    assert [float(row["count"]) for row in rows] == whole.columns()["count"].tolist()
    decode.run(options(data, "pair", "--format", "json", "--period", "7", "--level", "0.5", "--top", "2"))
    document = json.loads(capfdbinary.readouterr().out)
    assert (document["n"], document["level"], document["periods"], len(document["rows"])) == (600, 0.5, [7], 2)
    decode.run(options(data, "pair", "--format", "arrow"))
    table = pa.ipc.open_stream(capfdbinary.readouterr().out).read_all()
    assert table.column_names == COLUMNS
    assert table["count"].to_pylist() == whole.columns()["count"].tolist()


def test_either_side_can_have_a_list_of_its_own(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A list named for a side takes the place of the registry's, and the other side keeps its own."""
    decode.run(options(data, "words", "--format", "csv", "--second-candidates", str(data / "second.txt")))
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["first"] for row in rows} == {"a", "b", "(other)"}
    assert {row["second"] for row in rows} == {"x", "y", "(other)"}
    lists = ["--candidates", str(data / "first.txt"), "--second-candidates", str(data / "second.txt")]
    decode.run(options(data, "words", "--format", "csv", *lists))
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["first"] for row in rows} == {"a", "c", "(other)"}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["words"], CandidateError, "words.second: no candidates"),
        (["words"], CandidateError, "--second-candidates"),
        (["words", "--second-candidates", "none.txt"], CandidateError, "--second-candidates: there is no file"),
        (["pair", "--second-candidates", "second.txt"], CandidateError, "pair.second: it reports nothing but"),
        (["pair", "--consistent"], EstimateError, "column likeliest"),
        (["word", "--second-candidates", "second.txt"], CandidateError, "reports one value, not two"),
    ],
)
def test_what_cannot_be_decoded_is_said(
    data: Path, arguments: list[str], error: type[HubbubError], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing lists, lists where none belong, and options of other metrics are errors that name the option."""
    monkeypatch.chdir(data)
    with pytest.raises(error, match=message):
        decode.run(options(data, *arguments))


def test_a_trend_of_pairs_takes_both_lists(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Over time pairs are followed with the lists of either side, and compared."""
    lists = ["--candidates", str(data / "first.txt"), "--second-candidates", str(data / "second.txt")]
    trend.run(options(data, "words", *lists, "--format", "csv", command=trend))
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["first"] for row in rows} == {"a", "c", "(other)"}
    assert [row["period"] for row in rows[:2]] == ["7", "8"]
    trend.run(options(data, "words", *lists, "--compare", "7", "8", "--format", "csv", command=trend))
    assert len(list(csv.DictReader(io.StringIO(capsys.readouterr().out)))) == 9


def test_one_cell_of_a_public_dimension_is_decoded_by_itself(tmp_path: Path) -> None:
    """With a public dimension the table is of all cells together, or of the one that is named."""
    split = {"name": "version", "values": ["1", "2"]}
    metric = joint(tmp_path, part("local-hashing", hashes=32, candidates=["a", "b"]), BOOLEAN, dimension=split)
    items = [pair_bytes((a, b)) for a in HELD for b in ("true", "false")]
    cells = (np.arange(600) >= 400).astype(np.intp)
    records = encode(metric, items, np.arange(600) % len(items), np.random.default_rng(1), cells)
    seal(tmp_path, metric, records)
    whole = decode_joint(metric, Dataset(tmp_path, metric))
    one = decode_joint(metric, Dataset(tmp_path, metric, None, {"version": "1"}))
    assert (whole.n, one.n) == (600, 400)
    assert np.array_equal(whole.count, estimate_joint(metric, partial(metric, records)).count)


def test_parts_that_are_cached_are_not_read_again(data: Path) -> None:
    """From a cache, even with a part gone from the disk's pages, the table is the same to the last bit."""
    metric = metric_in(data, "pair")
    cache = StateCache(data / "states")
    first = decode_joint(metric, Dataset(data, metric), cache=cache)
    again = decode_joint(metric, Dataset(data, metric), cache=cache)
    assert len(list((data / "states").rglob("*"))) >= 2
    assert np.array_equal(first.count, again.count)
    assert np.array_equal(first.covariance, again.covariance)
