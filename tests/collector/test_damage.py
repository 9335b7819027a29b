"""Stores that are damaged: named, kept as they are, and no reason to hold up anything else."""

from __future__ import annotations

import pytest

from hubbub_collector.layout import DataDirectory
from hubbub_collector.seal import SealReport, seal
from hubbub_collector.store import SqliteStore
from hubbub_registry import Metric, Registry

from tests.collector.uploads import ALL, DAY, NOW, TODAY, batch, counts, fill, records, sealed, split, upload


def write(data: DataDirectory, id: int, bodies: bytes | None) -> None:
    """Puts ``bodies`` into group ``id`` of worker 0 as they are, or deletes the group."""
    store = SqliteStore(data.worker_store(0))
    if bodies is None:
        store._db.execute("DELETE FROM groups WHERE id = ?", (id,))
    else:
        store._db.execute("UPDATE groups SET bodies = ? WHERE id = ?", (bodies, id))
    store.close()


def kept(data: DataDirectory) -> list[int]:
    """The ids of the groups in worker 0's store."""
    store = SqliteStore(data.worker_store(0))
    ids = list(store.ids(0, store.last_id()))
    store.close()
    return ids


def flipped(body: bytes) -> bytes:
    """The same with one bit flipped, in the record."""
    return body[:-1] + bytes([body[-1] ^ 2])


def test_a_damaged_group_does_not_hold_up_the_others(registry: Registry, data: DataDirectory, choice: Metric) -> None:
    """A flipped bit is noticed by its checksum and named, again at each run; the group stays, and all else is sealed,
    also what arrives later.
    """
    bodies = [upload(batch(choice, bytes([number]))) for number in range(4)]
    fill(data, *([body] for body in bodies[:3]))
    fill(data, [upload(batch(choice, b"\x04"))], worker=1)
    write(data, 2, flipped(bodies[1]))
    for number in range(3):
        report = seal(registry, data, ALL, NOW)
        assert report.damaged
        (problem,) = report.problems
        assert "worker-0.sqlite: group 2 is damaged" in problem
        assert kept(data) == [2]
        if number == 1:
            fill(data, [bodies[3]])
    assert counts(sealed(data, choice)) == {b"\0": 1, b"\2": 1, b"\3": 1, b"\4": 1}


def test_a_mended_group_is_sealed_once(registry: Registry, data: DataDirectory, choice: Metric) -> None:
    """Restored from a copy, a group that was damaged is taken, though those behind it were before, and only once."""
    bodies = [upload(batch(choice, bytes([number]))) for number in range(3)]
    fill(data, *([body] for body in bodies))
    write(data, 2, flipped(bodies[1]))
    seal(registry, data, ALL, NOW)
    write(data, 2, bodies[1])
    for batches in (1, 0):
        report = seal(registry, data, ALL, NOW)
        assert (report.batches, report.repeats, report.problems) == (batches, 0, [])
    assert counts(sealed(data, choice)) == {b"\0": 1, b"\1": 1, b"\2": 1}


@pytest.mark.parametrize("step", ["sorted", "taken"])
def test_a_crash_while_a_mended_group_is_taken_repeats_nothing(
    registry: Registry, data: DataDirectory, choice: Metric, step: str
) -> None:
    """Interrupted after a mended group was sorted, the next run only deletes it: it is not even taken for a repeat."""
    body = upload(batch(choice, b"\x01"))
    fill(data, [body])
    write(data, 1, flipped(body))
    seal(registry, data, ALL, NOW)
    write(data, 1, body)

    def stop(name: str) -> None:
        if name == step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        seal(registry, data, ALL, NOW, stop)
    report: SealReport = seal(registry, data, ALL, NOW)
    assert (report.batches, report.repeats, kept(data)) == (0, 0, [])
    assert counts(sealed(data, choice)) == {b"\x01": 1}


def test_a_group_that_is_given_up_is_forgotten(registry: Registry, data: DataDirectory, choice: Metric) -> None:
    """Where an operator deletes a damaged row, the next run is without a fault."""
    body = upload(batch(choice, b"\x01"))
    fill(data, [body])
    write(data, 1, flipped(body))
    assert seal(registry, data, ALL, NOW).damaged
    write(data, 1, None)
    assert not seal(registry, data, ALL, NOW).damaged


def test_ids_are_kept_while_something_is_damaged(registry: Registry, data: DataDirectory, choice: Metric) -> None:
    """An upload sealed by its retry is still known when its damaged first attempt is mended, however long that took."""
    body = upload(batch(choice, b"\x01"))
    fill(data, [body])
    write(data, 1, flipped(body))
    fill(data, [body], worker=1)
    for late in (0, 100 * DAY):
        assert seal(registry, data, ALL, NOW + late).damaged
    write(data, 1, body)
    report = seal(registry, data, ALL, NOW + 100 * DAY)
    assert (report.batches, report.repeats) == (1, 1)
    assert counts(sealed(data, choice)) == {b"\x01": 1}


@pytest.mark.parametrize(
    "damage", [lambda path: path.write_bytes(b"no database" * 99), lambda path: path.write_bytes(b"")],
    ids=["overwritten", "emptied"],
)  # fmt: skip
def test_a_store_that_cannot_be_read_does_not_hold_up_the_others(
    registry: Registry, data: DataDirectory, choice: Metric, damage: object
) -> None:
    """A worker's file that is no database is named, and the other workers' uploads are sealed."""
    fill(data, [upload(batch(choice, b"\x01"))])
    fill(data, [upload(batch(choice, b"\x02"))], worker=1)
    assert callable(damage)
    damage(data.worker_store(0))
    report = seal(registry, data, ALL, NOW)
    assert report.damaged == (data.worker_store(0).read_bytes()[:2] == b"no")
    assert counts(sealed(data, choice)) == {b"\x02": 1}


def test_a_torn_page_costs_no_other_group(registry: Registry, data: DataDirectory) -> None:
    """Pages overwritten in the middle of one group's bytes, as by a torn write: that group is named and kept, with
    everything before and after it sealed.
    """
    sketch = registry.metric("sketch")
    contents = [records(sketch, 4000) for _ in range(5)]
    fill(data, *([upload(batch(sketch, content))] for content in contents))
    path = data.worker_store(0)
    file = bytearray(path.read_bytes())
    at = file.find(contents[2][30_000:30_064])
    assert at > 0
    page = at // 16384 * 16384
    file[page : page + 16384] = b"\xff" * 16384
    path.write_bytes(file)
    report = seal(registry, data, ALL, NOW)
    assert any("group 3 is damaged" in problem for problem in report.problems)
    expected = [record for number in (0, 1, 3, 4) for record in split(contents[number], sketch)]
    assert counts(sealed(data, sketch, TODAY)).total() == len(expected)
    assert set(expected) == set(counts(sealed(data, sketch)))
    again = seal(registry, data, ALL, NOW)
    assert (again.batches, again.repeats, again.damaged) == (0, 0, True)


def test_no_group_of_a_restored_store_is_taken_for_one_that_was_sealed(
    registry: Registry, data: DataDirectory, choice: Metric
) -> None:
    """A store that is put back from a copy gives ids anew that it had given before: what is stored under them is sealed
    all the same, and what the copy brings back is no news.
    """
    bodies = [upload(batch(choice, bytes([number]))) for number in range(5)]
    fill(data, [bodies[0]])
    copy = data.worker_store(0).read_bytes()
    fill(data, *([body] for body in bodies[1:3]))
    seal(registry, data, ALL, NOW)
    data.worker_store(0).write_bytes(copy)
    fill(data, *([body] for body in bodies[3:]))
    report = seal(registry, data, ALL, NOW)
    assert (report.batches, report.repeats) == (2, 0)
    assert counts(sealed(data, choice)) == {bytes([number]): 1 for number in range(5)}
