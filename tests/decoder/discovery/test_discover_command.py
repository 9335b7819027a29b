"""``hubbub discover`` from the outside."""

from __future__ import annotations

import argparse
import csv
import io
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from hubbub_decoder import ArgumentError, Dataset, EstimateError, StateError, partial
from hubbub_decoder.commands import decode, discover, trend
from hubbub_decoder.discovery import Options, can_discover, discover_in
from hubbub_decoder.discovery import discover as find
from hubbub_decoder.discovery.listing import found_text, there_text
from hubbub_registry import load_registry
from hubbub_simulations.mechanisms import encode

from tests.commands import run_on
from tests.decoder.reports import seal
from tests.registries import registry_of, write_registry

COLUMNS = ["value", "count", "frequency", "std_error", "conditional_count", "low", "high", "p_value", "significant"]
WORDS = {"alpha": 3000, "beta": 2000, "gamma": 1500}
METRIC = {"mechanism": "prefix-extending-method", "epsilon": 4, "longest": 5, "items": 4096, "families": 4}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A registry with a metric of words and sealed reports of two periods, and a metric that cannot discover."""
    folder = tmp_path_factory.mktemp("discover")
    registry = registry_of(folder, words=METRIC, open={"mechanism": "local-hashing"})
    metric = registry.metric("words")
    index = np.repeat(np.arange(len(WORDS)), list(WORDS.values()))
    for period in (7, 8):
        rng = np.random.default_rng(period)
        seal(folder, metric, encode(metric, [word.encode() for word in WORDS], index, rng), period=period)
    return folder


def hubbub_discover(folder: Path, *arguments: str) -> int:
    parser = argparse.ArgumentParser()
    discover.add_arguments(parser)
    return discover.run(parser.parse_args([str(folder / "registry.toml"), *arguments, "--data", str(folder)]))


def test_csv(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CSV on stdout is a header row and a row for each significant string, the most frequent first; notes on stderr."""
    assert hubbub_discover(data, "words", "--format", "csv") == 0
    out, err = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == COLUMNS
    assert [row["value"] for row in rows] == list(WORDS)
    assert all(row["significant"] == "true" for row in rows)
    assert all(float(row["low"]) <= 2 * WORDS[row["value"]] <= float(row["high"]) for row in rows)
    assert "words: n = 13,000 reports, prefix-extending-method" in err
    assert "strings were found, and tested in reports that had no say in finding them; 3 are there" in err


def test_what_was_found_can_be_followed(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The values of the CSV are a list of candidates, whose shares ``hubbub trend`` gives in each period."""
    assert hubbub_discover(data, "words", "--format", "csv", "--period", "7") == 0
    found = [row["value"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))]
    (tmp_path / "found.txt").write_text("".join(f"{value}\n" for value in found))
    assert run_on(trend, data, "words", "--candidates", str(tmp_path / "found.txt"), "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert sorted((row["value"], row["period"]) for row in rows) == sorted((v, p) for v in found for p in ("7", "8"))


def test_notes_count_in_good_english() -> None:
    """One string is there, and two are."""
    assert (found_text(1), there_text(1)) == ("1 string was found", "1 is there")
    assert (found_text(0), there_text(2)) == ("0 strings were found", "2 are there")


def test_json_of_one_period(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON has the rows, the notes and the periods; --all lists what is not significant too, --top cuts."""
    assert hubbub_discover(data, "words", "--format", "json", "--period", "7", "--all", "--top", "2") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["periods"] == [7]
    assert document["n"] == sum(WORDS.values())
    assert [row["value"] for row in document["rows"]] == list(WORDS)[:2]
    assert list(document["rows"][0]) == [name for name in COLUMNS if name != "conditional_count"]
    assert any("were found" in note for note in document["notes"])


def test_table_and_parquet(data: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A table for people, and Parquet with the same rows."""
    assert hubbub_discover(data, "words") == 0
    assert b"alpha" in capfdbinary.readouterr().out
    assert hubbub_discover(data, "words", "--format", "parquet") == 0
    (tmp_path / "found.parquet").write_bytes(capfdbinary.readouterr().out)
    assert pq.read_table(tmp_path / "found.parquet")["value"].to_pylist() == list(WORDS)


def test_an_alphabet_leaves_out_what_is_not_of_it(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only strings over the alphabet are looked for."""
    assert hubbub_discover(data, "words", "--format", "csv", "--alphabet", "alphbetm") == 0
    assert [row["value"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))] == ["alpha", "beta"]


def test_a_list_decodes_the_same_reports(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is found has, with --all, the figures that ``hubbub decode`` gives with a list of the same values."""
    assert hubbub_discover(data, "words", "--format", "csv", "--all") == 0
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    found = [row for row in rows if row["value"] in WORDS]
    (tmp_path / "list.txt").write_text("\n".join(WORDS))
    parser = argparse.ArgumentParser()
    decode.add_arguments(parser)
    arguments = [str(data / "registry.toml"), "words", "--data", str(data), "--format", "csv"]
    assert decode.run(parser.parse_args([*arguments, "--candidates", str(tmp_path / "list.txt")])) == 0
    assert list(csv.DictReader(io.StringIO(capsys.readouterr().out))) == found


def test_nothing_to_be_found_is_an_empty_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where no string is frequent the header row stands alone, with all its columns, and that is no error."""
    metric = registry_of(tmp_path, words=METRIC).metric("words")
    rng = np.random.default_rng(1)
    seal(tmp_path, metric, encode(metric, [f"{i:05}".encode() for i in range(50)], np.arange(50), rng))
    only = ("--alpha", "0.0001", "--alphabet", "0123456789")
    for form in ("table", "csv", "json"):
        assert hubbub_discover(tmp_path, "words", "--format", form, *only) == 0
        out = capsys.readouterr().out
        if form == "json":
            assert json.loads(out)["rows"] == []
        if form == "csv":
            assert out == ",".join(COLUMNS) + "\n"


def test_a_cached_state_gives_the_same(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the states of sealed parts kept, and then read, the list is the same."""
    seen = set()
    for _ in range(2):
        assert hubbub_discover(data, "words", "--format", "csv", "--cache", str(tmp_path / "states")) == 0
        seen.add(capsys.readouterr().out)
    assert len(seen) == 1
    assert list((tmp_path / "states").rglob("*.state"))


def test_another_mechanism_is_refused_with_those_that_can(data: Path) -> None:
    """A metric whose reports do not spell values is refused before anything is read, and the error says what can."""
    message = r"local-hashing do not spell what they hold.*prefix-extending-method"
    with pytest.raises(EstimateError, match=message):
        hubbub_discover(data, "open")
    assert can_discover("prefix-extending-method")
    assert not can_discover("local-hashing")


@pytest.mark.parametrize("alpha", ["0", "1", "-1"])
def test_an_alpha_that_is_none_is_refused(data: Path, alpha: str) -> None:
    """A level outside 0 to 1 is an EstimateError."""
    with pytest.raises(EstimateError, match="alpha"):
        hubbub_discover(data, "words", f"--alpha={alpha}")


@pytest.mark.parametrize("kept", [0, -1, (1 << 14) + 1, True, 1.5])
def test_a_bound_that_is_none_is_refused(kept: object) -> None:
    """How much is followed is an integer between 1 and a bound, for programs and on the command line."""
    with pytest.raises(ArgumentError, match="kept is an integer"):
        Options(kept=kept)  # type: ignore[arg-type]


def test_from_programs(data: Path, tmp_path: Path) -> None:
    """``discover_in`` reads a data set as the command does; a state of another definition and an empty one raise."""
    metric = load_registry(data / "registry.toml").metric("words")
    assert list(discover_in(metric, Dataset(data, metric)).value) == list(WORDS)
    empty = partial(metric, np.zeros((0, metric.device.record_bytes), np.uint8))
    with pytest.raises(EstimateError, match="no reports in this state"):
        find(metric, empty)
    changed = load_registry(write_registry(tmp_path / "registry.toml", {"words": {**METRIC, "epsilon": 3}}))
    with pytest.raises(StateError):
        find(changed.metric("words"), empty)
    with pytest.raises(ArgumentError):
        find("words", empty)  # type: ignore[arg-type]
