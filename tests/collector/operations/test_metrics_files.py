"""The files of the workers' metrics: what they take on the disk, and what a worker that is started again finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client import values

from hubbub_collector.metrics import FILE_BYTES, Metrics, forget_gauges, make_files, summed, use_files

CODES = [f"a-code-that-is-rather-long-{number}" for number in range(200)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of two workers, of which this process may be either."""
    folder = tmp_path / "metrics"
    make_files(folder, 2)
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(folder))
    monkeypatch.setattr(values, "ValueClass", values.ValueClass)
    return folder


def sums(folder: Path) -> dict[str, float]:
    """All sums over the workers, without regard to labels."""
    found: dict[str, float] = {}
    for metric in summed(str(folder)).collect():
        for sample in metric.samples:
            found[sample.name] = found.get(sample.name, 0) + sample.value
    return found


def sizes(folder: Path) -> dict[str, tuple[int, bool]]:
    """Of each file its size, and whether the disk has given it all room for that."""
    found = {path.name: path.stat() for path in folder.iterdir()}
    return {name: (status.st_size, status.st_blocks * 512 >= status.st_size) for name, status in found.items()}


def test_the_files_have_all_their_room_from_the_start(folder: Path) -> None:
    """Before a worker opens them they have the blocks for all that it will ever write, and more codes than there are do
    not make them grow: a page of them that finds no room on a full disk would end the worker.
    """
    whole = {
        f"{kind}_{number}.db": (FILE_BYTES, True)
        for kind in ("counter", "histogram", "gauge_livesum")
        for number in (0, 1)
    }
    assert sizes(folder) == whole
    for number in (0, 1):
        use_files(number)
        metrics = Metrics()
        for code in CODES:
            metrics.refused(code)
            metrics.troubles({code: 1})
        metrics.stored(5, 100)
        metrics.flush(7, 8)
    assert sizes(folder) == whole
    assert sums(folder)["hubbub_uploads_refused_total"] == 400


def test_a_worker_that_is_started_again_goes_on_counting(folder: Path) -> None:
    """What a dead worker has counted stays, and its successor adds to it in the same files; what it held is gone."""
    for number, connections in ((0, 3), (1, 4)):
        use_files(number)
        metrics = Metrics()
        metrics.refused("a-code")
        metrics.flush(connections, 0)
    assert (sums(folder)["hubbub_uploads_refused_total"], sums(folder)["hubbub_connections"]) == (2, 7)
    forget_gauges(folder, 0)
    assert (sums(folder)["hubbub_uploads_refused_total"], sums(folder)["hubbub_connections"]) == (2, 4)
    use_files(0)
    metrics = Metrics()
    metrics.refused("a-code")
    metrics.flush(10, 0)
    assert (sums(folder)["hubbub_uploads_refused_total"], sums(folder)["hubbub_connections"]) == (3, 14)
    assert len(sizes(folder)) == 6
