"""Moves uploads from a worker's store to the sorted store, beside a running collector."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgpack

from hubbub_collector.errors import DamagedError
from hubbub_collector.seal.report import SealReport
from hubbub_collector.seal.sorted_store import Row, SortedStore
from hubbub_collector.seal.steps import Step
from hubbub_collector.store import SqliteStore

TRANSACTION_BYTES = 8 << 20
"""Bodies sorted in one transaction; Python holds about ten times that while it does."""


@dataclass
class _Chunk:
    """Groups that are sorted together: their uploads, and which of them are ``whole`` and which ``damaged``."""

    rows: list[Row] = field(default_factory=list)
    whole: set[int] = field(default_factory=set)
    damaged: set[int] = field(default_factory=set)
    size: int = 0


def sort(store: SqliteStore, target: SortedStore, step: Step, report: SealReport) -> None:
    """Moves every group that ``store`` holds now, but for damaged ones, and says in ``report`` what that was.

    A group is in ``target``, with the watermark that says so, before it is deleted: after a crash in between, the
    watermark tells what is only to be deleted. A damaged group stays where it is, and ``target`` remembers that the
    watermark does not speak for it; each run looks whether it has been mended. Raises StoreError where ``store`` fails,
    sqlite3.Error where ``target`` does.
    """
    done, damaged = target.watermark(store.identity), target.damaged(store.identity)
    store.delete(done, damaged)
    for chunk in _chunks(store, itertools.chain(sorted(damaged), store.ids(done, store.last_id())), report):
        done = max(done, *chunk.whole, *chunk.damaged)
        damaged = (damaged - chunk.whole) | chunk.damaged
        # Sorted, so that rows go in where they belong on disk; ids are random, so nothing of their arrival is left.
        added = target.add(sorted(chunk.rows), store.identity, done, damaged)
        report.batches += len(chunk.rows)
        report.repeats += len(chunk.rows) - added
        step("sorted")
        store.delete(done, damaged)
        step("taken")


def _chunks(store: SqliteStore, ids: Iterable[int], report: SealReport) -> Iterator[_Chunk]:
    chunk = _Chunk()
    for id in ids:
        try:
            bodies = store.group(id)
            if bodies is not None:  # an operator may have given a damaged one up
                chunk.rows += _explode(store, id, bodies)
                chunk.size += len(bodies)
            chunk.whole.add(id)
        except DamagedError as error:
            chunk.damaged.add(id)
            report.problems.append(str(error))
        if chunk.size >= TRANSACTION_BYTES:
            yield chunk
            chunk = _Chunk()
    if chunk.whole or chunk.damaged:
        yield chunk


def _explode(store: SqliteStore, id: int, bodies: bytes) -> list[Row]:
    """The group's uploads, one row for each metric and period of each."""
    rows: list[Row] = []
    unpacker = msgpack.Unpacker(max_buffer_size=len(bodies))
    unpacker.feed(bodies)
    try:
        for _, upload, batches in unpacker:
            rows += merged(upload, batches)
        whole = unpacker.tell() == len(bodies)
    except (ValueError, TypeError, msgpack.UnpackException):
        whole = False
    if not whole:  # its checksum was right, so this is a defect of whoever wrote it
        raise DamagedError(f"{store.path}: group {id} does not hold whole uploads; it was left where it is")
    return rows


def merged(upload: bytes, batches: Iterable[tuple[bytes, int, bytes]]) -> list[Row]:
    """The batches of one upload as rows: those of one metric and period are one."""
    found: dict[tuple[bytes, int], bytes] = {}
    for fingerprint, period, records in batches:
        key = fingerprint, period
        found[key] = found[key] + records if key in found else records
    return [(fingerprint, period, upload, records) for (fingerprint, period), records in found.items()]
