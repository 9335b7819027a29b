"""That what is said to be on stable storage was put there: the calls, and their order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hubbub_collector.durable import TEMPORARY, write_atomically
from hubbub_collector.layout import DataDirectory
from hubbub_collector.seal import SealOptions, seal
from hubbub_collector.seal import group as sealing
from hubbub_collector.sqlite import connect
from hubbub_collector.store import SqliteStore

from tests.collector.uploads import DAY, NOW, batch, load, records, sealed, upload


def test_a_database_waits_for_the_disk(tmp_path: Path) -> None:
    """Every connection has a write-ahead log, synchronous=FULL (2), and overwrites what it deletes."""
    db = connect(tmp_path / "folder" / "file.sqlite", "CREATE TABLE t (x)", 1)
    found = {
        name: db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous", "secure_delete")
    }
    db.close()
    assert found == {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1}


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The content is synced, then the name is given, then the folder is synced."""
    calls: list[str] = []
    fsync, rename = os.fsync, os.rename

    def syncing(descriptor: int) -> None:
        calls.append(f"fsync {Path(os.readlink(f'/proc/self/fd/{descriptor}')).name}")
        fsync(descriptor)

    def renaming(old: Path, new: Path) -> None:
        calls.append(f"rename {old.name} {new.name}")
        rename(old, new)

    monkeypatch.setattr(os, "fsync", syncing)
    monkeypatch.setattr(os, "rename", renaming)
    write_atomically(tmp_path / "part", lambda file: file.write(b"content"))
    assert calls == [f"fsync part{TEMPORARY}", f"rename part{TEMPORARY} part", f"fsync {tmp_path.name}"]
    assert (tmp_path / "part").read_bytes() == b"content"


def test_nothing_is_forgotten_before_its_manifest_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the manifest cannot be written the reports still wait, and the next run seals each of them once."""
    registry = load(tmp_path)
    choice = registry.metric("choice")
    data = DataDirectory(tmp_path / "data")
    store = SqliteStore(data.worker_store(0))
    body = upload(batch(choice, records(choice, 5)))
    store.commit([body])
    store.close()
    options = SealOptions(minimum=1)
    after = NOW + 2 * DAY

    def failing(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(sealing, "write_manifest", failing)
        with pytest.raises(Exception, match="full"):
            seal(registry, data, options, after)
    assert sealed(data, choice) == []
    seal(registry, data, options, after)
    assert [len(part) for part in sealed(data, choice)] == [5]
