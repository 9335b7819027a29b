"""A folder of entries, one a sealed part: found by what they were counted from, written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

from hubbub_decoder.cache.code import code_digest
from hubbub_decoder.cache.entry import Counted, pack, unpack
from hubbub_decoder.counting.state import SCHEMA
from hubbub_decoder.errors import ArgumentError, StateError
from hubbub_decoder.sealed.manifest import Manifest
from hubbub_registry import Metric

_ENDING = ".state"
_TEMPORARY = ".part"
ONE_CELL = "cell "
"""How what was counted of one cell of a public dimension begins; then comes its place."""
_ABANDONED = 86_400  # seconds


class StateCache:
    """Partial states under ``folder/<metric>/<fingerprint>/``, for one data directory.

    An entry belongs to the SHA-256 of a sealed file, the definition's fingerprint, the schema of states and the
    decoder's code. One that is damaged, or belongs to anything else, is passed over and made again. Trust the folder as
    the sealed data itself: a checksum finds damage, not malice. A cache that cannot be written costs time and changes
    no figure, so that is a note (``problem``) and no error.
    """

    def __init__(self, folder: str | Path) -> None:
        if not isinstance(folder, (str, Path)):
            raise ArgumentError(
                f"StateCache: folder is a path (str or Path), not {folder!r}; pass where to keep states"
            )
        self.folder = Path(folder)
        self.problem: str | None = None
        """Why what was counted could not be kept, if so."""

    def find(self, metric: Metric, part: Manifest, kind: str = "") -> Counted | None:
        """What was counted of ``part``, if it is here, and the sealed file is still there and as long as it was.

        ``kind`` is what was counted, the whole where it is empty (see ``reading``). The file is not read: what it held
        when it was counted had the digest that its manifest still names.
        """
        try:
            if part.file.stat().st_size != part.file_bytes:
                return None
            data = self._path(metric, part, kind).read_bytes()
        except (OSError, ValueError):
            return None
        counted = unpack(_key(metric, part, kind), data)
        if counted is None or counted.state.n > part.records:
            return None
        if counted.state.n != part.records and not kind.startswith(ONE_CELL):
            return None
        try:
            counted.state.check_definition(metric)
        except StateError:
            return None
        return counted

    def keep(self, metric: Metric, part: Manifest, counted: Counted, kind: str = "") -> None:
        """Writes an entry: under a name of its own, which then takes the place of the last. Never raises OSError.

        No fsync: an entry that a crash tears fails its checksum, and is made again.
        """
        path = self._path(metric, part, kind)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(_TEMPORARY, dir=path.parent)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(pack(_key(metric, part, kind), counted))
                os.replace(name, path)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            self.problem = (
                f"{self.folder}: partial states could not be kept ({error.strerror or error}); no figure depends on "
                "them, but the next run reads everything again"
            )

    def forget_others(self, metric: Metric, parts: Iterable[Manifest]) -> None:
        """Removes entries of this definition that belong to none of ``parts``: what is deleted leaves no counts.

        And what a process that was killed left half-written, once it is a day old and nobody can be writing it.
        """
        folder = self._folder(metric)
        kinds = _kinds(metric)
        kept = {self._path(metric, part, kind).name for part in parts for kind in kinds}
        try:
            for path in sorted(folder.glob(f"*{_ENDING}")):
                if path.name not in kept:
                    path.unlink(missing_ok=True)
            for path in sorted(folder.glob(f"*{_TEMPORARY}")):
                if path.stat().st_mtime < time.time() - _ABANDONED:
                    path.unlink(missing_ok=True)
        except OSError as error:
            self.problem = f"{folder}: states of deleted parts could not be removed ({error.strerror}); remove them"

    def _folder(self, metric: Metric) -> Path:
        return self.folder / metric.name / metric.fingerprint.hex()

    def _path(self, metric: Metric, part: Manifest, kind: str) -> Path:
        # The digest of the digest: what a manifest says must not become a path outside the folder. Whoever deletes the
        # part finds by it all that was counted of it.
        digest = hashlib.sha256(part.sha256.encode()).hexdigest()[:32]
        return self._folder(metric) / (digest + (f"-{kind.replace(' ', '-')}" if kind else "") + _ENDING)


def _kinds(metric: Metric) -> list[str]:
    """What can have been counted of a part of ``metric``."""
    if metric.dimension is None:
        return [""]
    return ["", "cells", *(f"{ONE_CELL}{cell}" for cell in range(len(metric.dimension.values)))]


def _key(metric: Metric, part: Manifest, kind: str) -> bytes:
    """All that what was counted depends on, as one digest."""
    named = f"{part.sha256} {part.records} {metric.mechanism} {metric.fingerprint.hex()} {SCHEMA} {kind} "
    return hashlib.sha256(named.encode() + code_digest()).digest()
