"""Sealing runs beside the intake: at no step does it hold what a commit needs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hubbub_collector.layout import DataDirectory
from hubbub_collector.seal import SealOptions, seal
from hubbub_collector.seal.steps import STEPS
from hubbub_collector.sqlite_store import SqliteStore

from tests.collector.uploads import NOW, batch, counts, load, park, records, sealed, split, upload


def test_uploads_are_stored_at_every_step_of_sealing(tmp_path: Path) -> None:
    """A commit that would wait for nobody succeeds at each step, and before each statement that the sealer makes on the
    worker's store within a step; all that was stored is sealed once.
    """
    registry, data = load(tmp_path), DataDirectory(tmp_path / "data")
    sketch = registry.metric("sketch")
    contents: list[bytes] = []
    store = SqliteStore(data.worker_store(0), 1)
    store._db.execute("PRAGMA busy_timeout = 0")
    seen: Counter[str] = Counter()

    def store_one() -> None:
        contents.append(records(sketch, 2))
        store.commit([upload(batch(sketch, contents[-1]))])

    def step(name: str) -> None:
        seen[name] += 1
        store_one()

    for _ in range(200):
        store_one()
    contents.append(records(sketch, 1))
    park(data, upload(batch(sketch, contents[-1])))
    delete = SqliteStore.delete
    most = 0

    def traced(self: SqliteStore, ids: object, at_once: int = 64) -> None:
        nonlocal most
        before = self.last_id() and len(list(self.ids(0, self.last_id())))

        def statement(text: str) -> None:
            nonlocal before, most
            if text.startswith("DELETE"):
                store_one()
                most = max(most, at_once)

        self._db.set_trace_callback(statement)
        delete(self, ids, at_once)  # type: ignore[arg-type]
        self._db.set_trace_callback(None)

    SqliteStore.delete = traced  # type: ignore[method-assign]
    try:
        seal(registry, data, SealOptions(1, everything=True), NOW, step)
    finally:
        SqliteStore.delete = delete  # type: ignore[method-assign]
    assert set(seen) == set(STEPS)
    assert most == 64
    seal(registry, data, SealOptions(1, everything=True), NOW)
    store.close()
    assert counts(sealed(data, sketch)) == Counter(split(b"".join(contents), sketch))
