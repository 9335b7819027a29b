"""The counters of caps: exact over retries, restarts and several workers, and forgotten in time."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import tempfile
import threading
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub_collector import sqlite
from hubbub_collector.access.caps import Caps, Charge
from hubbub_collector.access.cashier import Cashier
from hubbub_collector.durable import sync_directory
from hubbub_collector.errors import StoreError
from hubbub_collector.store_check.database import check_database
from hubbub_collector.store_check.kinds import CAPS

FINGERPRINT = bytes(range(8))
LATE, DAY = 100, 86_400
MUCH = 1 << 40


def charge(records: int, upload: bytes | None = None, holder: str = "t", period: int = 1, cap: int = 10) -> Charge:
    return Charge(holder, cap, upload or os.urandom(16), FINGERPRINT, period, records, (period + 1) * 100)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 6), st.sampled_from("ab")), max_size=40))
def test_a_cap_is_never_passed_and_a_retry_costs_nothing(steps: list[tuple[int, int, str]]) -> None:
    """For any sequence of uploads, some sent again, some altered under their old id: what a token is charged is the sum
    over its uploads of the most that was let in under each id, and never above its cap.
    """
    with tempfile.TemporaryDirectory() as folder:
        caps = Caps(Path(folder, "access", "caps.sqlite"), LATE)
        let_in: dict[tuple[str, int], int] = {}
        for upload, records, token in steps:
            id = (token + str(upload)).encode().ljust(16)
            (fits,) = caps.charge([charge(records, id, token)])
            before = let_in.get((token, upload), 0)
            used = sum(count for (owner, _), count in let_in.items() if owner == token)
            assert fits == (records <= before or used - before + records <= 10)
            if fits:
                let_in[token, upload] = max(before, records)
        for token in "ab":
            total = sum(count for (owner, _), count in let_in.items() if owner == token)
            assert caps.used(token, FINGERPRINT, 1) == total <= 10
        caps.close()


def test_a_restart_does_not_refill_a_cap(tmp_path: Path) -> None:
    """What was charged is charged when the file is opened again, also by a worker that never closed it."""
    path = tmp_path / "access" / "caps.sqlite"
    first = Caps(path, LATE)
    assert first.charge([charge(7)]) == [True]
    second = Caps(path, LATE)
    assert second.charge([charge(7), charge(3), charge(1)]) == [False, True, False]
    assert first.used("t", FINGERPRINT, 1) == 10
    first.close()
    second.close()


def test_workers_share_a_cap(tmp_path: Path) -> None:
    """Of many uploads charged by several workers at once exactly the cap is let in."""
    path = tmp_path / "access" / "caps.sqlite"
    passed: Counter[bool] = Counter()
    lock = threading.Lock()
    Caps(path, LATE).close()

    def worker() -> None:
        caps = Caps(path, LATE)
        fits = [fit for _ in range(20) for fit in caps.charge([charge(1, cap=25)])]
        caps.close()
        with lock:
            passed.update(fits)

    threads = [threading.Thread(target=worker) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert passed == {True: 25, False: 35}


def test_counts_are_forgotten_with_their_period(tmp_path: Path) -> None:
    """Pruning forgets periods that are accepted no more, by clock and sealer, in both tables, and no others."""
    caps = Caps(tmp_path / "access" / "caps.sqlite", LATE)
    caps.charge([charge(3, period=1), charge(4, period=2)])
    for now, closed in ((MUCH, 0), (MUCH, 200), (LATE + DAY + 200, MUCH)):
        caps.prune(now, closed)
        assert (caps.used("t", FINGERPRINT, 1), caps.used("t", FINGERPRINT, 2)) == (3, 4)
    caps.prune(LATE + DAY + 300, 300)
    assert (caps.used("t", FINGERPRINT, 1), caps.used("t", FINGERPRINT, 2)) == (0, 4)
    assert caps._db.execute("SELECT count(*) FROM charged").fetchone() == (1,)
    caps.close()


def test_a_run_with_a_smaller_late_forgets_nothing(tmp_path: Path) -> None:
    """The greatest --late that any collector on the file had decides, whichever came last, so that no cap is full again
    for the next run with the greater one.
    """
    path = tmp_path / "access" / "caps.sqlite"
    first = Caps(path, LATE)
    first.charge([charge(10)])
    first.close()
    for late in (1000 * DAY, LATE, 10 * DAY):
        caps = Caps(path, late)
        caps.prune(1000 * DAY, MUCH)
        assert caps.charge([charge(1)]) == [False]
        caps.close()


OLDER = [
    "DROP TABLE late; PRAGMA user_version = 1",
    "ALTER TABLE late RENAME TO new; CREATE TABLE late (seconds INTEGER NOT NULL);"
    "INSERT INTO late SELECT seconds FROM new; DROP TABLE new; PRAGMA user_version = 2",
]


@pytest.mark.parametrize("older", ["", *OLDER], ids=["new", "1", "2"])
def test_workers_that_open_the_file_at_once_all_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, older: str
) -> None:
    """A file that is new, or of an older format, is made once, whoever else has seen that it is to be made."""
    path = tmp_path / "access" / "caps.sqlite"
    if older:
        first = Caps(path, LATE)
        first.charge([charge(4), charge(6)])
        first._db.executescript(f"ALTER TABLE used DROP COLUMN crc; ALTER TABLE charged DROP COLUMN crc; {older}")
        first.close()
    look = sqlite._format
    others: list[Caps] = []

    def overtaken(connection: sqlite3.Connection) -> int:
        found = look(connection)
        if not others:
            monkeypatch.setattr(sqlite, "_format", look)
            others.append(Caps(path, LATE))
        return found

    monkeypatch.setattr(sqlite, "_format", overtaken)
    late = Caps(path, LATE)
    assert late.used("t", FINGERPRINT, 1) == others[0].used("t", FINGERPRINT, 1) == (10 if older else 0)
    for caps in (late, *others):
        caps.close()
    assert check_database(path, CAPS) == []


def test_who_opens_a_new_file_waits_for_who_is_making_it(tmp_path: Path) -> None:
    """SQLite refuses at once the second of two that turn a new file's log on together, so each does that alone."""
    path = tmp_path / "access" / "caps.sqlite"
    path.parent.mkdir()
    opened = threading.Event()

    def other() -> None:
        Caps(path, LATE).close()
        opened.set()

    thread = threading.Thread(target=other)
    with sqlite._alone(path.parent):
        thread.start()
        assert not opened.wait(0.3)
    thread.join()
    assert opened.is_set()


def test_a_repair_that_was_cut_short_is_ended_by_one_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that opens the file while another puts the repaired copy in its place waits, and then has it too."""
    path = tmp_path / "access" / "caps.sqlite"
    first = Caps(path, LATE)
    first.charge([charge(7)])
    first.close()
    os.replace(path, path.with_name(path.name + sqlite.REPAIRED))
    found: list[int] = []

    def other() -> None:
        caps = Caps(path, LATE)
        found.append(caps.used("t", FINGERPRINT, 1))
        caps.close()

    thread = threading.Thread(target=other)

    def interrupted(folder: Path) -> None:
        sync_directory(folder)
        if thread.ident is None:
            thread.start()
            thread.join(0.3)  # which it must not end in; where it would, it does at once

    monkeypatch.setattr(sqlite, "sync_directory", interrupted)
    other()
    thread.join()
    assert found == [7, 7]


@pytest.mark.parametrize("older", OLDER, ids=["1", "2"])
def test_counts_of_an_older_format_go_on(tmp_path: Path, older: str) -> None:
    """A file without checksums, or also without --late, is brought up to date with all its counts."""
    path = tmp_path / "access" / "caps.sqlite"
    first = Caps(path, LATE)
    first.charge([charge(4), charge(6)])
    first._db.executescript(f"ALTER TABLE used DROP COLUMN crc; ALTER TABLE charged DROP COLUMN crc; {older}")
    first.close()
    caps = Caps(path, LATE - 1 if older.endswith("2") else LATE)
    assert caps._greatest_late() == LATE
    assert caps.charge([charge(1)]) == [False]
    assert caps.used("t", FINGERPRINT, 1) == 10
    caps.close()
    assert check_database(path, CAPS) == []


@pytest.mark.parametrize("table", ["used", "charged"])
def test_a_count_that_goes_on_does_not_hide_its_damage(tmp_path: Path, table: str) -> None:
    """A row that a flipped bit changed is still found after more was charged to it; one that is whole stays whole."""
    path = tmp_path / "access" / "caps.sqlite"
    caps = Caps(path, LATE)
    for flipped in (False, True):
        if flipped:
            caps._db.execute(f"UPDATE {table} SET records = 1")  # noqa: S608 - one of two names
        records = 4 if flipped else 3
        assert caps.charge([charge(records, bytes(16)), charge(1, bytes(15) + b"a")]) == [True, True]
        assert [finding.where.split(",")[0] for finding in check_database(path, CAPS)][:1] == [table][:flipped]
    caps.close()


async def test_damaged_counts_refuse_and_are_named_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where the file turns out to be damaged while it is used, charges fail, and the log says so once."""
    path = tmp_path / "access" / "caps.sqlite"
    caps = Caps(path, LATE)
    caps._db.executescript("DROP TABLE used")
    cashier = Cashier(caps)
    for _ in range(2):
        with pytest.raises(StoreError):
            await cashier.charge([charge(1)])
    assert [record.message[:30] for record in caplog.records] == ["tokens with a cap are refused "]
    await cashier.close()


async def test_charges_that_wait_share_a_transaction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes while one transaction runs goes into the next, each caller gets its own answer, and a failure reaches
    all whose charges were in it, and nobody else.
    """
    caps = Caps(tmp_path / "access" / "caps.sqlite", LATE)
    sizes: list[int] = []
    real = caps.charge

    def counted(charges: list[Charge]) -> list[bool]:
        sizes.append(len(charges))
        if any("bad" in one for one in charges):
            raise StoreError("no")
        return real(charges)

    monkeypatch.setattr(caps, "charge", counted)
    cashier = Cashier(caps)
    answers = await asyncio.gather(*[cashier.charge([charge(1, cap=5)]) for _ in range(8)])
    assert sum(fit for (fit,) in answers) == 5
    assert len(sizes) <= 2
    both = await asyncio.gather(
        cashier.charge([charge(1, holder="bad")]), cashier.charge([charge(1)]), return_exceptions=True
    )
    assert all(isinstance(one, StoreError) for one in both)
    assert await cashier.charge([charge(1, holder="good")]) == [True]
    await cashier.close()
