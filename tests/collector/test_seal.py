"""Sealing: every upload exactly once, in no order, whatever is interrupted."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import shutil
import subprocess
import sys
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.lock import exclusive
from hubbub_collector.seal import SealOptions, SealReport, seal
from hubbub_collector.seal.group import cut, seal_group
from hubbub_collector.seal.part import checksum
from hubbub_collector.seal.sort import sort
from hubbub_collector.seal.sorted_store import SortedStore
from hubbub_collector.seal.steps import STEPS, no_step
from hubbub_collector.store import SqliteStore
from hubbub_registry import Registry

from tests.collector.uploads import (
    ALL,
    DAY,
    NOW,
    TODAY,
    batch,
    counts,
    fill,
    park,
    quarantined,
    records,
    sealed,
    split,
    upload,
)  # fmt: skip


def statuses(report: SealReport) -> list[tuple[str, int | None, str]]:
    return [(group.metric, group.records, group.status) for group in report.groups]


def test_everything_stored_is_sealed_once(registry: Registry, data: DataDirectory) -> None:
    """The sealed parts of each metric and period hold the stored records, each once, and nothing is left behind."""
    sketch, choice = registry.metric("sketch"), registry.metric("choice")
    first, second, third = records(sketch, 5), records(sketch, 1), records(choice, 7)
    fill(data, [upload(batch(sketch, first), batch(choice, third))], [upload(batch(sketch, second, TODAY - 1))])
    report = seal(registry, data, ALL, NOW)
    assert (report.batches, report.repeats) == (3, 0)
    assert counts(sealed(data, sketch, TODAY)) == Counter(split(first, sketch))
    assert counts(sealed(data, sketch, TODAY - 1)) == Counter(split(second, sketch))
    assert counts(sealed(data, choice)) == Counter(split(third, choice))
    again = seal(registry, data, ALL, NOW)
    assert (again.batches, again.groups) == (0, [])
    store = SqliteStore(data.worker_store(0))
    assert store.last_id() == 0
    store.close()


def test_a_repeated_upload_counts_once(registry: Registry, data: DataDirectory) -> None:
    """The same id twice in a store, in two workers' stores, and again after its period was sealed: counted once."""
    sketch = registry.metric("sketch")
    content = records(sketch, 3)
    body = upload(batch(sketch, content))
    fill(data, [body, body], [body])
    fill(data, [body], worker=1)
    report = seal(registry, data, ALL, NOW)
    assert (report.batches, report.repeats) == (4, 3)
    assert counts(sealed(data, sketch)) == Counter(split(content, sketch))
    fill(data, [body], worker=2)
    report = seal(registry, data, ALL, NOW + DAY)
    assert (report.repeats, report.groups) == (1, [])
    assert counts(sealed(data, sketch)) == Counter(split(content, sketch))


def test_two_batches_of_one_metric_in_one_upload_both_count(registry: Registry, data: DataDirectory) -> None:
    """Only a repeated id is a repeat: one upload may hold several batches of the same metric and period."""
    choice = registry.metric("choice")
    fill(data, [upload(batch(choice, b"\x01\x02"), batch(choice, b"\x01"))])
    seal(registry, data, ALL, NOW)
    assert counts(sealed(data, choice)) == {b"\x01": 2, b"\x02": 1}


def test_late_uploads_make_a_further_part(registry: Registry, data: DataDirectory) -> None:
    """What arrives after its period was sealed becomes a part with the next number; the first part stays as it was."""
    choice = registry.metric("choice")
    fill(data, [upload(batch(choice, b"\x01"))])
    seal(registry, data, ALL, NOW)
    folder = data.sealed("choice", choice.fingerprint, TODAY)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    fill(data, [upload(batch(choice, b"\x02"))])
    seal(registry, data, ALL, NOW)
    assert sealed(data, choice) == [[b"\x01"], [b"\x02"]]
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert sorted(path.name for path in folder.iterdir()) == [
        "00001.json", "00001.parquet", "00002.json", "00002.parquet",
    ]  # fmt: skip


def test_ids_are_forgotten_only_after_the_window(registry: Registry, data: DataDirectory) -> None:
    """A sealed upload id is kept until its period is accepted no more and a day longer, and until all stores have been
    told so in a run before; then it is gone.
    """
    choice = registry.metric("choice")
    fill(data, [upload(batch(choice, b"\x01"))])
    seal(registry, data, ALL, NOW)

    def kept() -> int:
        store = SortedStore(data.sorted_store)
        (count,) = store._db.execute("SELECT count(*) FROM ids").fetchone()
        store.close()
        return int(count)

    last = (TODAY + 1) * DAY + 28 * DAY + DAY
    seal(registry, data, ALL, last - 1)
    assert kept() == 1
    seal(registry, data, ALL, last)
    assert kept() == 1
    store = SqliteStore(data.worker_store(0))
    assert store.closed() == (TODAY + 1) * DAY
    store.close()
    seal(registry, data, ALL, last)
    assert kept() == 0


def test_ids_outlast_a_longer_window_of_the_collector(registry: Registry, data: DataDirectory) -> None:
    """A collector that accepts periods for longer makes the sealer remember for longer, also when it is shortened."""
    choice = registry.metric("choice")
    SqliteStore(data.worker_store(0), late=60 * DAY).close()
    fill(data, [upload(batch(choice, b"\x01"))])
    seal(registry, data, ALL, NOW)
    for _ in range(3):
        assert seal(registry, data, ALL, (TODAY + 1) * DAY + 60 * DAY).groups == []
    store = SortedStore(data.sorted_store)
    assert store._db.execute("SELECT count(*) FROM ids").fetchone() == (1,)
    store.close()


def test_open_periods_wait_for_their_end_and_grace(registry: Registry, data: DataDirectory) -> None:
    """Without --all a period is sealed an hour after it ends, to the second, and not before."""
    choice = registry.metric("choice")
    fill(data, [upload(batch(choice, b"\x01"))])
    options = SealOptions(minimum=1)
    end = (TODAY + 1) * DAY
    assert statuses(seal(registry, data, options, end + 3599)) == [("choice", 1, "open")]
    assert sealed(data, choice) == []
    assert statuses(seal(registry, data, options, end + 3600)) == [("choice", 1, "sealed")]
    assert sealed(data, choice) == [[b"\x01"]]


def test_few_records_are_held_back(registry: Registry, data: DataDirectory) -> None:
    """One record under the minimum nothing is written, and with one more all are sealed together."""
    choice = registry.metric("choice")
    options = SealOptions(minimum=5, everything=True)
    fill(data, [upload(batch(choice, b"\x01" * 4))])
    assert statuses(seal(registry, data, options, NOW)) == [("choice", 4, "held")]
    assert sealed(data, choice) == []
    fill(data, [upload(batch(choice, b"\x02"))])
    assert statuses(seal(registry, data, options, NOW)) == [("choice", 5, "sealed")]
    assert counts(sealed(data, choice)) == {b"\x01": 4, b"\x02": 1}


def test_metrics_no_longer_in_the_registry_are_kept(registry: Registry, data: DataDirectory) -> None:
    """What waits for a fingerprint this registry has not is neither sealed nor lost."""
    choice = registry.metric("choice")
    strange = batch(choice, b"\x01")._replace(fingerprint=b"whatever")
    fill(data, [upload(strange)])
    for _ in range(2):
        (group,) = seal(registry, data, ALL, NOW).groups
        assert (group.fingerprint, group.status, group.uploads) == (b"whatever".hex(), "unknown", 1)
        assert (group.records, group.bytes) == (None, 1)


def test_the_order_in_a_part_is_not_that_of_arrival(registry: Registry, data: DataDirectory) -> None:
    """Neither the order of arrival, nor that of upload ids, nor the grouping by upload is left in a part.

    A uniform order of 300 distinct records equals a given one with probability 1/300!, and keeps a given pair adjacent
    in order with probability 1/300: 30 or more of the 290 pairs within uploads stay with probability below 1e-25.
    """
    sketch = registry.metric("sketch")
    uploads = sorted((os.urandom(16), records(sketch, 30)) for _ in range(10))
    fill(data, [upload(batch(sketch, content), id=id) for id, content in uploads])
    seal(registry, data, ALL, NOW)
    (part,) = sealed(data, sketch)
    arrived = [record for _, content in uploads for record in split(content, sketch)]
    assert sorted(part) == sorted(arrived)
    assert part != arrived
    follows = set(itertools.pairwise(arrived))
    assert sum(pair in follows for pair in itertools.pairwise(part)) < 30


def test_a_part_is_what_the_manifest_says(registry: Registry, data: DataDirectory) -> None:
    """The manifest names the metric, the period, the count, the size and the digest, and carries the plan's entry."""
    sketch = registry.metric("sketch")
    fill(data, [upload(batch(sketch, records(sketch, 9)))])
    seal(registry, data, ALL, NOW)
    folder = data.root / "sealed" / "sketch" / sketch.fingerprint.hex() / str(TODAY)
    parquet = (folder / "00001.parquet").read_bytes()
    manifest = json.loads((folder / "00001.json").read_text())
    assert manifest.pop("checksum") == checksum(manifest)
    assert manifest == {
        "schema": 1,
        "namespace": "org.example.test",
        "metric": "sketch",
        "mechanism": "count-mean-sketch",
        "fingerprint": sketch.fingerprint.hex(),
        "period": TODAY,
        "period_seconds": DAY,
        "period_start": "2027-01-15T00:00:00Z",
        "records": 9,
        "record_bytes": sketch.device.record_bytes,
        "file": "00001.parquet",
        "file_bytes": len(parquet),
        "sha256": hashlib.sha256(parquet).hexdigest(),
        "entry": sketch.entry,
    }


def test_the_parquet_file_tells_no_more_than_the_records(registry: Registry, data: DataDirectory) -> None:
    """One column of fixed-size binary, not null, and no statistics of single records."""
    sketch = registry.metric("sketch")
    fill(data, [upload(batch(sketch, records(sketch, 9)))])
    seal(registry, data, ALL, NOW)
    (path,) = data.root.glob("sealed/**/*.parquet")
    file = pq.ParquetFile(path)
    expected = pa.schema([pa.field("record", pa.binary(sketch.device.record_bytes), nullable=False)])
    assert file.schema_arrow.equals(expected)
    assert file.metadata.row_group(0).column(0).statistics is None
    file.close()


def test_large_groups_are_sealed_in_parts_that_fit(registry: Registry, data: DataDirectory) -> None:
    """With memory for a few records a group becomes several parts, none under the minimum, together exactly once."""
    sketch = registry.metric("sketch")
    width = sketch.device.record_bytes
    contents = [records(sketch, 3) for _ in range(20)]
    fill(data, [upload(batch(sketch, content)) for content in contents])
    seal(registry, data, SealOptions(minimum=1000), NOW)  # sorts, and holds back
    store = SortedStore(data.sorted_store)
    (waiting,) = store.waiting()
    memory = 14 * (2 * width + 32)
    parts = seal_group(data, store, registry.namespace, sketch, waiting, 6, no_step, memory=memory)
    store.close()
    sizes = [len(part) for part in sealed(data, sketch)]
    assert len(sizes) == parts == 5
    assert min(sizes) >= 6
    assert counts(sealed(data, sketch)) == Counter(split(b"".join(contents), sketch))


@given(st.lists(st.integers(1, 50), min_size=1, max_size=60), st.integers(1, 200), st.integers(1, 60))
def test_cutting_leaves_no_part_below_the_minimum(sizes: list[int], part: int, minimum: int) -> None:
    """However uploads are sized, cutting again and again takes each once, and leaves nothing below the minimum."""
    total = left = sum(sizes)
    rows = [(bytes([i]), size) for i, size in enumerate(sizes)]
    taken = []
    while rows:
        last, size = cut(rows, left, part, minimum)
        here = [row for row in rows if row[0] <= last]
        assert sum(row[1] for row in here) == size
        rows = rows[len(here) :]
        left -= size
        taken.append(size)
        assert left == 0 or left >= minimum
    assert sum(taken) == total


def test_records_of_another_shape_are_not_sealed(registry: Registry, data: DataDirectory) -> None:
    """Values outside their domain that got past the intake are reported as damage; other metrics are sealed."""
    sketch, choice = registry.metric("sketch"), registry.metric("choice")
    fill(data, [upload(batch(choice, b"\x07")), upload(batch(sketch, records(sketch, 1)))])
    for expected in ({("choice", "damaged"), ("sketch", "sealed")}, {("choice", "damaged")}):
        report = seal(registry, data, ALL, NOW)
        assert {(group.metric, group.status) for group in report.groups} == expected
    assert sealed(data, choice) == []


def test_two_sealers_exclude_each_other(registry: Registry, data: DataDirectory) -> None:
    """A second sealer on the same directory refuses and touches nothing."""
    choice = registry.metric("choice")
    fill(data, [upload(batch(choice, b"\x01"))])
    with exclusive(data.seal_lock, "sealer"), pytest.raises(CollectorError, match="another sealer"):
        seal(registry, data, ALL, NOW)
    assert not data.sorted_store.exists()


def test_a_missing_directory_is_named(registry: Registry, data: DataDirectory) -> None:
    """Sealing a directory that is not there is an error, and does not make it."""
    with pytest.raises(CollectorError, match="there is no data directory"):
        seal(registry, data, ALL, NOW)
    assert not data.root.exists()


def test_a_directory_of_somebody_else_is_left_alone(registry: Registry, data: DataDirectory) -> None:
    """Sealing a directory that no collector made its own is an error, and puts nothing into it."""
    data.root.mkdir()
    with pytest.raises(CollectorError, match="is no collector's data directory"):
        seal(registry, data, ALL, NOW)
    assert list(data.root.iterdir()) == []


def test_groups_are_in_the_order_of_the_registry(registry: Registry, data: DataDirectory) -> None:
    """The report goes metric by metric as the registry has them, each by period, and unknown ones come last."""
    sketch, choice = registry.metric("sketch"), registry.metric("choice")
    fill(
        data,
        [
            upload(batch(choice, b"\x01")._replace(fingerprint=bytes(8))),
            upload(batch(choice, b"\x01"), batch(sketch, records(sketch, 1)), batch(choice, b"\x01", TODAY - 1)),
        ],
    )
    report = seal(registry, data, ALL, NOW)
    assert [(group.metric, group.period) for group in report.groups] == [
        ("sketch", TODAY), ("choice", TODAY - 1), ("choice", TODAY), ("", TODAY),
    ]  # fmt: skip


def test_a_new_file_of_an_old_name_is_sealed_from_its_start(registry: Registry, data: DataDirectory) -> None:
    """Where a worker's file was removed, its successor's ids start again, and its groups are not mistaken for taken."""
    choice = registry.metric("choice")
    fill(data, [upload(batch(choice, b"\x01"))], [upload(batch(choice, b"\x01"))])
    seal(registry, data, ALL, NOW)
    shutil.rmtree(data.intake)
    fill(data, [upload(batch(choice, b"\x02"))])
    seal(registry, data, ALL, NOW)
    assert counts(sealed(data, choice)) == {b"\x01": 2, b"\x02": 1}


def test_a_full_disk_loses_nothing(registry: Registry, data: DataDirectory) -> None:
    """Where the sorted store cannot grow, sealing fails with the group still in the intake, and later succeeds."""
    sketch = registry.metric("sketch")
    content = records(sketch, 5000)
    fill(data, [upload(batch(sketch, content))])
    store = SortedStore(data.sorted_store)
    store._db.execute("PRAGMA max_page_count = 7")
    worker = SqliteStore(data.worker_store(0))
    with pytest.raises(Exception, match="full"):
        sort(worker, store, no_step, SealReport())
    assert worker.last_id() == 1
    worker.close()
    store.close()
    seal(registry, data, ALL, NOW)
    assert counts(sealed(data, sketch)) == Counter(split(content, sketch))


CRASH = """
import os, sys
from hubbub_collector.layout import DataDirectory
from hubbub_collector.seal import SealOptions, seal
from hubbub_registry import load_registry
from pathlib import Path

left = int(sys.argv[4])

def step(name):
    global left
    if name == sys.argv[3]:
        left -= 1
        if left == 0:
            os._exit(99)

registry, data = load_registry(sys.argv[1]), DataDirectory(Path(sys.argv[2]))
seal(registry, data, SealOptions(1, everything=True), float(sys.argv[5]), step)
"""


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_at_any_step_loses_and_repeats_nothing(registry: Registry, data: DataDirectory, step: str) -> None:
    """A sealer whose process ends at a step, with uploads and retries arriving after it, seals each exactly once."""
    sketch, choice = registry.metric("sketch"), registry.metric("choice")
    contents = [records(sketch, 2) for _ in range(9)]
    bodies = [upload(batch(sketch, content), batch(choice, b"\x01")) for content in contents]
    park(data, bodies[6])
    park(data, bodies[0])  # was quarantined first and accepted later
    fill(data, bodies[:2], [bodies[0]])
    park(data, bodies[7], worker=1)
    fill(data, bodies[2:4], worker=1)
    crash = [sys.executable, "-c", CRASH, str(registry.path), str(data.root), step]
    second = "1" if step == "pruned" else "2"
    assert subprocess.run([*crash, second, str(NOW)], timeout=60, check=False).returncode == 99
    fill(data, bodies[4:6], bodies[:3], worker=1)
    park(data, bodies[7])
    park(data, bodies[8])
    park(data, bodies[6], worker=1)
    assert subprocess.run([*crash, "1", str(NOW)], timeout=60, check=False).returncode == 99
    seal(registry, data, ALL, NOW)
    assert counts(sealed(data, sketch)) == Counter(split(b"".join(contents), sketch))
    assert counts(sealed(data, choice)) == {b"\x01": 9}
    leftovers = {path.name.partition(".")[0] for path in data.root.glob("sealed/sketch/**/*.parquet")}
    assert leftovers == {path.name.partition(".")[0] for path in data.root.glob("sealed/sketch/**/*.json")}
    assert quarantined(data) == 0
    assert not list(data.root.glob("sealed/**/*.tmp"))


def test_sorted_groups_are_not_sorted_again(registry: Registry, data: DataDirectory) -> None:
    """After a crash between sorting groups and deleting them, they are only deleted: none is taken for a repeat."""
    choice = registry.metric("choice")
    fill(data, [upload(batch(choice, b"\x01"))], [upload(batch(choice, b"\x02"))])
    crash = [sys.executable, "-c", CRASH, str(registry.path), str(data.root), "sorted", "1", str(NOW)]
    assert subprocess.run(crash, timeout=60, check=False).returncode == 99
    store = SqliteStore(data.worker_store(0))
    assert store.last_id() == 2
    report = seal(registry, data, ALL, NOW)
    assert (report.batches, report.repeats) == (0, 0)
    assert store.last_id() == 0
    store.close()
    assert counts(sealed(data, choice)) == {b"\x01": 1, b"\x02": 1}


def test_half_written_files_are_removed(registry: Registry, data: DataDirectory) -> None:
    """What a crash left in the middle of writing a part is no part, and is gone after the next run."""
    choice = registry.metric("choice")
    fill(data, [upload(batch(choice, b"\x01"))])
    crash = [sys.executable, "-c", CRASH, str(registry.path), str(data.root), "intent", "1", str(NOW)]
    assert subprocess.run(crash, timeout=60, check=False).returncode == 99
    folder = data.sealed("choice", choice.fingerprint, TODAY)
    folder.mkdir(parents=True)
    for name in ("00001.parquet.tmp", "00001.parquet", "00001.json.tmp"):
        (folder / name).write_bytes(b"half of i")
    seal(registry, data, ALL, NOW)
    assert sealed(data, choice) == [[b"\x01"]]
    assert {path.name for path in folder.iterdir()} == {"00001.parquet", "00001.json"}
