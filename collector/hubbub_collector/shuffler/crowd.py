"""Making batches: the ciphertexts of enough uploads, in a uniformly random order, taken out of what is held."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hubbub_collector.checksums import row_crc
from hubbub_collector.seal.permute import permute
from hubbub_collector.seal.steps import Step, no_step
from hubbub_collector.shuffler.schema import open_database
from hubbub_collector.shuffler.sealed_body import ID_BYTES, MOST
from hubbub_collector.sqlite import store_error

log = logging.getLogger("hubbub.shuffler")

CROWD_BYTES = 32 << 20
"""Uploads that are mixed with one another, unless the threshold asks for more: memory is about three times that."""
BATCH_BYTES = 1 << 19
"""What is sent at one time; a crowd is sent as several batches, each a random part of it."""
STEPS = ("mixed", "acknowledged", "deleted")
"""The moments between which a crash must lose nothing, in their order."""


class Group(NamedTuple):
    """What can be mixed: ciphertexts for one key, of one size. A size may tell the version of a plan."""

    key: bytes
    size: int


class Batch(NamedTuple):
    """Mixed ciphertexts on their way."""

    id: bytes
    key: bytes
    ciphertexts: list[bytes]


class Crowds:
    """The shuffler's side of the database that mixes. One thread at a time may use it; methods raise StoreError."""

    def __init__(self, path: Path, threshold: int, crowd_bytes: int = CROWD_BYTES, step: Step = no_step) -> None:
        """No batch is of fewer than ``threshold`` uploads. Raises CollectorError."""
        self.path = path
        self._threshold = threshold
        self._crowd_bytes = crowd_bytes
        self._step = step
        self._db = open_database(path)

    def waiting(self) -> dict[Group, tuple[int, int]]:
        """How many uploads of each group are held, and their bytes."""
        query = "SELECT key, size, count(*), sum(length(ciphertexts)) FROM held GROUP BY key, size"
        with self._errors():
            return {Group(key, size): (count, space) for key, size, count, space in self._db.execute(query)}

    def mix(self, group: Group) -> int:
        """Turns held uploads of ``group`` into batches, in one transaction. Returns how many uploads; 0 where there are
        fewer than the threshold.
        """
        with self._transaction():
            taken: list[bytes] = []
            mixed = bytearray()
            query = "SELECT upload, ciphertexts, crc FROM held WHERE key = ? AND size = ? ORDER BY upload"
            damaged: list[bytes] = []
            for upload, ciphertexts, crc in self._db.execute(query, group):
                if crc != row_crc(*group, upload, ciphertexts):
                    damaged.append(upload)
                    continue
                taken.append(upload)
                mixed += ciphertexts
                if len(taken) >= self._threshold and len(mixed) >= self._crowd_bytes:
                    break
            for upload in damaged:
                self._set_aside("held", "upload", upload)
            if len(taken) < self._threshold:
                return 0
            rows = permute(np.frombuffer(mixed, np.uint8).reshape(-1, group.size))
            at_once = max(1, min(MOST, BATCH_BYTES // group.size))
            for at in range(0, len(rows), at_once):
                row = os.urandom(ID_BYTES), *group, rows[at : at + at_once].tobytes()
                self._db.execute("INSERT INTO batches VALUES (?, ?, ?, ?, ?)", (*row, row_crc(*row)))
            delete = "DELETE FROM held WHERE key = ? AND size = ? AND upload = ?"
            self._db.executemany(delete, [(*group, upload) for upload in taken])
        self._step("mixed")
        return len(taken)

    def batches(self) -> list[bytes]:
        """The ids of the batches that wait, which are random, in their order."""
        with self._errors():
            return [id for (id,) in self._db.execute("SELECT id FROM batches ORDER BY id")]

    def batch(self, id: bytes) -> Batch | None:
        """The batch ``id``; None where it is damaged, which sets it aside and is logged."""
        with self._errors():
            row = self._db.execute("SELECT id, key, size, ciphertexts, crc FROM batches WHERE id = ?", (id,)).fetchone()
        *content, crc = row
        if crc != row_crc(*content):
            with self._transaction():
                self._set_aside("batches", "id", id)
            return None
        _, key, size, mixed = content
        return Batch(id, key, [mixed[at : at + size] for at in range(0, len(mixed), size)])

    def delete(self, id: bytes) -> None:
        """Forgets a batch that the analyst has."""
        self._step("acknowledged")
        with self._errors():
            self._db.execute("DELETE FROM batches WHERE id = ?", (id,))
        self._step("deleted")

    def expire(self, before: int) -> int:
        """Forgets uploads that came before the day ``before``, and their ids; returns how many were still held."""
        with self._transaction():
            held = "DELETE FROM held WHERE upload IN (SELECT upload FROM seen WHERE day < ?)"
            lost = self._db.execute(held, (before,)).rowcount
            self._db.execute("DELETE FROM seen WHERE day < ?", (before,))
        return lost

    def close(self) -> None:
        """Closes the file."""
        self._db.close()

    def _set_aside(self, part: str, column: str, id: bytes) -> None:
        copy = f"SELECT '{part}', {column}, key, size, ciphertexts, crc FROM {part} WHERE {column} = ?"  # noqa: S608
        self._db.execute(f"INSERT INTO damaged {copy}", (id,))
        self._db.execute(f"DELETE FROM {part} WHERE {column} = ?", (id,))  # noqa: S608 - constants of this file
        log.error("%s: something in %s is damaged (its checksum does not match); it was set aside", self.path, part)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise store_error(self.path, error) from None

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.rollback()
