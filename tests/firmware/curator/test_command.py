"""``hubbub curate``: readings in, releases out, and one line for everything that is wrong."""

from __future__ import annotations

import csv
import io
import json
import sys
import time
from pathlib import Path

import pytest

from hubbub_client.clock import EARLIEST
from hubbub_client.file_storage import FileStorage
from hubbub_firmware.commands import curate
from hubbub_registry.commands import main

from tests.registry.curator.tables import COUNT, HISTOGRAM, SUM, gaussian
from tests.registry.documents import LIST, table, write

DAY = 86400
Captured = pytest.CaptureFixture[str]


class Gateway:
    """A folder with a registry, a list of sensors and a state, and a clock that the test sets."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.registry = write(
            folder,
            table("curated.readings", COUNT),
            table("curated.heat", {**gaussian(SUM), "low": "-200", "high": "500", "resolution": "10"}),
            table("curated.bands", HISTOGRAM),
        )
        (folder / "sensors.txt").write_text("a\nb\nc\n")
        self.now = int(time.time()) // DAY * DAY
        monkeypatch.setattr(curate, "unix_time", lambda: self.now)

    def run(self, *argv: object) -> int:
        """Runs the command, without the readings' options."""
        return main(["curate", str(self.registry), "--state", str(self.folder / "state"), *map(str, argv)])

    def take(self, *lines: dict[str, object]) -> int:
        """Runs the command over these readings."""
        path = self.folder / "readings.jsonl"
        path.write_text("".join(json.dumps({"sensor": "a", "time": self.now, **line}) + "\n" for line in lines))
        return self.run("--readings", path, "--sensors", self.folder / "sensors.txt")


@pytest.fixture
def gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Gateway:
    """A gateway that has not run yet."""
    return Gateway(tmp_path, monkeypatch)


def test_a_day(gateway: Gateway, capsys: Captured) -> None:
    """A day's readings become one noisy row a cell, with the figures of the registry, and the same ones ever after."""
    assert gateway.take({"metric": "readings", "value": 1}, {"metric": "heat", "value": 215}) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "hubbub curate: readings: 2 counted\n"
    gateway.now += DAY
    assert gateway.run("--release") == 0
    out = capsys.readouterr().out
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["metric"], row["cell"]) for row in rows] == [
        ("bands", "0..3"), ("bands", "4..6"), ("bands", "7..9"), ("heat", ""), ("readings", ""),
    ]  # fmt: skip
    for row in rows:
        assert int(row["low"]) < int(row["value"]) < int(row["high"])
        assert float(row["std_error"]) > 0
        assert (row["rho"] == "") == (row["noise"] == "discrete-laplace")
        assert row["period_end"].endswith("T00:00:00Z")
    assert [row["resolution"] for row in rows] == ["1", "1", "1", "10", "1"]
    assert 1.0 <= float(rows[-1]["epsilon"]) < 1.0 + 1e-12
    assert gateway.run("--release") == 0
    assert capsys.readouterr().out == out
    assert gateway.run("-o", gateway.folder / "all.json") == 0
    document = json.loads((gateway.folder / "all.json").read_text())
    assert document["level"] == 0.95
    assert [str(row["value"]) for row in document["releases"]] == [row["value"] for row in rows]


def test_stdin(gateway: Gateway, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    """Readings also come from standard input; an error there says so."""

    class Stdin:
        buffer = io.BytesIO(b'{"sensor": "a"}\n')

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert gateway.run("--readings", "-", "--sensors", gateway.folder / "sensors.txt") == 1
    assert capsys.readouterr().err.startswith("hubbub curate: error: stdin, line 1: its keys are not")


def test_nothing_half_taken(gateway: Gateway, capsys: Captured) -> None:
    """A file with one bad line leaves the state as it was, and is taken whole once it is mended."""
    assert gateway.take() == 0
    before = (gateway.folder / "state" / "curator").read_bytes()
    assert gateway.take({"metric": "readings", "value": 1}, {"metric": "readings", "value": 1.5}) == 1
    assert "line 2: value is not an integer" in capsys.readouterr().err
    assert (gateway.folder / "state" / "curator").read_bytes() == before


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ((), "nothing to do; give --readings FILE, --release or -o FILE"),
        (("--readings", "-"), "--readings needs --sensors FILE"),
        (("--readings", "none.jsonl", "--sensors", "sensors.txt"), "No such file or directory"),
        (("--readings", "-", "--sensors", "none.txt"), "sensors: there is no file"),
    ],
)
def test_arguments(
    gateway: Gateway, argv: tuple[str, ...], says: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing is said on one line."""
    monkeypatch.chdir(gateway.folder)
    assert gateway.run(*argv) == 1
    error = capsys.readouterr().err
    assert says in error
    assert error.count("\n") == 1


def test_no_curated_metric(tmp_path: Path, capsys: Captured) -> None:
    """A registry that curates nothing is refused by name."""
    registry = write(tmp_path, table("metrics.m", LIST))
    assert main(["curate", str(registry), "--state", str(tmp_path / "state"), "--release"]) == 1
    assert "curated: there is no curated metric" in capsys.readouterr().err
    assert not (tmp_path / "state").exists()


def test_a_clock_that_was_never_set(gateway: Gateway, capsys: Captured) -> None:
    """A clock of before this software decides no period, and nothing is stored."""
    gateway.now = EARLIEST - 1
    assert gateway.run("--release") == 1
    assert "the clock was never set" in capsys.readouterr().err
    assert not (gateway.folder / "state").exists()


def test_state_in_use(gateway: Gateway, capsys: Captured) -> None:
    """Two gateways do not work on one state."""
    storage = FileStorage(str(gateway.folder / "state"))
    storage.names()
    assert gateway.run("--release") == 1
    assert "another process is using it" in capsys.readouterr().err
    storage.close()


def test_used_up_is_said(gateway: Gateway, capsys: Captured) -> None:
    """A period that the ledger refuses is named, with the reason; the command goes on with the others."""
    gateway.registry = write(
        gateway.folder, table("curated.readings", {**COUNT, "lifetime_epsilon": "1"}), table("curated.bands", HISTOGRAM)
    )
    assert gateway.run("--release") == 0
    gateway.now += 2 * DAY
    assert gateway.run("--release") == 0
    captured = capsys.readouterr()
    assert "readings: period " in captured.err
    assert "is not released: lifetime-used-up" in captured.err
    assert captured.out.count("\nbands,") == 6
    assert captured.out.count("\nreadings,") == 1


def test_a_clock_far_ahead_uses_up_no_life(gateway: Gateway, capsys: Captured) -> None:
    """Where more than 32 periods would be released at once, nothing is, and no reading is taken; --all does it."""
    assert gateway.run("--release") == 0
    gateway.now += 33 * DAY
    before = {path.name: path.read_bytes() for path in (gateway.folder / "state").iterdir()}
    capsys.readouterr()
    (gateway.folder / "one").write_text(
        json.dumps({"sensor": "a", "metric": "readings", "value": 1, "time": gateway.now})
    )
    arguments = ("--readings", gateway.folder / "one", "--sensors", gateway.folder / "sensors.txt")
    assert gateway.run(*arguments, "--release") == 1
    assert "33 periods have ended" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in (gateway.folder / "state").iterdir()} == before
    gateway.now -= DAY
    assert gateway.run("--release") == 0
    assert capsys.readouterr().out.count("\nreadings,") == 32
    gateway.now += 33 * DAY
    assert gateway.run("--release", "--all") == 0
    assert capsys.readouterr().out.count("\nreadings,") == 65
