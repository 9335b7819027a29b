"""SQLite's write-ahead log, as its file format is documented (sqlite.org/fileformat2.html, section 4).

SQLite reads the log up to the first frame whose checksum is wrong, and takes all behind it for something that was never
committed. That is right for the last commit, which a crash may have torn. Where whole commits follow, a frame has been
damaged after it was written, and what SQLite would silently drop was acknowledged.
"""

from __future__ import annotations

import struct
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hubbub_collector.errors import UnreadableError

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_MAGIC = 0x377F0682
"""With its lowest bit set, checksums are over big-endian words."""
_FORMAT = 3007000
_TRIES, _PAUSE = 3, 0.05


@dataclass(frozen=True)
class Log:
    """A log that was read: which frames are damaged, by their place and the page that each holds (place 0: the header),
    and how many whole commits are behind the one that the first of them is of. ``mended`` is the log with new
    checksums, so that SQLite reads all of it.
    """

    damaged: tuple[tuple[int, int], ...]
    commits_behind: int
    mended: bytes


def log_of(path: Path) -> Path:
    """The log of the database ``path``."""
    return path.with_name(path.name + "-wal")


def read_log(content: bytes, page: int = 0) -> Log:
    """Reads a log. Frames of an earlier round of the same file, which the header's salts do not name, are not of it.

    A frame is checked by the checksum in the frame before it, so damage to one does not spread far behind it. ``page``
    is the database's page size, for a log whose header is damaged.
    """
    if len(content) < _HEADER.size + _FRAME.size:
        return Log((), 0, content)
    damaged: list[tuple[int, int]] = []
    header = _HEADER.unpack_from(content)
    magic, version, size, _, salt1, salt2, *stored = header
    words = ">u4" if magic & 1 else "<u4"
    seed = _checksum(content[:24], words, (0, 0))
    if magic & ~1 != _MAGIC or version != _FORMAT or [*seed] != stored:
        damaged.append((0, 0))
        words, size = "<u4" if sys.byteorder == "little" else ">u4", page
        salt1, salt2 = struct.unpack_from(">2I", content, _HEADER.size + 8)
        begin = struct.pack(">6I", _MAGIC + (sys.byteorder == "big"), _FORMAT, size, 0, salt1, salt2)
        seed = _checksum(begin, words, (0, 0))
        content = begin + struct.pack(">2I", *seed) + content[_HEADER.size :]
        if not size:
            return Log(tuple(damaged), 1, content)
    mended = bytearray(content)
    last = renewed = seed
    behind = 0
    torn = False  # whether the commit that the first damaged frame is of has not ended yet
    for place, at in enumerate(range(_HEADER.size, len(content) - _FRAME.size - size + 1, _FRAME.size + size), 1):
        number, commit, first_salt, second_salt, *sums = _FRAME.unpack_from(content, at)
        covered = content[at : at + 8] + content[at + _FRAME.size : at + _FRAME.size + size]
        whole = [*_checksum(covered, words, last)] == sums
        salted = (first_salt, second_salt) == (salt1, salt2)
        if not salted and not whole:
            break
        if not (salted and whole):
            torn = torn or (not damaged and not commit)
            damaged.append((place, number))
        if damaged and commit:
            behind += whole and not torn
            torn = False
        renewed = _checksum(covered, words, renewed)
        _FRAME.pack_into(mended, at, number, commit, salt1, salt2, *renewed)
        last = (sums[0], sums[1])
    return Log(tuple(damaged), behind, bytes(mended))


def check_log(path: Path) -> None:
    """Raises UnreadableError where opening the database ``path`` would drop commits from its log. Others may use it."""
    for _ in range(_TRIES):
        try:
            log = read_log(log_of(path).read_bytes())
        except OSError:
            return
        if not (log.damaged and log.commits_behind):
            return
        time.sleep(_PAUSE)  # in case somebody was writing just then
    raise UnreadableError(
        f"{log_of(path)}: frame {log.damaged[0][0]} is damaged, and {log.commits_behind} commits are behind it that "
        "SQLite would drop; hubbub store repair keeps all that is intact"
    )


def _checksum(data: bytes, words: str, seed: tuple[int, int]) -> tuple[int, int]:
    """The format's checksum of ``data``, an even number of 32-bit ``words``: s0 += x0 + s1; s1 += x1 + s0."""
    s0, s1 = seed
    values = np.frombuffer(data, words).tolist()
    for x0, x1 in zip(values[::2], values[1::2], strict=True):
        s0 = (s0 + x0 + s1) & 0xFFFFFFFF
        s1 = (s1 + x1 + s0) & 0xFFFFFFFF
    return s0, s1


def frames(log: Log, size: int) -> Iterator[tuple[int, bytes, bool]]:
    """The pages of ``log`` that were committed, oldest first: the number of each, its ``size`` bytes, and whether they
    are whole.
    """
    damaged = {place for place, _ in log.damaged}
    pending: list[tuple[int, bytes, bool]] = []
    step = _FRAME.size + size
    for place, at in enumerate(range(_HEADER.size, len(log.mended) - step + 1, step), 1):
        number, commit, *salts, _, _ = _FRAME.unpack_from(log.mended, at)
        if salts != list(_HEADER.unpack_from(log.mended)[4:6]):
            return
        pending.append((number, log.mended[at + _FRAME.size : at + step], place not in damaged))
        if commit:
            yield from pending
            pending = []
