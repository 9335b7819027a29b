"""Every whole row that can be found in the files of a database, however damaged they are."""

from __future__ import annotations

import mmap
from dataclasses import dataclass, field
from pathlib import Path

from hubbub_collector.store_check.kinds import Kind, Row
from hubbub_collector.store_check.pages import Cell, Fetch, cells, guessed
from hubbub_collector.wal import Log, frames, log_of, read_log


@dataclass
class Salvaged:
    """The whole rows of each table by their keys, and where rows are that are not: (page, table, key)."""

    rows: dict[str, dict[Row, Row]] = field(default_factory=dict)
    damaged: list[tuple[int, str, Row]] = field(default_factory=list)
    log: Log = field(default_factory=lambda: Log((), 0, b""))


def salvage(path: Path, kind: Kind) -> Salvaged:
    """Reads the database ``path`` and its log, which nobody may be writing. Raises OSError.

    The newest copy of each page counts. Where that is damaged, older ones in the log and the database are looked
    through as well: at worst that brings back what was deleted, whose upload ids are still known.
    """
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        log = read_log(log_of(path).read_bytes() if log_of(path).exists() else b"", kind.page)
        found = Salvaged({name: {} for name in kind.tables}, log=log)
        latest: dict[int, bytes] = {}
        older: list[tuple[int, bytes]] = []
        doubtful = {page for _, page in log.damaged}
        for page, image, whole in frames(log, kind.page):
            if page in latest and (page in doubtful or not whole):
                older.append((page, latest[page]))
            latest[page] = image

        def fetch(number: int) -> bytes | None:
            if number in latest:
                return latest[number]
            image = content[(number - 1) * kind.page : number * kind.page] if number else b""
            return image if len(image) == kind.page else None

        for number in sorted({*range(1, len(content) // kind.page + 1), *latest}):
            if (newest := fetch(number)) is not None:
                _sift(number, newest, fetch, kind, found)
        older += [(page, content[(page - 1) * kind.page : page * kind.page]) for page in doubtful if page]
        for number, image in older:
            if len(image) == kind.page:
                _sift(number, image, fetch, kind, found)
        if isinstance(content, mmap.mmap):
            content.close()
    found.damaged = [one for one in found.damaged if one[2] not in found.rows[one[1]]]
    return found


def _sift(number: int, page: bytes, fetch: Fetch, kind: Kind, found: Salvaged) -> None:
    """Adds what is on ``page``. Where not all of it is whole, or it has no row, its header may be what is damaged."""
    rows = list(cells(number, page, fetch))
    whole = [_take(cell, kind, found) for cell in rows if cell is not None]
    if len(whole) < len(rows) or not rows or not all(whole):
        for cell in guessed(number, page, fetch):
            _take(cell, kind, found, note=False)


def _take(cell: Cell, kind: Kind, found: Salvaged, *, note: bool = True) -> bool:
    """Adds a row, and says whether it is whole; ``note`` adds it to what is damaged where it is not."""
    row = cell.values
    if cell.rowid is not None:
        row = (cell.rowid, *row[1:])
    fitting = [name for name, table in kind.tables.items() if table.fits(row)]
    for name in fitting:
        if kind.tables[name].whole(row):
            found.rows[name].setdefault(row[: _KEYS[name]], row)
            return True
    if fitting and note:
        found.damaged.append((cell.page, fitting[0], row[: _KEYS[fitting[0]]]))
    return False


_KEYS = {
    "meta": 1, "groups": 1, "forgotten": 1, "quarantine": 2, "intents": 2, "taken": 2,
    "batches": 3, "overdue": 3, "ids": 3, "late": 1, "used": 3, "charged": 1,
}  # fmt: skip
"""How many of its first values are a row's key."""
