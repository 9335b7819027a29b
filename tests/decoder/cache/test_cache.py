"""Partial states kept between runs: the same figures and flags as without, or else made again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from hubbub_decoder import ArgumentError, Dataset, StateCache, decode, estimate
from hubbub_decoder.cache import store
from hubbub_decoder.reading import Reading, read
from hubbub_registry import Metric
from hubbub_registry.errors import DatasetError

from tests.decoder.reports import random_records, seal
from tests.registries import MECHANISMS, metric_of


@pytest.fixture
def metric(tmp_path: Path) -> Metric:
    return metric_of(tmp_path, "hadamard-count-mean-sketch")


def cached(folder: Path, metric: Metric) -> Reading:
    return read(Dataset(folder, metric), cache=StateCache(folder / "states"))


def entries(folder: Path) -> list[Path]:
    return sorted((folder / "states").rglob("*.*"))


def no_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(part: object) -> None:
        raise AssertionError(f"{part} was read")

    monkeypatch.setattr("hubbub_decoder.reading.part_batches", refuse)


def same(one: Reading, other: Reading) -> bool:
    return one.state.to_bytes() == other.state.to_bytes() and one.suspects == other.suspects


@pytest.mark.parametrize("mechanism", sorted(MECHANISMS))
def test_a_second_run_reads_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mechanism: str) -> None:
    """For every mechanism the states of all parts come from the cache, byte for byte as if they had been read."""
    metric = metric_of(tmp_path, mechanism)
    for period in (7, 8):
        seal(tmp_path, metric, random_records(metric, 300, period), period=period)
    plain = read(Dataset(tmp_path, metric))
    assert same(cached(tmp_path, metric), plain)
    assert len(entries(tmp_path)) == 2
    no_reading(monkeypatch)
    assert same(cached(tmp_path, metric), plain)


def test_a_cached_read_shows_the_same_flags(tmp_path: Path, metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    """A suspicious part is as suspicious from the cache: same bound, same words, same note."""
    seal(tmp_path, metric, np.tile(random_records(metric, 1, 1), (500, 1)))
    plain = read(Dataset(tmp_path, metric))
    assert plain.suspects
    cached(tmp_path, metric)
    no_reading(monkeypatch)
    again = cached(tmp_path, metric)
    assert again.suspects == plain.suspects
    assert again.notes == plain.notes


def test_a_part_that_came_late_is_read_and_the_others_are_not(
    tmp_path: Path, metric: Metric, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a part that is new is counted."""
    seal(tmp_path, metric, random_records(metric, 300, 1))
    cached(tmp_path, metric)
    seal(tmp_path, metric, random_records(metric, 200, 2), number=2)
    seen = []
    original = store.StateCache.keep

    def keep(self: StateCache, of: Metric, part: object, *counted: object) -> None:
        seen.append(part)
        original(self, of, part, *counted)  # type: ignore[arg-type]

    monkeypatch.setattr(store.StateCache, "keep", keep)
    assert cached(tmp_path, metric).state.n == 500
    assert len(seen) == 1


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flip_first(data: bytes) -> bytes:
    return bytes([data[0] ^ 1]) + data[1:]


def flip_last(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 128])


@pytest.mark.parametrize("damage", [cut, flip_first, flip_last, lambda data: b"", lambda data: data + b"\0"])
def test_a_damaged_entry_is_made_again(tmp_path: Path, metric: Metric, damage: Callable[[bytes], bytes]) -> None:
    """An entry that is torn, or differs in a bit, is passed over: same figures, and a sound entry in its place."""
    seal(tmp_path, metric, random_records(metric, 300, 1))
    plain = cached(tmp_path, metric)
    (path,) = entries(tmp_path)
    sound = path.read_bytes()
    path.write_bytes(damage(sound))
    assert same(cached(tmp_path, metric), plain)
    assert path.read_bytes() == sound


def test_every_flipped_byte_is_noticed(tmp_path: Path) -> None:
    """Whatever byte of an entry changes, it is not used."""
    metric = metric_of(tmp_path, "randomized-response")
    seal(tmp_path, metric, random_records(metric, 300, 1))
    cached(tmp_path, metric)
    (path,) = entries(tmp_path)
    sound = path.read_bytes()
    (part,) = Dataset(tmp_path, metric).parts
    cache = StateCache(tmp_path / "states")
    assert cache.find(metric, part) is not None
    for i in range(len(sound)):
        path.write_bytes(sound[:i] + bytes([sound[i] ^ 1]) + sound[i + 1 :])
        assert cache.find(metric, part) is None


def test_an_entry_of_another_part_is_not_used(tmp_path: Path, metric: Metric) -> None:
    """A sound entry under the name of another part is passed over: figures never mix."""
    seal(tmp_path, metric, random_records(metric, 300, 1), period=7)
    seal(tmp_path, metric, random_records(metric, 300, 2), period=8)
    plain = cached(tmp_path, metric)
    first, second = entries(tmp_path)
    second.write_bytes(first.read_bytes())
    assert same(cached(tmp_path, metric), plain)


def test_an_entry_of_another_plan_is_not_used(tmp_path: Path) -> None:
    """Records that two plans could have made are counted under each plan by itself, even if entries are moved."""
    old = metric_of(tmp_path, "randomized-response", epsilon=1)
    new = metric_of(tmp_path, "randomized-response", epsilon=2)
    for metric in (old, new):
        seal(tmp_path, metric, random_records(old, 300, 1))
        cached(tmp_path, metric)
    first, second = (next((tmp_path / "states" / "m" / metric.fingerprint.hex()).iterdir()) for metric in (old, new))
    assert first.name == second.name  # the same file's digest
    second.write_bytes(first.read_bytes())
    state = cached(tmp_path, new).state
    assert state.fingerprint == new.fingerprint
    with pytest.raises(DatasetError, match=new.fingerprint.hex()):
        Dataset(tmp_path, metric_of(tmp_path, "randomized-response", epsilon=3))


def test_an_entry_of_other_code_is_not_used(tmp_path: Path, metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another version of the decoder counted is counted again."""
    seal(tmp_path, metric, random_records(metric, 300, 1))
    cached(tmp_path, metric)
    (part,) = Dataset(tmp_path, metric).parts
    cache = StateCache(tmp_path / "states")
    assert cache.find(metric, part) is not None
    monkeypatch.setattr(store, "code_digest", lambda: b"another")
    assert cache.find(metric, part) is None


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


@pytest.mark.parametrize("damage", [Path.unlink, truncate])
def test_a_lost_file_is_an_error_even_if_it_was_counted(
    tmp_path: Path, metric: Metric, damage: Callable[[Path], None]
) -> None:
    """A sealed file that is missing or shorter is a DatasetError with a cache as without."""
    file = seal(tmp_path, metric, random_records(metric, 300, 1)).with_suffix(".parquet")
    cached(tmp_path, metric)
    damage(file)
    with pytest.raises(DatasetError, match=file.name):
        cached(tmp_path, metric)


def test_deleted_parts_leave_no_counts(tmp_path: Path, metric: Metric) -> None:
    """The next run removes the states of parts that are no longer sealed, and keeps those of periods not asked for."""
    paths = [seal(tmp_path, metric, random_records(metric, 300, i), period=i) for i in (7, 8, 9)]
    cached(tmp_path, metric)
    before = entries(tmp_path)
    paths[0].unlink()
    read(Dataset(tmp_path, metric, [8]), cache=StateCache(tmp_path / "states"))
    assert len(before) == 3
    assert len(entries(tmp_path)) == 2


def test_what_a_killed_process_left_is_removed_in_time(tmp_path: Path, metric: Metric) -> None:
    """A half-written entry is no entry; the next run removes one of last week, and leaves one of this minute alone."""
    seal(tmp_path, metric, random_records(metric, 300, 1))
    cached(tmp_path, metric)
    (entry,) = entries(tmp_path)
    old, new = entry.with_name("old.part"), entry.with_name("new.part")
    for path in (old, new):
        path.write_bytes(entry.read_bytes()[:10])
    os.utime(old, (0, 0))
    cached(tmp_path, metric)
    assert entries(tmp_path) == sorted([entry, new])


def test_a_cache_that_cannot_be_written_is_a_note(tmp_path: Path, metric: Metric) -> None:
    """Figures come all the same, with a note that says why nothing was kept."""
    seal(tmp_path, metric, random_records(metric, 300, 1))
    (tmp_path / "file").write_text("")
    found = decode(metric, Dataset(tmp_path, metric), ["a"], cache=StateCache(tmp_path / "file"))
    plain = decode(metric, Dataset(tmp_path, metric), ["a"])
    assert np.array_equal(found.count, plain.count)
    (note,) = found.notes
    assert "could not be kept" in note


def test_a_write_that_fails_leaves_nothing(tmp_path: Path, metric: Metric, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the disk fills while an entry is written there is no half of it, under no name."""

    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    seal(tmp_path, metric, random_records(metric, 300, 1))
    monkeypatch.setattr("hubbub_decoder.cache.store.os.replace", full)
    assert "No space left" in cached(tmp_path, metric).notes[0]
    assert [path for path in entries(tmp_path) if path.is_file()] == []


def test_states_from_the_cache_estimate(tmp_path: Path, metric: Metric) -> None:
    """Estimates from cached states are those of the records."""
    seal(tmp_path, metric, random_records(metric, 300, 1))
    cached(tmp_path, metric)
    again = cached(tmp_path, metric).state
    plain = read(Dataset(tmp_path, metric)).state
    assert np.array_equal(estimate(metric, again, ["a"]).count, estimate(metric, plain, ["a"]).count)


def test_a_folder_is_a_path() -> None:
    """Another type is an ArgumentError that says what to pass."""
    with pytest.raises(ArgumentError, match="StateCache"):
        StateCache(7)  # type: ignore[arg-type]
