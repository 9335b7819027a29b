"""What is salvaged from damaged databases: every row whose own bytes are intact, and none that never was."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from hubbub_collector.layout import DataDirectory
from hubbub_collector.store_check.kinds import CAPS, SORTED, WORKER, Kind
from hubbub_collector.store_check.salvage import salvage
from hubbub_collector.store_check.verify import verify
from hubbub_collector.wal import log_of, read_log

from tests.collector.store_check.stores import flip, make, rows, with_log
from tests.collector.uploads import batch, load, records, upload

_FLIPS = 60


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> DataDirectory:
    """A data directory without a fault, with commits in the worker's log."""
    folder = tmp_path_factory.mktemp("whole")
    registry, data = load(folder), DataDirectory(folder / "data")
    make(registry, data)
    sketch = registry.metric("sketch")
    with_log(data.worker_store(0), [upload(batch(sketch, records(sketch, 300))) for _ in range(5)])
    return data


def files(data: DataDirectory) -> list[tuple[Path, Kind]]:
    """The databases and the kind of each."""
    return [(data.worker_store(0), WORKER), (data.sorted_store, SORTED), (data.caps, CAPS)]


def copied(data: DataDirectory, folder: Path) -> DataDirectory:
    """A copy of ``data`` in ``folder``."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(data.root, folder)
    return DataDirectory(folder)


def test_a_whole_database_is_read_whole(whole: DataDirectory, tmp_path: Path) -> None:
    """Page by page, without SQLite, exactly the rows are found that SQLite reads, of every table, in file and log."""
    for path, kind in files(copied(whole, tmp_path / "copy")):
        found = salvage(path, kind)
        expected = rows(path)
        assert all(expected.values()) or kind is SORTED
        assert {name: set(table.values()) for name, table in found.rows.items()} == expected
        assert not found.damaged
    assert verify(whole) == []


def test_damage_at_random_places_is_named_and_costs_only_what_it_hit(whole: DataDirectory, tmp_path: Path) -> None:
    """Wherever a bit of a database or its log is flipped: verify names that file, or SQLite still reads every row as it
    was. What is salvaged was there before, and at most one row of it is missing.
    """
    dice = random.Random(5)
    before = {path.name: rows(path) for path, _ in files(copied(whole, tmp_path / "read"))}
    named = 0
    for number in range(_FLIPS):
        data = copied(whole, tmp_path / "copy")
        path, kind = files(data)[number % 2]
        target = log_of(path) if number % 4 == 0 else path
        flip(target, dice.randrange(8 * target.stat().st_size))
        found = salvage(path, kind)
        for name, expected in before[path.name].items():
            kept = set(found.rows[name].values())
            assert kept <= expected
            lost = expected - kept
            assert len(lost) <= 1 or len({name, "ids", "batches", "groups", "quarantine"}) == 4
        if findings := verify(data):
            assert {finding.file for finding in findings} == {str(path)}
            named += 1
        else:
            assert rows(path) == before[path.name]
    assert named > _FLIPS // 5


def test_files_that_are_cut_off_keep_what_is_left(whole: DataDirectory, tmp_path: Path) -> None:
    """A database that lost its end is named, and every group whose bytes are all in front of the cut is salvaged."""
    dice = random.Random(6)
    for _ in range(10):
        data = copied(whole, tmp_path / "copy")
        path = data.worker_store(0)
        log_of(path).unlink()
        groups = rows(path)["groups"]
        size = path.stat().st_size
        cut = dice.randrange(size)
        content = path.read_bytes()[:cut]
        path.write_bytes(content)
        found = set(salvage(path, WORKER).rows["groups"].values())
        assert found <= groups
        page = WORKER.page
        at_hand = content[: cut // page * page]
        # A group of one page is whole where its content is: larger ones are spread over pages that are checked above.
        near = {row for row in groups if isinstance(row[2], bytes) and len(row[2]) < page // 4 and row[2] in at_hand}
        assert near <= found
        assert {finding.file for finding in verify(data)} == {str(path)} or cut == size


@pytest.mark.parametrize("place", [1, 2, 4])
def test_a_damaged_log_hides_no_commit_behind_it(whole: DataDirectory, tmp_path: Path, place: int) -> None:
    """SQLite drops every commit behind a damaged frame of its log; here all but the one that was hit are salvaged."""
    data = copied(whole, tmp_path / "copy")
    path = data.worker_store(0)
    groups = rows(copied(whole, tmp_path / "read").worker_store(0))["groups"]
    log = read_log(log_of(path).read_bytes())
    assert not log.damaged
    frame = 24 + WORKER.page
    flip(log_of(path), 8 * (32 + (place - 1) * frame + 24 + 9000))
    damaged = read_log(log_of(path).read_bytes())
    assert damaged.damaged[0][0] == place
    assert damaged.commits_behind > 0
    kept = set(salvage(path, WORKER).rows["groups"].values())
    assert kept <= groups
    assert len(groups - kept) <= 1
    found = verify(data)
    assert any(finding.where.startswith(f"log, frame {place} ") for finding in found)
    assert len(rows(path)["groups"]) < len(kept)  # what SQLite would have left


def test_a_log_whose_header_is_damaged_is_read_all_the_same(whole: DataDirectory, tmp_path: Path) -> None:
    """With a bit of the log's header flipped SQLite reads nothing of it; here everything is."""
    data = copied(whole, tmp_path / "copy")
    path = data.worker_store(0)
    groups = rows(copied(whole, tmp_path / "read").worker_store(0))["groups"]
    flip(log_of(path), 8 * 17)
    assert set(salvage(path, WORKER).rows["groups"].values()) == groups
    assert [finding.where for finding in verify(data)] == ["log, header"]
