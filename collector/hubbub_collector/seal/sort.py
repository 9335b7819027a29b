"""Moves uploads from a worker's store to the sorted store, beside a running collector."""

from __future__ import annotations

from collections.abc import Iterator

import msgpack

from hubbub_collector.errors import CollectorError
from hubbub_collector.seal.sorted_store import Row, SortedStore
from hubbub_collector.seal.steps import Step
from hubbub_collector.store import Group, SqliteStore

TRANSACTION_BYTES = 8 << 20
"""Bodies sorted in one transaction; Python holds about ten times that while it does."""


def sort(store: SqliteStore, target: SortedStore, step: Step) -> tuple[int, int]:
    """Moves every group that ``store`` holds now. Returns (batches moved, of those repeats that were dropped).

    A group is in ``target``, with the watermark that says so, before it is deleted: after a crash in between, the
    watermark tells what is only to be deleted. Raises CollectorError at a damaged group, StoreError, sqlite3.Error.
    """
    done = target.watermark(store.identity)
    store.delete(done)
    moved = repeats = 0
    for groups in _chunks(store, done, store.last_id()):
        # Sorted, so that rows go in where they belong on disk; ids are random, so nothing of their arrival is left.
        rows = sorted(row for group in groups for row in _explode(store, group))
        added = target.add(rows, store.identity, groups[-1].id)
        moved += len(rows)
        repeats += len(rows) - added
        step("sorted")
        store.delete(groups[-1].id)
        step("taken")
    return moved, repeats


def _chunks(store: SqliteStore, after: int, up_to: int) -> Iterator[list[Group]]:
    chunk: list[Group] = []
    size = 0
    for group in store.groups(after, up_to):
        chunk.append(group)
        size += len(group.bodies)
        if size >= TRANSACTION_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _explode(store: SqliteStore, group: Group) -> Iterator[Row]:
    """The group's uploads, one row for each metric and period of each."""
    unpacker = msgpack.Unpacker(max_buffer_size=len(group.bodies))
    unpacker.feed(group.bodies)
    try:
        for _, upload, batches in unpacker:
            merged: dict[tuple[bytes, int], bytes] = {}
            for fingerprint, period, records in batches:
                key = fingerprint, period
                merged[key] = merged[key] + records if key in merged else records
            for (fingerprint, period), records in merged.items():
                yield fingerprint, period, upload, records
        whole = unpacker.tell() == len(group.bodies)
    except (ValueError, TypeError, msgpack.UnpackException):
        whole = False
    if not whole:  # its checksum was right, so this is a defect of whoever wrote it
        raise CollectorError(f"{store.path}: group {group.id} does not hold whole uploads; nothing was removed")
