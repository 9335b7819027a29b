"""Moves uploads from a worker's store to the sorted store, beside a running collector."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import msgpack

from hubbub_collector.errors import DamagedError
from hubbub_collector.seal.report import SealReport
from hubbub_collector.seal.sorted_store import Row, SortedStore
from hubbub_collector.seal.steps import Step
from hubbub_collector.store import Source

TRANSACTION_BYTES = 8 << 20
"""Bodies sorted in one transaction; Python holds about ten times that while it does."""


@dataclass
class _Chunk:
    """Groups that are sorted together: their uploads, and the checksum of each by its id."""

    rows: list[Row] = field(default_factory=list)
    groups: dict[int, int] = field(default_factory=dict)
    size: int = 0


def sort(store: Source, target: SortedStore, step: Step, report: SealReport) -> None:
    """Moves every group that ``store`` holds now, but for damaged ones, and says in ``report`` what that was.

    A group is in ``target``, with a note that says so, before it is deleted: after a crash in between, the note tells
    what is only to be deleted. It speaks for a group by what the group holds, so that none of a store that was restored
    from a copy is mistaken for one that was taken. A damaged group stays where it is, and each run looks whether it has
    been mended. Raises StoreError where ``store`` fails, sqlite3.Error where ``target`` does.
    """
    taken = target.taken(store.identity)
    store.delete([id for id, content in taken.items() if store.checksum(id) == content])
    for chunk in _chunks(store, report):
        # Sorted, so that rows go in where they belong on disk; ids are random, so nothing of their arrival is left.
        added = target.add(sorted(chunk.rows), store.identity, chunk.groups)
        report.batches += len(chunk.rows)
        report.repeats += len(chunk.rows) - sum(added)
        step("sorted")
        store.delete(chunk.groups)
        step("taken")


def _chunks(store: Source, report: SealReport) -> Iterator[_Chunk]:
    chunk = _Chunk()
    for id in store.ids(0, store.last_id()):
        try:
            bodies = store.group(id)
            if bodies is None:
                continue
            chunk.rows += explode(store, id, bodies)
        except DamagedError as error:
            report.problems.append(str(error))
            continue
        chunk.groups[id] = zlib.crc32(bodies)
        chunk.size += len(bodies)
        if chunk.size >= TRANSACTION_BYTES:
            yield chunk
            chunk = _Chunk()
    if chunk.groups:
        yield chunk


def explode(store: Source, id: int, bodies: bytes) -> list[Row]:
    """The uploads of group ``id``, one row for each metric and period of each. Raises DamagedError."""
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
