"""Data directories with something of everything in them, and ways to damage them."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

from hubbub_collector.access.caps import Caps, Charge
from hubbub_collector.layout import DataDirectory
from hubbub_collector.seal import SealOptions, seal
from hubbub_collector.sqlite_store import SqliteStore
from hubbub_collector.store_check.database import read_only
from hubbub_registry import Registry

from tests.collector.uploads import DAY, NOW, TODAY, batch, fill, park, records, upload


def make(registry: Registry, data: DataDirectory, groups: int = 6) -> list[bytes]:
    """A worker's store with groups of one upload each, a quarantine, and a sealer's database with what is sealed, what
    waits and what is overdue, and counts for caps. Returns the uploads in the store's groups.
    """
    sketch = registry.metric("sketch")
    fill(data, *([upload(batch(sketch, records(sketch, 9)))] for _ in range(8)))
    seal(registry, data, SealOptions(8, everything=True), NOW)
    fill(data, *([upload(batch(sketch, records(sketch, 9), TODAY + 1))] for _ in range(8)))
    seal(registry, data, SealOptions(1000), NOW)
    for _ in range(2):
        seal(registry, data, SealOptions(1000), NOW + 50 * DAY)
    fill(data, [upload(batch(sketch, records(sketch, 9)))])
    seal(registry, data, SealOptions(1000), NOW)
    bodies = [upload(batch(sketch, records(sketch, 700 if number == 2 else 90))) for number in range(groups)]
    for number in range(4):
        park(data, upload(batch(sketch, records(sketch, 1 + 400 * number))._replace(fingerprint=bytes(8))))
    fill(data, *([body] for body in bodies))
    caps = Caps(data.caps, 1)
    caps.charge([Charge(f"t{n % 40}", 1000, n.to_bytes(16, "big"), bytes(8), n // 40, n, 10**9) for n in range(1, 400)])
    caps.close()
    return bodies


def with_log(path: Path, bodies: list[bytes]) -> None:
    """Commits ``bodies``, a group each, and leaves them in the log, as a collector does that is killed."""
    store = SqliteStore(path)
    for body in bodies:
        store.commit([body])
    copies = {end: path.with_name(path.name + end + ".copy") for end in ("", "-wal")}
    for end, copy in copies.items():
        shutil.copy(path.with_name(path.name + end), copy)
    store.close()
    for end, copy in copies.items():
        copy.rename(path.with_name(path.name + end))


def rows(path: Path) -> dict[str, set[tuple[object, ...]]]:
    """Every row of every table, as SQLite reads them."""
    with closing(read_only(path)) as db:
        names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite%'")]
        return {name: set(db.execute(f"SELECT * FROM {name}")) for name in names}  # noqa: S608


def flip(path: Path, bit: int) -> None:
    """Flips a bit of a file; bits are numbered from its beginning, and again from there past its end."""
    content = bytearray(path.read_bytes())
    bit %= 8 * len(content)
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
