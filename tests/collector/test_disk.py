"""Data directories that cannot be used: full, read-only, not a directory, another file in place of a store."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.lock import exclusive
from hubbub_collector.seal import SealOptions, seal
from hubbub_collector.seal.sorted_store import SortedStore
from hubbub_collector.store import SqliteStore

from tests.collector.server_process import hubbub
from tests.collector.serving import serving
from tests.collector.uploads import NOW, batch, counts, load, records, registry_file, sealed, split, upload


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 4 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting a file system needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill_up(path: Path) -> None:
    """Writes to ``path`` until the disk is full."""
    with open(path, "wb") as file:
        while True:
            os.write(file.fileno(), bytes(4096))


async def test_a_full_disk_gives_507_and_recovers(tmp_path: Path, small_disk: Path) -> None:
    """A full file system is answered 507; with space again uploads are stored again; all acknowledged are sealed."""
    registry = load(tmp_path)
    sketch = registry.metric("sketch")
    data = DataDirectory(small_disk / "data")
    kept: list[bytes] = []
    async with serving(registry, SqliteStore(data.worker_store(0), late=1)) as served:

        async def send() -> int:
            content = records(sketch, 2000)
            status, _, _ = await served.post(upload(batch(sketch, content)))
            if status == 200:
                kept.extend(split(content, sketch))
            return status

        assert await send() == 200
        ballast = small_disk / "ballast"
        with pytest.raises(OSError, match="No space"):
            fill_up(ballast)
        answers = [await send() for _ in range(3)]
        assert answers[-1] == 507
        assert set(answers) <= {200, 507}
        ballast.unlink()
        assert await send() == 200
    assert seal(registry, data, SealOptions(1, everything=True), NOW).groups[0].status == "sealed"
    assert sorted(counts(sealed(data, sketch)).elements()) == sorted(kept)


def test_a_read_only_disk_is_refused(tmp_path: Path, small_disk: Path) -> None:
    """Both commands end with status 1 and say what is wrong with the directory."""
    registry = registry_file(tmp_path)
    (small_disk / "data" / "intake").mkdir(parents=True)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    for command in ("collect", "seal"):
        done = hubbub(command, str(registry), "--data", str(small_disk / "data"))
        assert done.returncode == 1
        assert "cannot be used as a data directory (Read-only file system)" in done.stderr


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    """A data directory below a file cannot be made, and is named."""
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(CollectorError, match="cannot be used as a data directory"),
        exclusive(DataDirectory(tmp_path / "file" / "data").collector_lock, "collector"),
    ):
        pass


def test_a_file_that_is_no_store_is_left_alone(tmp_path: Path) -> None:
    """A file that is not a database, or of another format, is an error and keeps its bytes."""
    path = tmp_path / "intake" / "worker-0.sqlite"
    path.parent.mkdir()
    path.write_bytes(b"something else entirely" * 100)
    before = path.read_bytes()
    with pytest.raises(CollectorError, match=r"worker-0\.sqlite: cannot be opened"):
        SqliteStore(path)
    assert path.read_bytes() == before
    path.unlink()
    store = SqliteStore(path)
    store._db.execute("PRAGMA user_version = 9")
    store.close()
    with pytest.raises(CollectorError, match="format 9"):
        SqliteStore(path)


def test_deleted_groups_leave_no_bytes_behind(tmp_path: Path) -> None:
    """Once a group is sealed its bytes, whose order is that of arrival, are overwritten in the store's files."""
    registry = load(tmp_path)
    sketch = registry.metric("sketch")
    data = DataDirectory(tmp_path / "data")
    content = records(sketch, 50)
    store = SqliteStore(data.worker_store(0))
    store.commit([upload(batch(sketch, content))])
    store.close()
    assert content in data.worker_store(0).read_bytes()
    seal(registry, data, SealOptions(1, everything=True), NOW)
    for path in [*data.intake.iterdir(), *data.sorted_store.parent.iterdir()]:
        assert content[:40] not in path.read_bytes()


def test_what_is_not_sealed_is_nobody_elses_to_read(tmp_path: Path) -> None:
    """The folders of the intake and the sealer are 0700 and their files 0600 from the start, whatever the umask; where
    an earlier version left them open they are closed.
    """
    registry = load(tmp_path)
    choice = registry.metric("choice")
    data = DataDirectory(tmp_path / "data")

    def modes(*folders: Path) -> set[str]:
        found = {f"folder {stat.S_IMODE(folder.stat().st_mode):o}" for folder in folders}
        return found | {f"file {stat.S_IMODE(path.stat().st_mode):o}" for one in folders for path in one.iterdir()}

    folders = (data.intake, data.sorted_store.parent)
    before = os.umask(0)
    try:
        for number in range(2):
            store = SqliteStore(data.worker_store(0), late=1)
            store.commit([upload(batch(choice, bytes([number])))])
            assert modes(data.intake) == {"folder 700", "file 600"}
            target = SortedStore(data.sorted_store)
            assert modes(data.sorted_store.parent) == {"folder 700", "file 600"}
            seal(registry, data, SealOptions(1, everything=True), NOW)
            assert len(list(data.intake.iterdir())) == 3
            assert modes(*folders) == {"folder 700", "file 600"}
            store.close()
            target.close()
            for folder in folders:
                folder.chmod(0o755)
                for path in folder.iterdir():
                    path.chmod(0o644)
    finally:
        os.umask(before)
