"""State in an ESP32's NVS: the contract of a storage, its space, and power cut at every set, erasure and commit."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client import MemoryStorage, Reporter
from hubbub_client.ledger import Ledger
from hubbub_firmware.storage.nvs import SEGMENT_BYTES, SLOTS, NvsStorage

from tests.client.reporter import test_crashes as crashes
from tests.client.reporter.reporting import DAY, NOW, Collector, plan_of, reporter_of
from tests.firmware.storage.fake_nvs import FakeNvs, PowerCut

UPLOAD = "upload-00000012-" + 32 * "f"
CUTS = ["none", "all", "some"]
Change = tuple[str, str, bytes]


def content(storage: NvsStorage) -> dict[str, bytes]:
    return {name: storage.read(name) or b"" for name in storage.names()}


def do(storage: NvsStorage | MemoryStorage, change: Change) -> None:
    """One operation, where the contract allows it: a rename gives a name that is not there."""
    kind, name, data = change
    present = name in storage.names()
    if kind == "write":
        storage.write(name, data)
    elif kind == "append" and data:
        storage.append(name, data)
    elif kind == "remove" and present:
        storage.remove(name)
    elif kind == "rename" and present and "new" not in storage.names():
        storage.rename(name, "new")


NAMES = st.sampled_from(["ledger", UPLOAD, "new"])
SIZES = st.sampled_from([0, 1, 100, SEGMENT_BYTES, SEGMENT_BYTES + 1, 3000])
CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["write", "append", "append", "remove", "rename"]),
        NAMES,
        st.builds(lambda size, byte: bytes([byte]) * size, SIZES, st.integers(0, 255)),
    ),
    max_size=12,
)


@given(CHANGES)
def test_it_holds_what_a_dict_holds(changes: list[Change]) -> None:
    """After any operations, and read again from the partition, names and contents are those of storage in memory."""
    nvs = FakeNvs(pages=40)
    storage, model = NvsStorage(nvs), MemoryStorage()
    for change in changes:
        do(storage, change)
        do(model, change)
        assert content(storage) == model.files
    assert content(NvsStorage(nvs)) == model.files


@given(CHANGES, st.sampled_from(CUTS), st.integers(1, 80))
def test_a_power_cut_leaves_the_old_or_the_new(changes: list[Change], kept: str, cut: int) -> None:
    """Cut anywhere, each file is as before or as after the operation; only an append may be there in part."""
    nvs, model = FakeNvs(pages=40, cut=cut, kept=kept), MemoryStorage()
    storage = NvsStorage(nvs)
    before: dict[str, bytes] = {}
    change: Change = ("", "", b"")
    with suppress(PowerCut):
        for change in changes:
            before = dict(model.files)
            do(model, change)
            do(storage, change)
        before = dict(model.files)
    left = content(NvsStorage(FakeNvs(pages=40, left=nvs.left)))
    if change[0] == "append" and before != model.files:
        name = change[1]
        assert model.files[name].startswith(left.get(name, b""))
        assert left.get(name, b"").startswith(before.get(name, b""))
        left[name] = before[name] = b""
    if change[0] == "remove":  # a name may come back, never with another content
        before = {**model.files, **{name: data for name, data in before.items() if name in left}}
    assert left in (before, model.files)


def test_a_file_that_is_labelled_before_it_is_filled_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above fails on a storage that gives a file its name before its content."""

    def hasty(self: NvsStorage, file: Any, data: bytes) -> None:
        self._label(file, "ledger")
        fill(self, file, data)

    fill = NvsStorage._fill
    monkeypatch.setattr(NvsStorage, "_fill", hasty)
    cut_at = test_a_power_cut_leaves_the_old_or_the_new.hypothesis.inner_test  # type: ignore[attr-defined]
    cut_at([("write", "ledger", b"x")], "none", 1)
    with pytest.raises(AssertionError):
        cut_at([("write", "ledger", b"x")], "none", 3)


@given(CHANGES, st.sampled_from(CUTS), st.integers(1, 80))
def test_what_a_cut_left_is_removed(changes: list[Change], kept: str, cut: int) -> None:
    """Opened again, the partition holds labels and segments of files that there are, and nothing else."""
    nvs = FakeNvs(pages=40, cut=cut, kept=kept)
    with suppress(PowerCut):
        storage = NvsStorage(nvs)
        for change in changes:
            do(storage, change)
    again = FakeNvs(pages=40, left=nvs.left)
    files = content(NvsStorage(again))
    segments = [key for key in again.left if not key.startswith("n")]
    assert len(again.left) - len(segments) == len(files)
    assert sum(len(again.left[key]) for key in segments) == sum(map(len, files.values()))


def run(nvs: FakeNvs, life: Callable[[Reporter], None]) -> None:
    """A life that is cut short, then two more days on what is left, to the same collector."""
    collector = Collector()
    with suppress(PowerCut):
        life(reporter_of(crashes.PLAN, NvsStorage(nvs), collector, source=os.urandom, limit=1000))
    look(nvs.left, collector)
    left = FakeNvs(left=nvs.left)
    for day in (1, 2):
        again = reporter_of(
            crashes.PLAN,
            NvsStorage(left),
            collector,
            source=os.urandom,
            limit=1000,
            clock=lambda day=day: NOW + day * DAY,
        )
        life(again)
        assert set(again.counts) <= {"torn", "period-used-up", "lifetime-used-up", "dropped"}
        look(left.left, collector)
    last = reporter_of(crashes.PLAN, NvsStorage(left), collector)
    assert last.flush().kept == 0
    look(left.left, collector)


def look(left: dict[str, bytes], collector: Collector) -> None:
    """Everything that left or waits is paid for, and nothing that is paid for is missing but what the log forgot."""
    storage = MemoryStorage()
    storage.files = content(NvsStorage(FakeNvs(left=left)))
    crashes.check(storage, collector)


@pytest.mark.parametrize("kept", CUTS)
def test_a_power_cut_at_any_operation_never_undercounts(kept: str) -> None:
    """Cut at every set, erasure and commit of a life: no report unpaid, none sent twice, and it opens by itself."""
    whole = FakeNvs()
    crashes.live(reporter_of(crashes.PLAN, NvsStorage(whole), limit=1000))
    assert whole.operations >= 40
    for cut in range(1, whole.operations + 1):
        nvs = FakeNvs(cut=cut, kept=kept)
        run(nvs, crashes.live)
        assert nvs.operations >= cut


@pytest.mark.parametrize("kept", CUTS)
def test_a_power_cut_loses_only_the_last_report(kept: str) -> None:
    """Every report that was acknowledged before the cut is sent after it, and at most one other was paid for."""
    plan = plan_of(m={"mechanism": "count-mean-sketch", "reports_per_period": 9, "lifetime_epsilon": 99, "epsilon": 1})
    for cut in range(1, 60):
        acknowledged = 0
        nvs = FakeNvs(cut=cut, kept=kept)
        with suppress(PowerCut):
            reporter = reporter_of(plan, NvsStorage(nvs), source=os.urandom)
            for _ in range(6):
                acknowledged += reporter.record("m", "a")
        again = reporter_of(plan, NvsStorage(FakeNvs(left=nvs.left)))
        sent = again.flush().sent
        ledger = again._session.ledger()
        spent = 0 if ledger is None else ledger.total() // plan.metric("m").epsilon_nano
        assert acknowledged <= sent == spent <= acknowledged + 1


def test_a_report_is_one_set() -> None:
    """Within a file of reports, a report costs one set of a blob; with files and uploads, at most 1.5 on average."""
    plan = plan_of(
        m={"mechanism": "count-mean-sketch", "reports_per_period": 99, "lifetime_epsilon": 999, "epsilon": 1}
    )
    nvs = FakeNvs()
    reporter = reporter_of(plan, NvsStorage(nvs), limit=6144)
    assert reporter.record("m", "a")
    before = nvs.sets
    assert reporter.record("m", "a")
    assert nvs.sets - before == 1
    for _ in range(8):
        for _ in range(10):
            assert reporter.record("m", "a")
        assert reporter.flush().problem is None
    assert nvs.sets - before <= 1.5 * 81


def test_a_full_partition_is_refused_cleanly_and_recovers() -> None:
    """With no space for any number of entries, records are refused, counted and not spent; with space, they go on."""
    plan = plan_of(
        m={"mechanism": "count-mean-sketch", "reports_per_period": 50, "lifetime_epsilon": 999, "epsilon": 1}
    )
    for free in range(60):
        nvs, collector = FakeNvs(), Collector()
        reporter = reporter_of(plan, NvsStorage(nvs), collector, source=os.urandom)
        assert reporter.record("m", "a")
        nvs.taken = nvs._space - nvs.used() - free
        made = 1 + sum(reporter.record("m", "a") for _ in range(15))
        assert reporter.counts == ({"storage": 16 - made} if made < 16 else {})
        assert made > 2 or free < 24
        nvs.taken = 0
        assert reporter.record("m", "a")
        ledger = Ledger.load(NvsStorage(nvs))
        assert ledger is not None
        assert ledger.total() == (made + 1) * plan.metric("m").epsilon_nano
        assert reporter.flush().sent == made + 1


def test_more_files_than_slots_are_refused() -> None:
    """The file after the last slot is refused as ENOSPC; one that is removed makes room again."""
    storage = NvsStorage(FakeNvs(pages=40))
    for number in range(SLOTS):
        storage.write(f"f{number}", b"x")
    with pytest.raises(OSError, match="slots") as refused:
        storage.write("one-more", b"x")
    assert refused.value.errno == 28
    storage.remove("f7")
    storage.write("one-more", b"x")
    assert storage.read("one-more") == b"x"


def test_what_esp_idf_raises_is_passed_on() -> None:
    """An error other than a full partition keeps its number, and a missing name is ENOENT."""

    class Broken(FakeNvs):
        def set_blob(self, key: str, value: bytes) -> None:
            raise OSError(-0x1107, "ESP_ERR_NVS_INVALID_HANDLE")

    storage = NvsStorage(Broken())
    operations: list[Callable[[], None]] = [lambda: storage.write("a", b"x"), lambda: storage.append("a", b"x")]
    for operation in operations:
        with pytest.raises(OSError, match="INVALID_HANDLE"):
            operation()
    missing: list[Callable[[], Any]] = [lambda: storage.remove("a"), lambda: storage.rename("a", "b")]
    for gone in missing:
        with pytest.raises(FileNotFoundError):
            gone()
