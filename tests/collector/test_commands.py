"""What the collector's commands take and print."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from hubbub_collector.commands import quarantine
from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_registry import load_registry
from hubbub_registry.commands import main

from tests.collector.server_process import HUBBUB
from tests.collector.uploads import DAY, TODAY, batch, counts, fill, park, registry_file, sealed, upload
from tests.commands import run_command

Captured = pytest.CaptureFixture[str]
STRANGE = bytes(range(8))


@pytest.mark.parametrize(
    ("option", "value", "least"),
    [
        ("--max-body", "0", "1K"),
        ("--max-body", "1023", "1K"),
        ("--queue", "0", "1M"),
        ("--queue", "1023K", "1M"),
        ("--disk-budget", "0", "1M"),
        ("--late", "0s", "1h"),
        ("--late", "59m", "1h"),
        ("--max-body", "-1", "1K"),
        ("--queue", "-5M", "1M"),
        ("--disk-budget", "-1", "1M"),
        ("--quarantine-budget", "-1", "0"),
        ("--late", "-1d", "1h"),
        ("--late", "28", "1h"),
        ("--workers", "0", "1"),
        ("--workers", "-1", "1"),
    ],
)
def test_sizes_that_make_no_sense_are_wrong_usage(
    tmp_path: Path, capsys: Captured, option: str, value: str, least: str
) -> None:
    """A budget of nothing, and the like, is status 2 with the least that would do, and makes no directory."""
    registry = str(registry_file(tmp_path))
    assert main(["collect", registry, "--data", str(tmp_path / "data"), f"{option}={value}"]) == 2
    said = capsys.readouterr().err
    assert f"argument {option}: '{value}' is " in said
    assert said.rstrip().endswith(f" {least}")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("option", ["--queue", "--disk-budget"])
def test_a_budget_is_enough_for_each_worker(tmp_path: Path, capsys: Captured, option: str) -> None:
    """A budget whose share for one worker could not hold an empty store is refused."""
    registry = str(registry_file(tmp_path))
    command = ["collect", registry, "--data", str(tmp_path / "data"), "--workers", "8", f"{option}=7M"]
    assert main(command) == 1
    assert f"{option}: 8 workers need at least 1M each" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


def test_the_disk_budget_holds_the_quarantine_and_more(tmp_path: Path, capsys: Captured) -> None:
    """A disk budget that strangers could fill by way of the quarantine is refused, with both options in the message."""
    registry = str(registry_file(tmp_path))
    command = ["collect", registry, "--data", str(tmp_path / "data"), "--disk-budget", "64M"]
    assert main(command) == 1
    said = capsys.readouterr().err
    assert "--disk-budget: it holds the quarantine too" in said
    assert "--quarantine-budget" in said
    assert not (tmp_path / "data").exists()


def test_the_summary_of_a_seal_fits_a_terminal(tmp_path: Path, capsys: Captured, data: DataDirectory) -> None:
    """At 80 columns every row is one line with every figure whole, in the registry's order, under a header for each
    column; unknown fingerprints are whole, with the bytes that are held; one of anything is in the singular.
    """
    registry = registry_file(tmp_path)
    sketch, choice = load_registry(registry).metrics.values()
    fill(data, [upload(batch(choice, b"\x01" * 1234), batch(sketch, bytes(sketch.device.record_bytes), TODAY - 9))])
    assert main(["seal", str(registry), "--data", str(data.root), "--all", "--min-batch", "2"]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[0].split() == ["metric", "period", "begins", "(UTC)", "uploads", "records", "parts", "status"]
    assert lines[2].split() == ["sketch", "2027-01-06", "00:00", "1", "1", "0", "held", "back"]
    assert lines[3].split() == ["choice", "2027-01-15", "00:00", "1", "1,234", "1", "sealed"]
    assert lines[4] == "held back: fewer than 2 records (--min-batch)"
    assert lines[5] == "2 batches taken from the intake, 0 of them repeats"
    park(data, upload(batch(choice, b"\x01")._replace(fingerprint=STRANGE)))
    park(data, upload(batch(choice, b"\x07", int(time.time() // DAY))))
    fill(data, [upload(batch(choice, b"\x01" * 1234)._replace(fingerprint=STRANGE))])
    assert main(["seal", str(registry), "--data", str(data.root), "--all"]) == 0
    out = capsys.readouterr().out
    lines = [line.rstrip() for line in out.splitlines() if line.strip()]
    assert [STRANGE.hex(), str(TODAY), "1", "1,234"] in [line.split() for line in lines]
    assert "1 batch taken from the intake, 0 of them repeats" in lines
    assert "2 batches in quarantine (see hubbub quarantine)" in lines
    assert "1 batch of them of a metric that is known, but not taken: record-range" in lines
    assert max(map(len, lines)) <= 80


def test_damage_is_told_on_standard_error(tmp_path: Path, capsys: Captured, data: DataDirectory) -> None:
    """Status 1, the damage by name on stderr, and whole JSON on stdout all the same."""
    registry = registry_file(tmp_path)
    choice = load_registry(registry).metric("choice")
    fill(data, [upload(batch(choice, b"\x01"))])
    data.worker_store(1).write_bytes(b"no database" * 99)
    assert main(["seal", str(registry), "--data", str(data.root), "--all", "--min-batch", "1", "--json"]) == 1
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert [group["status"] for group in report["groups"]] == ["sealed"]
    assert len(report["problems"]) == 1
    assert shown.err.startswith("hubbub seal: damaged: ")
    assert "worker-1.sqlite" in shown.err


def test_sealing_outlives_the_reader_of_its_output(tmp_path: Path, data: DataDirectory) -> None:
    """With nobody to read the table everything is sealed all the same; the status is 141, quietly, as for JSON."""
    registry = registry_file(tmp_path)
    choice = load_registry(registry).metric("choice")
    for number, arguments in enumerate(([], ["--json"])):
        fill(data, [upload(batch(choice, bytes([number])))])
        reader, writer = os.pipe()
        os.close(reader)
        command = [*HUBBUB, "seal", str(registry), "--data", str(data.root), "--all", "--min-batch", "1", *arguments]
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
        os.close(writer)
        assert (done.returncode, done.stderr) == (141, b"")
        assert counts(sealed(data, choice)).total() == number + 1


def listing(data: DataDirectory, *arguments: str) -> int:
    """Runs ``hubbub quarantine``."""
    return run_command(quarantine, [str(data.root), *arguments])


def test_the_quarantine_is_listed_over_all_workers(tmp_path: Path, capsys: Captured, data: DataDirectory) -> None:
    """Each fingerprint and period has one row with its batches and bytes, whichever workers hold them."""
    choice = load_registry(registry_file(tmp_path)).metric("choice")
    strange = batch(choice, b"\x01" * 1200)._replace(fingerprint=STRANGE)
    for worker in range(2):
        park(data, upload(strange, strange._replace(period=7)), worker=worker)
    park(data, upload(batch(choice, b"\x01")))
    assert listing(data) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [STRANGE.hex(), "7", "2", "2,400"] in lines
    assert [STRANGE.hex(), str(TODAY), "2", "2,400"] in lines
    assert [choice.fingerprint.hex(), str(TODAY), "1", "1"] in lines
    assert listing(data, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["purged"] is None
    assert {"fingerprint": STRANGE.hex(), "period": 7, "batches": 2, "bytes": 2400} in document["quarantined"]


def test_purging_deletes_one_fingerprint_or_all(tmp_path: Path, capsys: Captured, data: DataDirectory) -> None:
    """What is purged is gone from every worker's store and nothing else is; a fingerprint that is not there is told."""
    choice = load_registry(registry_file(tmp_path)).metric("choice")
    for worker in range(2):
        park(data, upload(batch(choice, b"\x01")._replace(fingerprint=STRANGE), batch(choice, b"\x01")), worker=worker)
    assert listing(data, "--purge", STRANGE.hex(), "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["purged"] == 2
    assert [row["fingerprint"] for row in document["quarantined"]] == [choice.fingerprint.hex()]
    with pytest.raises(CollectorError, match="no batch in quarantine has the fingerprint"):
        listing(data, "--purge", STRANGE.hex())
    assert listing(data, "--purge", "all") == 0
    assert capsys.readouterr().out.splitlines() == ["2 batches deleted", "nothing is in quarantine"]
    with pytest.raises(SystemExit):
        listing(data, "--purge", "xyz")


def test_a_directory_that_is_no_collectors_is_not_listed(data: DataDirectory) -> None:
    """A directory without an intake is an error, and nothing is put into it."""
    data.root.mkdir()
    with pytest.raises(CollectorError, match="no collector's data directory"):
        listing(data)
    assert list(data.root.iterdir()) == []
