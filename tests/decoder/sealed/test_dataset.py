"""Reading sealed data: only what was committed, only what is intact, only of this very definition."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub_decoder import Dataset, decode
from hubbub_registry import Metric
from hubbub_registry.errors import DatasetError

from tests.decoder.reports import random_records, seal
from tests.registries import metric_of, registry_of


@pytest.fixture
def metric(tmp_path: Path) -> Metric:
    return metric_of(tmp_path, "hadamard-count-mean-sketch")


def read(data: Path, metric: Metric) -> np.ndarray:
    return np.concatenate(list(Dataset(data, metric).batches()))


@pytest.mark.parametrize("mechanism", ["randomized-response", "hadamard-count-mean-sketch", "count-mean-sketch"])
def test_all_parts_come_back(tmp_path: Path, mechanism: str) -> None:
    """The records of every part of every period come back, byte for byte."""
    metric = metric_of(tmp_path, mechanism)
    parts = [random_records(metric, 50 + i, i) for i in range(3)]
    seal(tmp_path, metric, parts[0], period=7)
    seal(tmp_path, metric, parts[1], period=7, number=2)
    seal(tmp_path, metric, parts[2], period=8)
    assert np.array_equal(read(tmp_path, metric), np.concatenate(parts))
    data = Dataset(tmp_path, metric)
    assert data.periods == (7, 8)
    assert sum(part.records for part in data.parts) == 153


def test_batches_are_bounded(tmp_path: Path, metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    """No batch is larger than the bound, so memory does not grow with the data."""
    monkeypatch.setattr("hubbub_decoder.sealed.file._BATCH_RECORDS", 16)
    records = random_records(metric, 100, 1)
    seal(tmp_path, metric, records)
    sizes = [len(batch) for batch in Dataset(tmp_path, metric).batches()]
    assert max(sizes) <= 16
    assert sum(sizes) == 100
    assert np.array_equal(read(tmp_path, metric), records)


def test_memory_does_not_grow_with_the_records(tmp_path: Path, metric: Metric) -> None:
    """Reading 64 row groups, Arrow holds no more than a few of them at any time."""
    group = 20_000
    width = metric.device.record_bytes
    records = np.random.default_rng(1).integers(0, 256, (64 * group, width), dtype=np.uint8)
    seal(tmp_path, metric, records, rows=group)
    del records
    before = pa.total_allocated_bytes()
    held = [pa.total_allocated_bytes() - before for _ in Dataset(tmp_path, metric).batches()]
    assert len(held) == 64
    assert max(held) < 8 * group * width


def test_periods_can_be_chosen(tmp_path: Path, metric: Metric) -> None:
    """Only the periods asked for are read; one that is not sealed is an error that names those that are, with dates."""
    for period in (7, 8, 9):
        seal(tmp_path, metric, random_records(metric, period, period), period=period)
    assert sum(len(batch) for batch in Dataset(tmp_path, metric, [7, 9]).batches()) == 16
    for asked in ([10], [10, 8]):
        with pytest.raises(DatasetError, match=r"period 10 .*7 \(1970-01-08\), 8 \(1970-01-09\), 9 "):
            Dataset(tmp_path, metric, asked)


def test_a_file_without_a_manifest_is_no_part(tmp_path: Path, metric: Metric) -> None:
    """What a crash left without its manifest is not read."""
    seal(tmp_path, metric, random_records(metric, 10, 1))
    seal(tmp_path, metric, random_records(metric, 10, 2), number=2).unlink()
    assert len(read(tmp_path, metric)) == 10


def test_nothing_sealed(tmp_path: Path, metric: Metric) -> None:
    """Without a sealed batch the error names the command that makes one."""
    with pytest.raises(DatasetError, match="hubbub seal"):
        Dataset(tmp_path, metric)


def test_sealed_under_another_definition(tmp_path: Path) -> None:
    """Data of another definition is refused with both fingerprints: never decoded to nonsense."""
    registry = registry_of(tmp_path, m={"mechanism": "randomized-response"})
    old = registry.metric("m")
    seal(tmp_path, old, random_records(old, 10, 1))
    new = metric_of(tmp_path, "randomized-response", epsilon=2)
    with pytest.raises(DatasetError) as caught:
        Dataset(tmp_path, new)
    assert old.fingerprint.hex() in str(caught.value)
    assert new.fingerprint.hex() in str(caught.value)


def test_a_manifest_of_another_definition(tmp_path: Path, metric: Metric) -> None:
    """A manifest in the right folder that names another definition is refused, by file, with both fingerprints."""
    path = seal(tmp_path, metric, random_records(metric, 10, 1))
    change(path, fingerprint="00" * 8)
    with pytest.raises(DatasetError) as caught:
        Dataset(tmp_path, metric)
    for part in (str(path), "00" * 8, metric.fingerprint.hex()):
        assert part in str(caught.value)


def change(path: Path, **keys: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **keys}))


NOT_A_NUMBER: list[Any] = [None, [], True, "7", 1.5]
NOT_A_TEXT: list[Any] = [None, [], True, 7]
DAMAGE: dict[str, list[Any]] = {
    "schema": [*NOT_A_NUMBER, 2],
    "namespace": [*NOT_A_TEXT, "org.example.other"],
    "metric": [*NOT_A_TEXT, "other"],
    "mechanism": [*NOT_A_TEXT, "randomized-response"],
    "fingerprint": [*NOT_A_TEXT, "00"],
    "period": [*NOT_A_NUMBER, 20009, -5, 10**30],
    "period_seconds": [*NOT_A_NUMBER, 3600],
    "period_start": [*NOT_A_TEXT, "2024-10-05T00:00:00Z"],
    "records": [*NOT_A_NUMBER, -1, 11],
    "record_bytes": [*NOT_A_NUMBER, 0, 9],
    "file": [
        *NOT_A_TEXT, "", ".", "..", "../../x", "absent.parquet", "00001.json", "00001.PARQUET", "/00001.parquet",
        "./00001.parquet", "a\0b", "\ud800", "00001.parquet\0", "00001.parquet\n",
    ],
    "file_bytes": [*NOT_A_NUMBER, 0],
    "sha256": [*NOT_A_TEXT, "00" * 32],
    "checksum": [*NOT_A_TEXT, "", "00" * 32],
    "entry": [None, [], True, 7, "", {}, {"fields": []}, {"mechanism": [[[]]]}],
}  # fmt: skip


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in DAMAGE.items() for value in values])
def test_a_damaged_manifest(tmp_path: Path, metric: Metric, key: str, value: object) -> None:
    """A manifest with an entry missing, of another type or with a wrong figure is a DatasetError that names a file."""
    path = seal(tmp_path, metric, random_records(metric, 10, 1))
    change(path, **{key: value})
    with pytest.raises(DatasetError) as caught:
        read(tmp_path, metric)
    assert str(path.parent) in str(caught.value)


def checksummed(path: Path) -> None:
    """Gives a manifest the checksum that a seal writes, as docs/sealed-data.md defines it."""
    rest = json.loads(path.read_text())
    change(path, checksum=hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest())


def test_a_manifest_that_was_changed(tmp_path: Path, metric: Metric) -> None:
    """A manifest with its checksum is read; with one more key, or one entry changed, it is a DatasetError by file."""
    path = seal(tmp_path, metric, random_records(metric, 10, 1))
    checksummed(path)
    sealed = path.read_text()
    assert len(read(tmp_path, metric)) == 10
    for keys in ({"more": 1}, {"entry": {**metric.entry, "expires": 0}}, {"records": 9}):
        path.write_text(sealed)
        change(path, **keys)
        with pytest.raises(DatasetError, match=r"00001\.json: was changed after it was sealed"):
            Dataset(tmp_path, metric)


def test_a_metric_that_was_prolonged(tmp_path: Path, metric: Metric) -> None:
    """What is no part of the definition, such as the day on which a metric expires, may have been another."""
    path = seal(tmp_path, metric, random_records(metric, 10, 1))
    change(path, entry={**metric.entry, "expires": metric.entry["expires"] - 1})
    assert len(read(tmp_path, metric)) == 10


@pytest.mark.parametrize("text", ["", "{", "[]", "\xff", "[" * 100_000, '{"a":' * 100_000, "1" * 5000])
def test_a_manifest_that_is_no_manifest(tmp_path: Path, metric: Metric, text: str) -> None:
    """Bytes that are no JSON object are a DatasetError that names the file."""
    path = seal(tmp_path, metric, random_records(metric, 10, 1))
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(DatasetError, match=path.name):
        Dataset(tmp_path, metric)


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


@pytest.mark.parametrize("damage", [Path.unlink, truncate, flip])
def test_a_damaged_file(tmp_path: Path, metric: Metric, damage: Callable[[Path], None]) -> None:
    """A file that is missing, shorter, or differs in one bit is a DatasetError that names it, before any record."""
    file = seal(tmp_path, metric, random_records(metric, 10, 1)).with_suffix(".parquet")
    damage(file)
    with pytest.raises(DatasetError, match=file.name):
        next(Dataset(tmp_path, metric).batches())


@pytest.mark.parametrize(
    "column",
    [
        {"record": pa.array([b"abc"] * 10, pa.binary())},
        {"record": pa.array([b"abc"] * 10, pa.binary(3))},
        {"other": pa.array([b"ab"] * 10, pa.binary(2))},
        {"record": pa.array([b"ab"] * 9 + [None], pa.binary(2))},
        {"record": pa.array([b"ab"] * 11, pa.binary(2))},
        {"record": pa.array([b"ab"] * 10, pa.binary(2)), "time": pa.array(range(10))},
    ],
)
def test_a_file_of_another_schema(tmp_path: Path, metric: Metric, column: dict[str, pa.Array]) -> None:
    """A column of another name, type or length, one too many, or a missing record is a DatasetError."""
    path = seal(tmp_path, metric, random_records(metric, 10, 1))
    file = path.with_suffix(".parquet")
    pq.write_table(pa.table(column), file)
    change(path, file_bytes=file.stat().st_size, sha256=hashlib.sha256(file.read_bytes()).hexdigest())
    with pytest.raises(DatasetError, match=file.name):
        list(Dataset(tmp_path, metric).batches())


def test_a_file_that_is_no_parquet(tmp_path: Path, metric: Metric) -> None:
    """Bytes that are no Parquet, though their digest is right, are a DatasetError."""
    path = seal(tmp_path, metric, random_records(metric, 10, 1))
    path.with_suffix(".parquet").write_bytes(b"not parquet")
    change(path, file_bytes=11, sha256=hashlib.sha256(b"not parquet").hexdigest())
    with pytest.raises(DatasetError, match="Parquet"):
        list(Dataset(tmp_path, metric).batches())


def test_decode_is_aggregate_and_estimate(tmp_path: Path, metric: Metric) -> None:
    """decode over several parts gives the figures of all their records together."""
    from hubbub_decoder import estimate, partial

    parts = [random_records(metric, 40, i) for i in range(3)]
    for number, records in enumerate(parts, start=1):
        seal(tmp_path, metric, records, number=number)
    whole = estimate(metric, partial(metric, np.concatenate(parts)), ["x", "y"])
    found = decode(metric, Dataset(tmp_path, metric), ["x", "y"])
    assert found.n == 120
    assert found.value == whole.value
    assert np.array_equal(found.count, whole.count)
