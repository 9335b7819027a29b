from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hubbub_client import FileStorage, MemoryStorage, StateInUseError

from tests.client.reporter.reporting import NOW, Collector, reporter_of, sketch_plan
from tests.registries import registry_of


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_every_storage_keeps_the_same_promises(kind: str, tmp_path: Path) -> None:
    """Read, write, append, rename, remove and names do the same in memory and on disk."""
    storage = MemoryStorage() if kind == "memory" else FileStorage(str(tmp_path / "a" / "b"))
    assert storage.read("x") is None
    assert storage.names() == []
    storage.write("x", b"one")
    storage.write("x", b"two")
    storage.append("x", b"+")
    storage.append("y", b"why")
    assert (storage.read("x"), storage.read("y")) == (b"two+", b"why")
    storage.rename("y", "z")
    storage.remove("x")
    assert (storage.names(), storage.read("z")) == (["z"], b"why")
    with pytest.raises(OSError, match="no"):
        storage.rename("x", "w")
    with pytest.raises(OSError, match="no"):
        storage.remove("x")
    storage.close()
    assert storage.read("z") == b"why"
    storage.close()


def test_what_a_crash_left_half_written_is_not_seen(tmp_path: Path) -> None:
    """A file that was not yet renamed over its old form is not among the names, and the next write replaces it."""
    storage = FileStorage(str(tmp_path))
    storage.write("budget", b"old")
    (tmp_path / "budget.new").write_bytes(b"ha")
    assert (storage.names(), storage.read("budget")) == (["budget"], b"old")
    storage.write("budget", b"new")
    assert storage.read("budget") == b"new"
    assert sorted(os.listdir(tmp_path)) == ["budget", "lock"]


def test_state_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    """The directory is made with mode 0700 and every file in it with 0600."""
    path = tmp_path / "state"
    with reporter_of(sketch_plan(), str(path)) as reporter:
        assert reporter.record("m", "a")
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in path.iterdir()} == {0o600}


def test_every_write_is_synced_before_and_after_its_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of the system calls is: new file synced, renamed over, directory synced; an append is synced too."""
    storage = FileStorage(str(tmp_path))
    storage.names()
    calls: list[str] = []
    real_sync, real_rename = os.fsync, os.replace

    def sync(descriptor: int) -> None:
        calls.append("sync " + os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}")))
        real_sync(descriptor)

    def rename(old: str, new: str) -> None:
        calls.append(f"rename {os.path.basename(old)} {os.path.basename(new)}")
        real_rename(old, new)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr("hubbub_client.file_storage._rename_over", rename)
    storage.write("x", b"1")
    storage.append("y", b"1")
    storage.append("y", b"2")
    storage.rename("y", "z")
    directory = "sync " + tmp_path.name
    assert calls == [
        "sync x.new", "rename x.new x", directory,
        "sync y", directory,
        "sync y",
        "rename y z", directory,
    ]  # fmt: skip


def test_a_second_reporter_on_one_state_is_refused_until_the_first_lets_go(tmp_path: Path) -> None:
    """One state serves one Reporter: a second records and sends nothing, says why, and works once the first closed."""
    plan = sketch_plan(reports=10)
    collector = Collector()
    first = reporter_of(plan, str(tmp_path))
    second = reporter_of(plan, str(tmp_path), collector)
    assert first.record("m", "a")
    assert not second.record("m", "a")
    result = second.flush()
    assert (result.sent, collector.bodies) == (0, [])
    assert "another process is using it" in str(result.problem)
    assert second.counts == {"state-in-use": 2}
    first.close()
    assert second.record("m", "a")
    assert second.flush().sent == 2
    second.close()


def test_a_reporter_that_is_gone_holds_no_lock(tmp_path: Path) -> None:
    """A storage that was dropped without close gives its state free."""
    assert reporter_of(sketch_plan(reports=2), str(tmp_path)).record("m", "a")
    with reporter_of(sketch_plan(reports=2), str(tmp_path)) as reporter:
        assert reporter.record("m", "a")


def test_another_process_is_refused(tmp_path: Path) -> None:
    """The lock keeps out a process that was started on its own."""
    with reporter_of(sketch_plan(), str(tmp_path)) as reporter:
        assert reporter.record("m", "a")
        program = (
            "import sys; from hubbub_client import FileStorage, StateInUseError\n"
            "try: FileStorage(sys.argv[1]).read('budget')\n"
            "except StateInUseError: sys.exit(7)\n"
        )
        assert subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False).returncode == 7


def test_a_forked_child_is_refused(tmp_path: Path) -> None:
    """A child that inherited the storage cannot use it, so the budget is not spent twice; the parent goes on."""
    storage = FileStorage(str(tmp_path))
    storage.write("x", b"1")

    def child() -> None:
        try:
            storage.write("x", b"2")
        except StateInUseError:
            os._exit(7)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(30)
    assert process.exitcode == 7
    storage.write("x", b"3")
    storage.close()


@pytest.mark.parametrize("path", ["/proc/hubbub", "/dev/null/state", "/dev/null"])
def test_a_place_where_nothing_can_be_made_is_counted(path: str) -> None:
    """Where the directory cannot be made, each record is counted under storage and nothing raises."""
    reporter = reporter_of(sketch_plan(), path)
    assert not reporter.record("m", "a")
    assert reporter.flush().sent == 0
    assert reporter.counts == {"storage": 2}


READ_ONLY = """
import os, sys
from hubbub_client import Answer, Plan, Reporter
class Collector:
    def send(self, body): return Answer(200)
reporter = Reporter(sys.argv[1], state=sys.argv[2], transport=Collector(), clock=lambda: %d)
if os.getuid() == 0: os.setuid(65534)
assert not reporter.record("m", "a")
assert reporter.counts == {"storage": 1}, reporter.counts
assert reporter.flush().sent == 0
"""


def test_a_read_only_directory_is_counted(tmp_path: Path) -> None:
    """Without the right to write, a used state is neither changed nor reported from, and nothing raises."""
    registry = registry_of(tmp_path, m={"mechanism": "hadamard-response", "reports_per_period": 5})
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(registry.document))
    state = tmp_path / "state"
    with reporter_of(registry.plan, str(state)) as reporter:
        assert reporter.record("m", "a")
    before = {file.name: file.read_bytes() for file in state.iterdir()}
    for file in state.iterdir():
        file.chmod(0o444)
    state.chmod(0o555)
    for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        folder.chmod(folder.stat().st_mode | 0o055)
    try:
        subprocess.run([sys.executable, "-c", READ_ONLY % NOW, str(plan), str(state)], check=True)
        assert {file.name: file.read_bytes() for file in state.iterdir()} == before
    finally:
        state.chmod(0o755)


@pytest.mark.parametrize("room", range(0, 400, 23))
def test_a_disk_that_fills_at_any_byte_never_undercounts(room: int, tmp_path: Path) -> None:
    """With room for so many bytes in a file, records fail cleanly, and each that did not fail arrives once."""
    plan = sketch_plan(reports=100)
    collector = Collector()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with reporter_of(plan, str(tmp_path), collector, source=os.urandom) as reporter:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
        try:
            made = sum(reporter.record("m", "a") for _ in range(12))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handler)
        assert set(reporter.counts) <= {"storage"}
        made += reporter.record("m", "a")
        assert made >= 1
        result = reporter.flush()
        assert (result.sent, result.kept) == (made, 0)
        records = collector.records(plan.metric("m").record_bytes)
        assert len(records) == len(set(records)) == made
