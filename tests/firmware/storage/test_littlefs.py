"""State on MicroPython's own LittleFS, over a simulated flash whose power is cut at every program and erasure."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgpack
import pytest

from hubbub_client.errors import StateError
from hubbub_client.file_storage import FileStorage
from hubbub_client.ledger import Ledger
from hubbub_firmware.storage.littlefs import LittleFsStorage

from tests.client.reporter.reporting import plan_of, reporter_of
from tests.firmware.portable.interpreters import MICROPYTHON, REPOSITORY
from tests.registries import registry_of

PROGRAMS = Path(__file__).parent / "programs"
PATHS = json.dumps([str(REPOSITORY), str(REPOSITORY / "client"), str(REPOSITORY / "firmware")])
METRICS: dict[str, dict[str, Any]] = {
    "m": {"mechanism": "count-mean-sketch", "reports_per_period": 60, "lifetime_epsilon": 900, "epsilon": 1},
    "r": {"mechanism": "rappor", "reports_per_period": 60, "lifetime_epsilon": 900},
}


def printed(folder: Path, program: str, *arguments: str) -> list[Any]:
    """What a program printed under MicroPython, a JSON document in each line."""
    registry = registry_of(folder, **METRICS)
    (folder / "plan.json").write_text(json.dumps(registry.document))
    command = [MICROPYTHON, "-X", "heapsize=8m", PROGRAMS / program, PATHS, folder / "plan.json", *arguments]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def sent_records(bodies: list[str]) -> list[str]:
    """Every record that arrived, an upload counted once; fails where one id came with two contents."""
    widths = {metric.fingerprint: metric.record_bytes for metric in plan_of(**METRICS).metrics.values()}
    uploads: dict[bytes, str] = {}
    for body in bodies:
        upload_id = msgpack.unpackb(bytes.fromhex(body))[1]
        assert uploads.setdefault(upload_id, body) == body, "one id with two contents"
    return [
        records[at : at + widths[fingerprint]].hex()
        for body in uploads.values()
        for fingerprint, _, records in msgpack.unpackb(bytes.fromhex(body))[2]
        for at in range(0, len(records), widths[fingerprint])
    ]


def check(lines: list[Any]) -> None:
    """Holds what each cut left against what had been acknowledged, sent and spent before it."""
    life, cuts = lines[0], lines[1:]
    spent = [0] + [spent for _, _, spent in life["acknowledged"]]
    seeds = [None] + [bytes([day] * 100).hex() for day in range(4)]
    for cut in cuts:
        acknowledged = [record for at, record, _ in life["acknowledged"] if at <= cut["at"]]
        before = [body for at, body in life["sent"] if at <= cut["at"]]
        found = set(sent_records(before)) | set(cut["waiting"])
        assert set(acknowledged) <= found, "an acknowledged report is lost"
        assert len(found) <= len(acknowledged) + 1
        assert cut["spent"] >= spent[len(found)], "unpaid"
        assert cut["spent"] <= spent[min(len(found) + 1, len(spent) - 1)]
        assert cut["recorded"], cut["counts"]
        assert cut["kept"] == 0
        assert set(cut["counts"]) <= {"torn"}
        everything = sent_records(before + cut["sent"])
        assert len(everything) == len(set(everything)), "a report was sent twice"
        assert found < set(everything)
        assert cut["spent_then"] > cut["spent"]
        assert seeds.index(cut["seed"]) >= seeds.index(cuts[max(0, cuts.index(cut) - 1)]["seed"]), "a file was lost"


@pytest.mark.parametrize("kind", ["VfsLfs2:256", "VfsLfs2:32", "VfsLfs1:256"])
def test_a_power_cut_at_every_program_and_erasure(kind: str, tmp_path: Path) -> None:
    """Nothing acknowledged is lost, nothing is unpaid or sent twice, and the next boot goes on without an operator."""
    lines = printed(tmp_path, "cut_power.py", kind, "as-it-is")
    assert len(lines) > 150
    assert len(lines[0]["acknowledged"]) == 17
    check(lines)


@pytest.mark.parametrize(("mode", "fault"), [("unpaid", "unpaid"), ("remove-first", "a file was lost|state-damaged")])
def test_a_broken_order_is_caught(mode: str, fault: str, tmp_path: Path) -> None:
    """The test above fails on a client that stores too little, and on a storage that removes before it writes."""
    with pytest.raises(AssertionError, match=fault):
        check(printed(tmp_path, "cut_power.py", "VfsLfs2:256", mode))


def test_a_report_is_one_write(tmp_path: Path) -> None:
    """At one upload in ten reports: an append each, a write an upload; at most an erased block a report, and spread."""
    (figures,) = printed(tmp_path, "wear.py", "joined")
    assert figures["reports"] == figures["appends"] == 200
    assert figures["writes"] == 20
    assert figures["erasures"] <= 200
    assert figures["programs"] <= 5 * 200
    assert figures["most_erased"] <= 8 * figures["erasures"] / figures["blocks"]


def test_a_ledger_of_its_own_would_wear_more(tmp_path: Path) -> None:
    """The same life with the ledger written for each report takes a write besides each append, and programs more."""
    (joined,), (apart,) = printed(tmp_path, "wear.py", "joined"), printed(tmp_path, "wear.py", "apart")
    assert apart["appends"] == apart["writes"] == 200
    assert apart["programs"] > 1.2 * joined["programs"]


@pytest.mark.parametrize("kind", ["VfsLfs2:256", "VfsLfs2:32", "VfsLfs1:256"])
def test_a_full_flash_is_refused_cleanly_and_recovers(kind: str, tmp_path: Path) -> None:
    """With any number of free blocks, what does not fit is refused, counted and not paid for; then it goes on."""
    for line in printed(tmp_path, "full.py", kind):
        assert line["refused"] == line["counts"].get("storage", 0)
        assert set(line["counts"]) <= {"storage"}
        assert line["recorded"] + line["refused"] == 40
        assert line["refused"] > 0 or line["free"] > 0, line
        assert line["unpaid"] == 0
        assert line["later"], line
        assert line["sent"] == line["recorded"] + 2


def test_nvs_on_micropython(tmp_path: Path) -> None:
    """The storage of an ESP32, cut at every operation under MicroPython: nothing lost, each report paid for once."""
    (operations,) = printed(tmp_path, "cut_nvs.py")
    assert operations == 32


def test_another_file_system_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory on FAT is refused when the storage is made, whatever else is mounted; the message names it."""

    class VfsFat:
        pass

    class VfsLfs2:
        pass

    class Vfs:
        @staticmethod
        def mount() -> list[tuple[object, str]]:
            return [(VfsFat(), "/"), (VfsLfs2(), "/little"), (VfsFat(), "/little/card")]

    monkeypatch.setitem(sys.modules, "vfs", Vfs)
    for path in ("/hubbub", "/littlest", "/little/card", "/little/card/hubbub"):
        with pytest.raises(StateError, match=r"VfsFat.*LittleFS"):
            LittleFsStorage(path)
    LittleFsStorage("/little")
    LittleFsStorage("/little/hubbub")


def test_a_part_that_did_not_fit_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails leaves the old content, and nothing of the new one that would take up the space."""
    storage = LittleFsStorage(str(tmp_path / "state"))
    storage.write("a", b"old")
    put = FileStorage.write

    def full(self: LittleFsStorage, name: str, data: bytes) -> None:
        (tmp_path / "state" / "a.new").write_bytes(data[:1])
        raise OSError(28, "full")

    monkeypatch.setattr(FileStorage, "write", full)
    with pytest.raises(OSError, match="full"):
        storage.write("a", b"new")
    assert sorted(path.name for path in (tmp_path / "state").iterdir()) == ["a", "lock"]
    monkeypatch.setattr(FileStorage, "write", put)
    assert storage.read("a") == b"old"
    storage.close()


def test_on_cpython_it_is_the_same_state(tmp_path: Path) -> None:
    """A folder copied off a board can be read on a host, by the client that keeps its ledger in a file of its own."""
    state = LittleFsStorage(str(tmp_path / "state"))
    with reporter_of(plan_of(**METRICS), state) as reporter:
        assert reporter.record("m", "a")
        assert reporter.record("r", "a")
        spent = reporter.spent()
    with reporter_of(plan_of(**METRICS), str(tmp_path / "state")) as host:
        assert host.spent() == spent
        assert host.record("r", "a")
    ledger = Ledger.load(state)
    assert ledger is not None
    assert ledger.generation == 5
    state.close()
