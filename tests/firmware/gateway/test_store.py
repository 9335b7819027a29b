from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgpack
import pytest

from hubbub_firmware.bridge.errors import BridgeError
from hubbub_firmware.gateway.frames import FrameReport, FrameTrouble
from hubbub_firmware.gateway.store import MOST_REPORTS, FullError, GatewayStore, open_store


def report(number: int) -> FrameReport:
    return FrameReport(b"f" * 8, 20_000, number.to_bytes(4, "little"))


def records(body: bytes) -> list[int]:
    ((fingerprint, period, data),) = msgpack.unpackb(body)[2]
    assert (fingerprint, period) == (b"f" * 8, 20_000)
    return [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]


def test_reports_become_one_upload_and_are_gone_once_it_is_settled(tmp_path: Path) -> None:
    """Over a restart at each step every report is in exactly one upload, whose id and bytes stay the same."""
    store = open_store(tmp_path, 100)
    store.add([report(n) for n in range(5)])
    store.close()
    store = open_store(tmp_path, 100)
    assert store.waiting == 5
    assert store.next_upload() is None
    store.pack()
    upload = store.next_upload()
    store.close()
    store = open_store(tmp_path, 100)
    assert (store.waiting, store.next_upload()) == (0, upload)
    assert upload is not None
    upload_id, reports, body = upload
    assert (reports, sorted(records(body))) == (5, list(range(5)))
    assert msgpack.unpackb(body)[:2] == [1, upload_id]
    store.settle(upload_id)
    store.settle(upload_id)
    assert store.next_upload() is None
    store.add([report(n) for n in range(100)])
    store.close()


def test_too_many_are_packed_at_random(tmp_path: Path) -> None:
    """One upload takes 4,096 of the reports that wait, a random choice and not the first or the last that came."""
    store = open_store(tmp_path, 10_000)
    store.add([report(n) for n in range(2 * MOST_REPORTS)])
    store.pack()
    upload = store.next_upload()
    assert upload is not None
    chosen = records(upload[2])
    assert len(set(chosen)) == MOST_REPORTS == store.waiting
    # Hypergeometric: 2,048 of the first half expected, standard deviation 22.6; false alarm below 1e-6 at 5 of them.
    assert abs(sum(number < MOST_REPORTS for number in chosen) - MOST_REPORTS // 2) < 115
    store.close()


def test_what_waits_is_bounded(tmp_path: Path) -> None:
    """Past the limit nothing is taken, packed or not; what was taken is untouched, and a settled upload makes room."""
    store = open_store(tmp_path, 3)
    store.add([report(1), report(2)])
    store.pack()
    with pytest.raises(FullError, match="3 reports"):
        store.add([report(3), report(4)])
    store.add([report(3), FrameTrouble("clock", 1)])
    upload = store.next_upload()
    assert upload is not None
    store.settle(upload[0])
    store.add([report(4), report(5)])
    assert store.waiting == 3
    store.close()


def test_a_failure_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    """Where a statement fails, all of its transaction is undone: reports wait still, and are in no upload."""
    store = open_store(tmp_path, 100)
    store.add([report(1)])
    store._database.execute("CREATE TEMP TRIGGER t BEFORE DELETE ON waiting BEGIN SELECT RAISE(ABORT, 'no'); END")
    with pytest.raises(sqlite3.Error):
        store.pack()
    assert (store.waiting, store.next_upload()) == (1, None)
    store._database.execute("DROP TRIGGER t")
    store.pack()
    assert store.next_upload() is not None
    store.close()


class FailingCommit:
    """A database whose COMMIT fails while ``fails`` is set, and leaves its transaction open, as a full disk may."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self.fails = True

    def cursor(self) -> Any:
        return FailingCommit.Cursor(self)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)

    class Cursor:
        def __init__(self, owner: FailingCommit) -> None:
            self._owner = owner
            self._cursor = owner._database.cursor()

        def execute(self, statement: str) -> None:
            if statement == "COMMIT" and self._owner.fails:
                raise sqlite3.OperationalError("database or disk is full")
            self._cursor.execute(statement)

        def close(self) -> None:
            self._cursor.close()


def test_a_commit_that_fails_changes_no_count(tmp_path: Path) -> None:
    """Where the disk is full at the commit of any step, counts stay those of the rows, and the step works later."""
    store = open_store(tmp_path, 3)
    store.add([report(1), report(2)])
    database: Any = FailingCommit(store._database)
    store._database = database
    with pytest.raises(sqlite3.Error, match="full"):
        store.pack()
    assert (store.waiting, store._packed, store.next_upload()) == (2, 0, None)
    database.fails = False
    store.pack()
    upload = store.next_upload()
    assert (store.waiting, store._packed) == (0, 2)
    assert upload is not None
    database.fails = True
    steps: list[Callable[[], None]] = [lambda: store.settle(upload[0]), lambda: store.add([report(3)])]
    for step in steps:
        with pytest.raises(sqlite3.Error, match="full"):
            step()
        assert (store.waiting, store._packed, store.next_upload()) == (0, 2, upload)
    database.fails = False
    store.settle(upload[0])
    assert store._packed == 0
    store.add([report(n) for n in range(3)])
    store.close()


def test_troubles_add_up_until_they_are_told(tmp_path: Path) -> None:
    """Counts of one reason are added, over a restart too; what was told is taken off, and what came meanwhile stays."""
    store = open_store(tmp_path, 100)
    store.add([FrameTrouble("clock", 2), FrameTrouble("entropy", 1), FrameTrouble("clock", 2**32 - 1)])
    store.close()
    store = open_store(tmp_path, 100)
    told = store.troubles()
    assert told == {"clock": 2**32 - 1, "entropy": 1}  # what the collector takes at once
    store.add([FrameTrouble("clock", 5)])
    store.troubles_told(told)
    assert store.troubles() == {"clock": 7}
    store.close()


def test_a_directory_serves_one_gateway(tmp_path: Path) -> None:
    """A second one on the same data is told so."""
    store = open_store(tmp_path, 100)
    store.add([report(1)])
    with pytest.raises(BridgeError, match="its own --data"):
        open_store(tmp_path, 100)
    store.close()


def test_nothing_on_disk_has_the_order_of_arrival(tmp_path: Path) -> None:
    """The table is ordered by its random tokens: read as it lies, the order differs from that of arrival."""
    store = GatewayStore(tmp_path / "s", 100)
    store.add([report(n) for n in range(64)])
    rows = store._database.execute("SELECT record FROM waiting").fetchall()
    columns = [row[1] for row in store._database.execute("PRAGMA table_info(waiting)").fetchall()]
    store.close()
    order = [int.from_bytes(row[0], "little") for row in rows]
    assert sorted(order) == list(range(64))
    assert order != list(range(64))
    assert columns == ["token", "fingerprint", "period", "record"]
