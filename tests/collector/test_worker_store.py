"""A worker whose store is damaged, at its start or later: it goes on with the next one, and loses nothing."""

from __future__ import annotations

import logging
import time
from collections import Counter
from pathlib import Path

import pytest

from hubbub_collector.layout import DataDirectory
from hubbub_collector.seal import SealOptions, seal
from hubbub_collector.sqlite_store import SqliteStore
from hubbub_collector.worker_store import WorkerStore
from hubbub_registry import Metric, Registry

from tests.collector.server_process import collecting
from tests.collector.store_check.stores import flip, with_log
from tests.collector.test_processes import post_fresh
from tests.collector.uploads import DAY, NOW, batch, counts, fill, records, sealed, split, upload

LATE = 28 * DAY


def torn_root(path: Path) -> None:
    """Half of the page with the root of the groups is zeros."""
    content = bytearray(path.read_bytes())
    content[2 * 16384 : 2 * 16384 + 8192] = bytes(8192)
    path.write_bytes(content)


@pytest.mark.parametrize(
    "damage",
    [
        torn_root,
        lambda path: path.write_bytes(b"no database" * 999),
        lambda path: path.write_bytes(path.read_bytes()[:20000]),
        lambda path: path.write_bytes(path.read_bytes().replace(b"TABLE groups", b"TABLE grouqs")),
    ],
    ids=["torn", "overwritten", "cut off", "schema"],
)
def test_a_start_on_a_damaged_store_goes_on_with_the_next(
    data: DataDirectory, sketch: Metric, caplog: pytest.LogCaptureFixture, damage: object
) -> None:
    """The damaged file keeps its bytes and its name, the log names it and what to do, and uploads are stored."""
    fill(data, *([upload(batch(sketch, records(sketch, 60)))] for _ in range(3)))
    path = data.worker_store(0)
    assert callable(damage)
    damage(path)
    before = path.read_bytes()
    for _ in range(2):  # the second time it is the next one that is opened, and nothing is said
        with caplog.at_level(logging.ERROR):
            store = WorkerStore(data, 0, LATE)
        store.commit([upload(batch(sketch, records(sketch, 1)))], ())
        store.close()
    assert path.read_bytes() == before
    assert sorted(found.name for found in data.worker_stores()) == ["worker-0-1.sqlite", "worker-0.sqlite"]
    assert len(caplog.messages) == 1
    assert "worker-0.sqlite" in caplog.text
    assert "worker-0-1.sqlite is used" in caplog.text


def test_a_log_with_commits_behind_its_damage_is_not_opened(data: DataDirectory, sketch: Metric) -> None:
    """SQLite would drop acknowledged groups from it for good, so that neither worker nor sealer opens the file."""
    store = SqliteStore(data.worker_store(0), LATE)
    store.close()
    path = data.worker_store(0)
    with_log(path, [upload(batch(sketch, records(sketch, 60))) for _ in range(4)])
    log = path.with_name(path.name + "-wal")
    flip(log, 8 * (32 + 24 + 9000))
    before = log.read_bytes()
    WorkerStore(data, 0, LATE).close()
    assert log.read_bytes() == before
    assert data.newest_generation(0) == 1


def test_damage_that_turns_up_later_costs_no_upload(data: DataDirectory, registry: Registry, sketch: Metric) -> None:
    """A commit that finds the file damaged is made in the next one, and all uploads are sealed from both."""
    contents = [records(sketch, 60) for _ in range(6)]
    store = WorkerStore(data, 0, LATE)
    for content in contents[:3]:
        store.commit([upload(batch(sketch, content))], ())
    inner = store._store
    inner._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    inner._db.execute("PRAGMA cache_size = 0")
    file = bytearray(data.worker_store(0).read_bytes())
    file[2 * 16384] = 0x77  # the kind of the page that new groups go to
    (root,) = inner._db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'groups'").fetchone()
    file[(root - 1) * 16384] = 0x77
    data.worker_store(0).write_bytes(file)
    for number in (3, 4, 5):
        store.commit([upload(batch(sketch, contents[number]))], ())
    store.close()
    assert data.newest_generation(0) == 1
    report = seal(registry, data, SealOptions(1, everything=True), NOW)
    assert report.problems
    assert counts(sealed(data, sketch)) == Counter(split(b"".join(contents[3:]), sketch))


def test_a_new_store_refuses_what_the_others_do(data: DataDirectory) -> None:
    """By when periods must not have ended is taken over from the worker's older stores and from the other workers'."""
    store = SqliteStore(data.worker_store(1), LATE)
    store.close_before(5000)
    store.close()
    for worker in (0, 1):
        fresh = WorkerStore(data, worker, LATE)
        assert fresh.closed() == 5000
        fresh.close()


async def test_the_collector_starts_on_a_damaged_store(data: DataDirectory, registry: Registry, sketch: Metric) -> None:
    """``hubbub collect`` listens, stores and acknowledges with one of two workers' files overwritten."""
    fill(data, [upload(batch(sketch, records(sketch, 2)))])
    data.worker_store(0).write_bytes(b"no database" * 999)
    with collecting(registry.path, data.root, "--workers", "2") as collector:
        for _ in range(16):
            period = int(time.time() // DAY)
            assert await post_fresh(collector.url, upload(batch(sketch, records(sketch, 1), period))) == 200
        assert collector.stop() == 0
    assert data.newest_generation(0) == 1
    seal(registry, data, SealOptions(1, everything=True))
    assert counts(sealed(data, sketch)).total() == 16
