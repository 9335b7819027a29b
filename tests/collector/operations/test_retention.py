"""Retention: old parts go, whole and for good; nothing else does, wherever it is interrupted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.lock import exclusive
from hubbub_collector.retention import STEPS, retain
from hubbub_collector.seal import SealOptions, seal
from hubbub_collector.store import SqliteStore
from hubbub_registry import Metric, Registry
from hubbub_registry.commands import main

from tests.collector.uploads import DAY, NOW, TODAY, batch, fill, sealed, stored, upload
from tests.registries import registry_of

KEEP = 10 * DAY
OLD, YOUNG = TODAY - 12, TODAY - 10


@pytest.fixture
def data(tmp_path: Path, registry: Registry, choice: Metric) -> DataDirectory:
    """Two parts of an old period and one of a young one are sealed, one upload is not."""
    data = DataDirectory(tmp_path / "data")
    for value, period in ((b"\x01", OLD), (b"\x02", OLD), (b"\x03", YOUNG)):
        fill(data, [upload(batch(choice, value * 3, period))])
        seal(registry, data, SealOptions(1, 0, True), NOW)
    fill(data, [upload(batch(choice, b"\x04", OLD))])
    for path in data.parts.rglob("*.parquet"):  # as old as their periods
        os.utime(path, (NOW - 11 * DAY, NOW - 11 * DAY))
    return data


def counts(data: DataDirectory) -> set[Path]:
    """What a decoder that keeps its counts beside the data has there, once it has counted all parts."""
    registry = str(data.root.parent / "registry.toml")
    assert main(["decode", registry, "choice", "--data", str(data.root), "--cache", "--format", "csv"]) == 0
    return set(data.root.glob("states/*/*/*"))


class CrashError(Exception):
    pass


def test_old_parts_are_deleted_and_nothing_else(data: DataDirectory, choice: Metric) -> None:
    """Parts of periods that ended longer ago than is kept are gone, with their folder; younger ones and what is not
    sealed stay; a dry run deletes nothing and says the same.
    """
    dry = retain(data, KEEP, NOW, dry_run=True)
    assert len(sealed(data, choice)) == 3
    report = retain(data, KEEP, NOW)
    assert (report.parts, report.records, report.kept, report.problems) == (2, 6, 1, [])
    assert (dry.parts, dry.records, dry.bytes, dry.kept) == (report.parts, report.records, report.bytes, report.kept)
    assert report.bytes > 0
    assert sealed(data, choice) == [[b"\x03"] * 3]
    assert not data.sealed("choice", choice.fingerprint, OLD).exists()
    assert data.sealed("choice", choice.fingerprint, YOUNG).exists()
    store = SqliteStore(data.worker_store(0))
    assert len(stored(store)) == 1
    store.close()
    assert retain(data, KEEP, NOW).parts == 0


def test_a_period_is_kept_to_the_second(data: DataDirectory, choice: Metric) -> None:
    """A part goes once its period ended longer ago than is kept, and not a second before."""
    end = (OLD + 1) * DAY
    assert retain(data, KEEP, end + KEEP).parts == 0
    assert retain(data, KEEP, end + KEEP + 1).parts == 2


def test_what_was_counted_of_an_old_part_goes_with_it(data: DataDirectory) -> None:
    """Of the decoder's counts beside the data, those of deleted parts are deleted and the others stay."""
    before = counts(data)
    assert len(before) == 3
    retain(data, KEEP, NOW)
    left = set(data.root.glob("states/*/*/*"))
    assert len(left) == 1
    assert counts(data) == left < before


def test_what_was_counted_of_its_cells_goes_with_it(tmp_path: Path) -> None:
    """Counts of one cell of a public dimension, and of all, are deleted with their part like those of the whole."""
    split = {"name": "version", "values": ["1.0", "1.1"], "min_cell": 1}
    registry = registry_of(tmp_path, m={"mechanism": "randomized-response", "dimension": split})
    data = DataDirectory(tmp_path / "data")
    for own, period in ((1, OLD), (2, YOUNG)):
        fill(data, [upload(batch(registry.metric("m"), bytes([0, own, 1, own]), period))])
    seal(registry, data, SealOptions(1, 0, True), NOW)
    asked = ["decode", str(tmp_path / "registry.toml"), "m", "--data", str(data.root), "--cache", "--format", "csv"]
    for how in ([], ["--by", "version"], ["--where", "version=1.0"], ["--where", "version=1.1"]):
        assert main([*asked, *how]) == 0
    assert len(list(data.root.glob("states/*/*/*"))) == 8
    assert retain(data, KEEP, NOW).parts == 1
    assert len(list(data.root.glob("states/*/*/*"))) == 4


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("at", [1, 2])
def test_a_crash_at_any_step_leaves_whole_parts(data: DataDirectory, choice: Metric, step: str, at: int) -> None:
    """After a crash every part that is there is whole, and the next run deletes the rest of what is old."""
    counts(data)
    seen = 0

    def crash(name: str) -> None:
        nonlocal seen
        seen += name == step
        if seen == at:
            raise CrashError

    with pytest.raises(CrashError):
        retain(data, KEEP, NOW, step=crash)
    assert [b"\x03"] * 3 in sealed(data, choice)  # which reads each part that has a manifest
    retain(data, KEEP, NOW)
    assert sealed(data, choice) == [[b"\x03"] * 3]
    files = sorted(path.name for path in data.parts.rglob("*") if path.is_file())
    assert files == ["00001.json", "00001.parquet"]
    assert len(list(data.root.glob("states/*/*/*"))) == 1


def test_a_part_whose_sealing_was_interrupted_does_not_come_back(
    data: DataDirectory, registry: Registry, choice: Metric
) -> None:
    """A part whose sealer was killed right after its manifest is ended first: once deleted it is not sealed again."""

    def crash(name: str) -> None:
        if name == "manifest":
            raise CrashError

    with pytest.raises(CrashError):
        seal(registry, data, SealOptions(1, 0, True), NOW, crash)
    assert retain(data, KEEP, NOW).parts == 3
    report = seal(registry, data, SealOptions(1, 0, True), NOW)
    assert report.groups == []
    assert sealed(data, choice) == [[b"\x03"] * 3]


def test_what_is_no_manifest_is_left_and_named(
    data: DataDirectory, choice: Metric, capsys: pytest.CaptureFixture[str]
) -> None:
    """A manifest that cannot be read, or that names another file, is reported with status 1, and neither it nor its
    records are touched; a file that is none of hubbub's is left as well.
    """
    folder = data.sealed("choice", choice.fingerprint, OLD)
    (folder / "00001.json").write_text("{")
    said = json.loads((folder / "00002.json").read_text())
    (folder / "00002.json").write_text(json.dumps({**said, "file": "../../../../../intake/worker-0.sqlite"}))
    (folder / "notes.txt").write_text("mine")
    assert main(["retain", "--data", str(data.root), "--retain", "10d"]) == 1
    shown = capsys.readouterr()
    assert shown.err.count("is no manifest") == 2
    assert {path.name for path in folder.iterdir()} == {
        "00001.json", "00001.parquet", "00002.json", "00002.parquet", "notes.txt",
    }  # fmt: skip
    assert data.worker_store(0).exists()


def test_it_waits_for_no_sealer(data: DataDirectory, tmp_path: Path) -> None:
    """While a sealer runs it refuses; and a directory that is no collector's is left alone."""
    with exclusive(data.seal_lock, "sealer"), pytest.raises(CollectorError, match="another sealer"):
        retain(data, KEEP, NOW)
    with pytest.raises(CollectorError, match="no collector's data directory"):
        retain(DataDirectory(tmp_path), KEEP, NOW)


def test_the_command_says_what_it_did(data: DataDirectory, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, or JSON; an age below a day is wrong usage."""
    command = ["retain", "--data", str(data.root)]
    assert main([*command, "--retain", "36500d", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "parts": 0, "records": 0, "bytes": 0, "kept": 3, "problems": [], "dry_run": False,
    }  # fmt: skip
    assert main([*command, "--retain", "36500d", "--dry-run"]) == 0
    assert capsys.readouterr().out == "0 parts would be deleted (0 records, 0 bytes), 3 kept\n"
    assert main([*command, "--retain", "23h"]) == 2
