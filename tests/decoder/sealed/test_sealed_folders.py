"""What cannot be read is an error with its path, reason and remedy: never an empty folder, never a smaller n."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hubbub_decoder import Dataset, decode, decode_mean, trend
from hubbub_registry import Metric
from hubbub_registry.errors import DatasetError

from tests.decoder.reports import random_records, seal
from tests.registries import metric_of, registry_of


@pytest.fixture
def metric(tmp_path: Path) -> Metric:
    return metric_of(tmp_path, "randomized-response")


@pytest.fixture
def forbid(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Makes the system refuse to list a folder or to open a file, also to the superuser."""

    def refuse(path: Path) -> None:
        for holder, name in ((os, "scandir"), (Path, "open"), (Path, "read_bytes")):
            honest = getattr(holder, name)

            def guarded(
                asked: object, *rest: object, _honest: Callable[..., object] = honest, **keys: object
            ) -> object:
                if str(asked) == str(path):
                    raise PermissionError(13, "Permission denied", str(path))
                return _honest(asked, *rest, **keys)

            monkeypatch.setattr(holder, name, guarded)

    return refuse


@pytest.mark.parametrize("depth", range(5))
def test_a_folder_that_may_not_be_read(
    tmp_path: Path, metric: Metric, forbid: Callable[[Path], None], depth: int
) -> None:
    """At every level above the records it is a DatasetError that names the folder and asks for permissions."""
    manifest = seal(tmp_path, metric, random_records(metric, 10, 1), period=7)
    seal(tmp_path, metric, random_records(metric, 10, 1), period=8)
    folder = [manifest.parent, *manifest.parent.parents][depth]
    if folder.name == "sealed":
        folder = tmp_path / "sealed" / metric.name  # nothing is listed in between
    forbid(folder)
    with pytest.raises(DatasetError, match=r"Permission denied.*permissions") as caught:
        Dataset(tmp_path, metric)
    assert str(caught.value).startswith(f"{folder}: ")
    assert "copy" not in str(caught.value)


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_a_file_that_may_not_be_read(
    tmp_path: Path, metric: Metric, forbid: Callable[[Path], None], suffix: str
) -> None:
    """A manifest or a sealed file is no different, and no copy is asked for."""
    path = seal(tmp_path, metric, random_records(metric, 10, 1)).with_suffix(suffix)
    forbid(path)
    with pytest.raises(DatasetError, match=r"Permission denied.*permissions") as caught:
        list(Dataset(tmp_path, metric).batches())
    assert str(caught.value).startswith(f"{path}: ")
    assert "copy" not in str(caught.value)


def test_a_folder_that_is_not_there(tmp_path: Path, metric: Metric) -> None:
    """A data directory that does not exist, or is a file, is said to be so, and no seal is asked for."""
    file = tmp_path / "file"
    file.write_text("")
    for data, says in ((tmp_path / "absent", "no such folder"), (file, "Not a directory"), ("\0", "name of a folder")):
        with pytest.raises(DatasetError, match=says) as caught:
            Dataset(data, metric)
        assert "hubbub seal" not in str(caught.value)


def test_a_file_in_a_folder_s_place(tmp_path: Path, metric: Metric) -> None:
    """A file where the metric's folder should be is a DatasetError; stray files beside the folders are passed over."""
    seal(tmp_path, metric, random_records(metric, 10, 1))
    folder = tmp_path / "sealed" / metric.name
    (folder / metric.fingerprint.hex() / "notes.txt").write_text("")
    (folder / "notes.txt").write_text("")
    assert Dataset(tmp_path, metric).notes == ()
    folder.rename(tmp_path / "elsewhere")
    folder.write_text("")
    with pytest.raises(DatasetError, match="Not a directory"):
        Dataset(tmp_path, metric)


def test_nothing_sealed_says_when_periods_are_sealed(tmp_path: Path, metric: Metric) -> None:
    """The error says that periods must have ended, how to seal the others, and that small batches are held back."""
    with pytest.raises(DatasetError, match=r"hubbub seal .*have ended.*--all.*--min-batch"):
        Dataset(tmp_path, metric)


def test_records_under_another_definition_are_counted(tmp_path: Path) -> None:
    """A note says how many records another definition holds, in the periods read; damage there stops nothing."""
    old = registry_of(tmp_path, m={"mechanism": "randomized-response"}).metric("m")
    seal(tmp_path, old, random_records(old, 1200, 1), period=7)
    path = seal(tmp_path, old, random_records(old, 34, 1), period=8)
    new = metric_of(tmp_path, "randomized-response", epsilon=2)
    seal(tmp_path, new, random_records(new, 10, 1), period=8)
    (note,) = decode(new, Dataset(tmp_path, new)).notes
    assert "1,234 records" in note
    assert old.fingerprint.hex() in note
    (note,) = Dataset(tmp_path, new, [8]).notes
    assert note.startswith("34 records")
    for damage in ("{", json.dumps({"records": None})):
        path.write_text(damage)
        (note,) = Dataset(tmp_path, new).notes
        assert "cannot be counted" in note


@pytest.mark.parametrize(
    ("mechanism", "keys", "noted"),
    [
        ("rappor", {}, True),
        ("rappor", {"reports": "one-time", "p": None, "q": None, "epsilon": 12}, False),
        ("one-bit-mean", {}, True),
        ("randomized-response", {}, False),
    ],
)
def test_permanent_noise_over_several_periods(
    tmp_path: Path, mechanism: str, keys: dict[str, object], noted: bool
) -> None:
    """Where a device's permanent noise is in the data more than once, a note says that errors are too small."""
    metric = metric_of(tmp_path, mechanism, **keys)
    for period in (7, 8):
        seal(tmp_path, metric, random_records(metric, 20, period), period=period)
    both, one = Dataset(tmp_path, metric), Dataset(tmp_path, metric, [7])
    if mechanism == "one-bit-mean":
        found = decode_mean(metric, both).notes, decode_mean(metric, one).notes
    else:
        found = decode(metric, both, ["a"]).notes, decode(metric, one, ["a"]).notes
    assert any("2 periods" in note and "too small" in note for note in found[0]) is noted
    assert not any("too small" in note for note in found[1])


def test_permanent_noise_over_several_reports_a_period(tmp_path: Path) -> None:
    """The same holds in one period where a device may report several times in it."""
    metric = metric_of(tmp_path, "rappor", reports_per_period=5)
    seal(tmp_path, metric, random_records(metric, 20, 1))
    assert any("up to 5 reports" in note for note in Dataset(tmp_path, metric).notes)


def test_a_lost_manifest_is_said(tmp_path: Path, metric: Metric) -> None:
    """Files without a manifest, in the periods read, are named in a note; also where a whole period has none left."""
    paths = [seal(tmp_path, metric, random_records(metric, 50, i), period=i) for i in (7, 8, 9)]
    late = seal(tmp_path, metric, random_records(metric, 50, 1), period=8, number=2)
    assert Dataset(tmp_path, metric).notes == ()
    late.unlink()
    (note,) = decode(metric, Dataset(tmp_path, metric)).notes
    assert note.startswith("1 file without a manifest: 8/00002.parquet; no record there is in these figures. ")
    assert Dataset(tmp_path, metric, [7, 9]).notes == ()
    paths[2].unlink()
    (note,) = trend(metric, Dataset(tmp_path, metric)).notes
    assert note.startswith("2 files without a manifest: 8/00002.parquet, 9/00001.parquet; ")
    for path in paths[:2]:
        path.unlink()
    with pytest.raises(DatasetError, match=r"hubbub seal .*4 files without a manifest: .* and 1 more; "):
        Dataset(tmp_path, metric)


def test_damage_in_other_definitions_is_said(tmp_path: Path) -> None:
    """Whatever a manifest of another definition holds, it stops nothing, and is noted."""
    old = registry_of(tmp_path, m={"mechanism": "randomized-response"}).metric("m")
    path = seal(tmp_path, old, random_records(old, 12, 1))
    new = metric_of(tmp_path, "randomized-response", epsilon=2)
    seal(tmp_path, new, random_records(new, 10, 1))
    for damage in ("[" * 100_000, '{"records": 1e999}', '{"records": NaN}', "\x00"):
        path.write_text(damage)
        (note,) = Dataset(tmp_path, new).notes
        assert "cannot be counted" in note
