"""The shuffler's database: each upload once, nobody without a crowd, nothing lost at any moment."""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from hubbub_collector.errors import StoreError
from hubbub_collector.shuffler.crowd import STEPS, Crowds, Group
from hubbub_collector.shuffler.held_store import DAY, HeldStore
from hubbub_collector.shuffler.metrics import ShufflerMetrics
from hubbub_collector.shuffler.mixing import Mixing
from hubbub_collector.shuffler.sealed_body import parse
from hubbub_sealing.upload import build

from tests.collector.shuffler.sealing import noise_upload

KEY = b"\x01" * 8
GROUP = Group(KEY, 99)


def hold(path: Path, *bodies: bytes, now: float = 20_000.5 * DAY) -> None:
    """Commits uploads as the service does."""
    with closing(HeldStore(path, lambda: now)) as store:
        store.commit(list(bodies))


def waiting(path: Path) -> Counter[bytes]:
    """The ciphertexts in all batches."""
    with closing(Crowds(path, 1)) as crowds:
        found = [crowds.batch(id) for id in crowds.batches()]
    return Counter(one for batch in found if batch is not None for one in batch.ciphertexts)


def test_below_the_threshold_nothing_is_mixed(tmp_path: Path) -> None:
    """Uploads are counted, not ciphertexts: one device with many has no crowd; with enough uploads all are mixed."""
    path = tmp_path / "d" / "held.sqlite"
    made = [noise_upload(KEY, 50), noise_upload(KEY, 1)]
    hold(path, *[body for body, _ in made])
    with closing(Crowds(path, 3)) as crowds:
        assert crowds.mix(GROUP) == 0
        assert crowds.batches() == []
        made.append(noise_upload(KEY, 2))
        hold(path, made[-1][0])
        assert crowds.mix(GROUP) == 3
        assert crowds.waiting() == {}
        [id] = crowds.batches()
        batch = crowds.batch(id)
    assert batch is not None
    assert batch.key == KEY
    assert Counter(batch.ciphertexts) == Counter(one for _, ciphertexts in made for one in ciphertexts)


def test_only_equals_are_mixed(tmp_path: Path) -> None:
    """Ciphertexts for another key, or of another size, are no crowd to hide in: each group is counted by itself."""
    path = tmp_path / "d" / "held.sqlite"
    hold(path, *[noise_upload(key, 1, size)[0] for key, size in ((KEY, 99), (KEY, 100), (b"\x02" * 8, 99))])
    with closing(Crowds(path, 2)) as crowds:
        groups = crowds.waiting()
        assert {group: count for group, (count, _) in groups.items()} == {
            GROUP: 1, Group(KEY, 100): 1, Group(b"\x02" * 8, 99): 1,
        }  # fmt: skip
        assert [crowds.mix(group) for group in groups] == [0, 0, 0]


def test_a_repeat_is_no_second_device(tmp_path: Path) -> None:
    """An upload id counts once: while its upload is held, and after it was forwarded."""
    path = tmp_path / "d" / "held.sqlite"
    body, ciphertexts = noise_upload(KEY)
    id = parse(body).id
    hold(path, body, body)
    hold(path, build(id, KEY, [os.urandom(99)]))  # sealed again, as after a crash
    with closing(Crowds(path, 2)) as two, closing(Crowds(path, 1)) as one:
        assert two.mix(GROUP) == 0
        assert one.mix(GROUP) == 1
        assert waiting(path) == Counter(ciphertexts)
        one.delete(one.batches()[0])
        hold(path, body)
        assert one.waiting() == {}


def test_the_order_is_random(tmp_path: Path) -> None:
    """Where a ciphertext lies in a batch says nothing of its upload: in 150 mixes of six, in each place each is about
    equally often. 5/6 of the sum is chi-squared with 25 degrees of freedom: above 75 with probability 5e-7; ids that
    fix the order give 4,500.
    """
    path = tmp_path / "d" / "held.sqlite"
    counts: Counter[tuple[int, int]] = Counter()
    with closing(HeldStore(path)) as store, closing(Crowds(path, 6)) as crowds:
        for _ in range(150):
            ordered = [bytes([place]) * 99 for place in range(6)]
            store.commit([build(bytes([place]) + os.urandom(15), KEY, [ordered[place]]) for place in range(6)])
            assert crowds.mix(GROUP) == 6
            [id] = crowds.batches()
            batch = crowds.batch(id)
            assert batch is not None
            counts.update((place, one[0]) for place, one in enumerate(batch.ciphertexts))
            crowds.delete(id)
    assert sum((counts[a, b] - 25) ** 2 / 25 for a in range(6) for b in range(6)) < 90


def test_a_crowd_is_sent_in_parts(tmp_path: Path) -> None:
    """A crowd too large for one body becomes several batches; a store too large for one crowd, several crowds."""
    path = tmp_path / "d" / "held.sqlite"
    made = [noise_upload(KEY, 20, 20_000) for _ in range(5)]
    hold(path, *[body for body, _ in made])
    with closing(Crowds(path, 2, crowd_bytes=1_000_000)) as crowds:
        group = Group(KEY, 20_000)
        assert crowds.mix(group) == 3
        assert len(crowds.batches()) == 3
        assert crowds.mix(group) == 2
    assert waiting(path) == Counter(one for _, ciphertexts in made for one in ciphertexts)


class CrashError(Exception):
    """Stands for the end of the process."""


@pytest.mark.parametrize("at", STEPS)
def test_a_crash_at_any_step(tmp_path: Path, at: str) -> None:
    """Wherever it ends, what is not acknowledged is still there, as the same batch under the same id; and what is
    acknowledged is sent again at most.
    """
    path = tmp_path / "d" / "held.sqlite"
    body, ciphertexts = noise_upload(KEY, 3)
    hold(path, body)
    sent: list[tuple[bytes, list[bytes]]] = []

    def run(crowds: Crowds) -> None:
        crowds.mix(GROUP)
        for id in crowds.batches():
            batch = crowds.batch(id)
            assert batch is not None
            sent.append((id, batch.ciphertexts))
            crowds.delete(id)

    def step(name: str) -> None:
        if name == at:
            raise CrashError

    with closing(Crowds(path, 1, step=step)) as crowds, pytest.raises(CrashError):
        run(crowds)
    with closing(Crowds(path, 1)) as crowds:
        run(crowds)
        assert crowds.waiting() == {}
        assert crowds.batches() == []
    assert {id: Counter(batch) for id, batch in sent} == {sent[0][0]: Counter(ciphertexts)}
    assert all(batch == sent[0][1] for _, batch in sent)
    assert len(sent) == (2 if at == "acknowledged" else 1)


def test_what_was_sent_is_gone(tmp_path: Path) -> None:
    """Once a batch is acknowledged nothing of it is left in the files, but the ids of its uploads."""
    path = tmp_path / "d" / "held.sqlite"
    made = [noise_upload(KEY) for _ in range(30)]
    hold(path, *[body for body, _ in made])
    with closing(Crowds(path, 1)) as crowds:
        crowds.mix(GROUP)
        [id] = crowds.batches()
        crowds.delete(id)
        crowds._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert not [one for _, ciphertexts in made for one in ciphertexts if one[:30] in content]
    assert {path.parent.stat().st_mode & 0o777, *(file.stat().st_mode & 0o777 for file in path.parent.iterdir())} == {
        0o700, 0o600,
    }  # fmt: skip


def test_damage_is_set_aside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A flipped bit in what is held, or in a batch, costs that alone: it is set aside, said, and the rest goes on."""
    path = tmp_path / "d" / "held.sqlite"
    made = [noise_upload(KEY) for _ in range(3)]
    hold(path, *[body for body, _ in made])
    flip = "SET ciphertexts = CAST(x'00' || substr(ciphertexts, 2) AS BLOB)"
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"UPDATE held {flip} WHERE ciphertexts = ?", (made[0][1][0],))
        db.commit()
    with closing(Crowds(path, 2)) as crowds:
        assert crowds.mix(GROUP) == 2
        assert waiting(path) == Counter(ciphertexts[0] for _, ciphertexts in made[1:])
        crowds._db.execute(f"UPDATE batches {flip}")
        [id] = crowds.batches()
        assert crowds.batch(id) is None
        assert crowds.batches() == []
    assert [record.message.split(": ")[1] for record in caplog.records] == [
        f"something in {part} is damaged (its checksum does not match); it was set aside"
        for part in ("held", "batches")
    ]


def test_a_commit_that_fails_stores_nothing(tmp_path: Path) -> None:
    """Where one upload of a commit cannot be stored, none is, the error is a StoreError, and the next commit works."""
    path = tmp_path / "d" / "held.sqlite"
    with closing(HeldStore(path)) as store:
        store._db.execute(
            "CREATE TRIGGER no BEFORE INSERT ON held WHEN NEW.size = 100 BEGIN SELECT RAISE(FAIL, 'no'); END"
        )
        with pytest.raises(StoreError):
            store.commit([noise_upload(KEY)[0], noise_upload(KEY, 1, 100)[0]])
        assert store._db.execute("SELECT count(*) FROM seen").fetchone() == (0,)
        body, _ = noise_upload(KEY)
        store.commit([body])
        store.commit([])
        assert store.used_bytes() > 0
        assert store._db.execute("SELECT count(*) FROM held").fetchone() == (1,)


def test_waiting_for_more(tmp_path: Path) -> None:
    """A crowd is mixed when it has waited, counted from when it became one, and not before."""
    path = tmp_path / "d" / "held.sqlite"
    clock = [0.0]
    with closing(Crowds(path, 2)) as crowds:
        mixing = Mixing(crowds, 2, 60, 10 * DAY, ShufflerMetrics(), clock=lambda: clock[0], wall=lambda: 20_000.5 * DAY)

        def held_at(now: float) -> int:
            clock[0] = now
            mixing.mix_ready()
            return crowds.waiting().get(GROUP, (0, 0))[0]

        hold(path, noise_upload(KEY)[0])
        assert [held_at(0), held_at(100)] == [1, 1]
        hold(path, noise_upload(KEY)[0])
        assert [held_at(200), held_at(259)] == [2, 2]
        hold(path, noise_upload(KEY)[0])
        assert held_at(260) == 0


def test_a_full_crowd_waits_no_longer(tmp_path: Path) -> None:
    """What is as large as a crowd may be is mixed at once."""
    path = tmp_path / "d" / "held.sqlite"
    hold(path, *[noise_upload(KEY, 20)[0] for _ in range(2)])
    with closing(Crowds(path, 2, crowd_bytes=3000)) as crowds:
        mixing = Mixing(
            crowds, 2, 60, 10 * DAY, ShufflerMetrics(), 3000, clock=lambda: 0.0, wall=lambda: 20_000.5 * DAY
        )
        mixing.mix_ready()
        assert crowds.waiting() == {}


def test_nobody_waits_for_ever(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """An upload that finds no crowd is forgotten after the time to hold it, with its id, and that is said."""
    path = tmp_path / "d" / "held.sqlite"
    hold(path, noise_upload(KEY)[0], now=20_000.9 * DAY)
    hold(path, noise_upload(KEY)[0], now=20_001.1 * DAY)
    wall = 20_010.5 * DAY
    with closing(Crowds(path, 5)) as crowds:
        mixing = Mixing(crowds, 5, 0, 10 * DAY, ShufflerMetrics(), clock=lambda: 0.0, wall=lambda: wall)
        mixing.mix_ready()
        assert crowds.waiting()[GROUP][0] == 2
        wall += DAY
        mixing.mix_ready()
        assert crowds.waiting()[GROUP][0] == 1
        assert crowds._db.execute("SELECT count(*) FROM seen").fetchone() == (1,)
    assert [record.message for record in caplog.records] == [
        "1 uploads found no crowd in time, and were forgotten; see --threshold and --hold"
    ]
