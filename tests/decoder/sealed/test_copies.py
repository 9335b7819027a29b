"""No sealed report is counted twice: a copy of a part is refused, under whatever name it lies there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hubbub_decoder import Dataset, StateCache, decode, trend
from hubbub_decoder.sealed.copies import _LOOKED_AT
from hubbub_registry import Metric
from hubbub_registry.errors import DatasetError

from tests.decoder.reports import random_records, seal
from tests.registries import metric_of


@pytest.fixture
def metric(tmp_path: Path) -> Metric:
    return metric_of(tmp_path, "randomized-response")


def renamed(name: str) -> Callable[[Path], object]:
    """A copy of the manifest alone, beside it."""
    return lambda manifest: shutil.copy(manifest, manifest.with_name(name))


def folder(name: str) -> Callable[[Path], object]:
    return lambda manifest: shutil.copytree(manifest.parent, manifest.parent.with_name(name))


def whole_part(manifest: Path) -> None:
    """Both files under the next number."""
    for path in (manifest, manifest.with_suffix(".parquet")):
        shutil.copy(path, path.with_name(f"00002{path.suffix}"))


def linked(manifest: Path) -> None:
    manifest.parent.with_name("20005").symlink_to(manifest.parent)


def edited_part(manifest: Path) -> None:
    """A whole part under the next number, whose manifest says so."""
    whole_part(manifest)
    said = json.loads(manifest.read_text())
    manifest.with_name("00002.json").write_text(json.dumps({**said, "file": "00002.parquet"}))


def edited_period(manifest: Path) -> None:
    """A whole period under another number, whose manifest says so."""
    folder("20001")(manifest)
    path = manifest.parent.with_name("20001") / manifest.name
    keys = {"period": 20001, "period_start": "2024-10-05T00:00:00Z"}
    path.write_text(json.dumps({**json.loads(path.read_text()), **keys}))


COPIES = {
    "backup of a period": folder("20000.bak"),
    "copy of a period": folder("20000 copy"),
    "another period": folder("20005"),
    "a longer number": folder("020000"),
    "link": linked,
    "copy of a manifest": renamed("00001 copy.json"),
    "next manifest": renamed("00002.json"),
    "shorter number": renamed("1.json"),
    "longer number": renamed("000001.json"),
    "no number": renamed("backup.json"),
    "whole part": whole_part,
    "edited part": edited_part,
    "edited period": edited_period,
}


@pytest.mark.parametrize("copy", COPIES.values(), ids=COPIES)
def test_a_copy_is_refused(tmp_path: Path, metric: Metric, copy: Callable[[Path], object]) -> None:
    """Every copy of a part beside it is a DatasetError that names a file of the copy, and says what to do."""
    manifest = seal(tmp_path, metric, random_records(metric, 100, 1))
    seal(tmp_path, metric, random_records(metric, 100, 2), period=20003)
    there = set(manifest.parents[1].rglob("*"))
    assert decode(metric, Dataset(tmp_path, metric)).n == 200
    cache = StateCache(tmp_path / "states")
    decode(metric, Dataset(tmp_path, metric), cache=cache)
    copy(manifest)
    copied = [str(path) for path in manifest.parents[1].rglob("*") if path not in there] + [
        str(path / manifest.name) for path in manifest.parents[1].iterdir() if path not in there
    ]
    for ask in (
        lambda: decode(metric, Dataset(tmp_path, metric), cache=cache),
        lambda: trend(metric, Dataset(tmp_path, metric)),
        lambda: Dataset(tmp_path, metric, [20003]),
    ):
        with pytest.raises(DatasetError, match=r"remove|move it out") as caught:
            ask()
        assert any(f"{path}: " in str(caught.value) for path in copied)


@pytest.mark.parametrize("copy", [renamed("._00001.json"), renamed(".00002.json"), folder(".20000")])
def test_hidden_names_are_passed_over(tmp_path: Path, metric: Metric, copy: Callable[[Path], object]) -> None:
    """Files and folders that begin with a dot, which no seal writes, are no parts."""
    manifest = seal(tmp_path, metric, random_records(metric, 100, 1))
    copy(manifest)
    data = Dataset(tmp_path, metric)
    assert decode(metric, data).n == 100
    assert data.notes == ()


def test_equal_parts_may_be_chance(tmp_path: Path, metric: Metric) -> None:
    """Parts of few records, or of one over and over, are both counted, and a note names them, also in one period."""
    alike = np.zeros((1000, metric.device.record_bytes), np.uint8)
    few = random_records(metric, 5, 1)
    for period, number, records in ((7, 1, alike), (7, 2, alike), (8, 1, alike), (9, 1, few), (10, 1, few)):
        seal(tmp_path, metric, records, period=period, number=number)
    data = Dataset(tmp_path, metric)
    assert decode(metric, data).n == 3010
    (note,) = data.notes
    assert note.startswith("7/00002.parquet is the same file as 7/00001.parquet, and so are 2 other parts: ")
    assert Dataset(tmp_path, metric, [9]).notes == ()
    assert len(Dataset(tmp_path, metric, [9, 10]).notes) == 1


def test_the_bound_of_a_copy(tmp_path: Path, metric: Metric) -> None:
    """One odd record among n is a copy by chance in 1/n; two kinds, 20 of each, in 1/C(40, 20): 7e-12; 22 in 5e-13."""
    one = np.zeros((_LOOKED_AT, metric.device.record_bytes), np.uint8)
    one[7] = 1
    for records in (one, np.repeat(one[6:8], 20, axis=0)):
        for period in (7, 8):
            seal(tmp_path, metric, records, period=period)
        assert len(Dataset(tmp_path, metric).notes) == 1
    for period in (7, 8):
        seal(tmp_path, metric, np.repeat(one[6:8], 22, axis=0), period=period)
    with pytest.raises(DatasetError, match="same records in the same order"):
        Dataset(tmp_path, metric)


def test_empty_parts_are_no_copies(tmp_path: Path, metric: Metric) -> None:
    """Parts without records agree, and count nothing twice."""
    for period in (7, 8):
        seal(tmp_path, metric, random_records(metric, 0, 1), period=period)
    assert Dataset(tmp_path, metric).notes == ()
