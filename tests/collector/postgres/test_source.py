"""Sealing what several hosts have committed to one database."""

from __future__ import annotations

import os
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from hubbub_collector.errors import CollectorError, StoreError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.postgres.source import PostgresSource
from hubbub_collector.postgres.store import PostgresStore, prepare
from hubbub_collector.quarantine import Quarantined
from hubbub_collector.seal import seal
from hubbub_collector.seal.steps import STEPS
from hubbub_collector.upload import Validator
from hubbub_collector.window import Window
from hubbub_registry import Metric, Registry

from tests.collector.postgres.server import query
from tests.collector.uploads import ALL, DAY, NOW, TODAY, batch, counts, fill, records, sealed, split, upload

_GROUP = "INSERT INTO hubbub.groups (crc, bodies) VALUES (%s, %s)"


class Crash(BaseException):
    """The process is gone."""


@pytest.fixture
def data(tmp_path: Path) -> DataDirectory:
    """The sealer's: nothing is there before the first run."""
    return DataDirectory(tmp_path / "data")


@pytest.fixture
def hosts(url: str) -> Iterator[tuple[PostgresStore, PostgresStore]]:
    prepare(url, 28 * DAY)
    with closing(PostgresStore(url, 28 * DAY)) as a, closing(PostgresStore(url, 28 * DAY)) as b:
        yield a, b


def park(store: PostgresStore, body: bytes) -> None:
    """Quarantines an upload, as a collector does that knows none of its metrics."""
    unknown = Validator([], Window()).check(body, NOW)
    store.commit([], [Quarantined(unknown.id, number, strange) for number, strange in unknown.unknown])


def left(url: str) -> list[tuple[object, ...]]:
    """How many groups, and how many batches in quarantine, the database holds."""
    return query(url, "SELECT (SELECT count(*) FROM hubbub.groups), (SELECT count(*) FROM hubbub.quarantine)")


def test_an_upload_counts_once_over_hosts_quarantine_and_time(
    url: str, hosts: tuple[PostgresStore, PostgresStore], registry: Registry, sketch: Metric, data: DataDirectory
) -> None:
    """Sent to two hosts, by way of the quarantine, to a host with a file of its own, and again after it was sealed,
    each upload is sealed once, and the database is empty.
    """
    contents = [records(sketch, 3) for _ in range(4)]
    bodies = [upload(batch(sketch, content)) for content in contents]
    a, b = hosts
    a.commit(bodies[:2])
    b.commit(bodies[1:3])
    park(b, bodies[0])
    park(a, bodies[3])
    fill(data, [bodies[2]])
    report = seal(registry, data, ALL, NOW, database=url)
    assert (report.batches, report.repeats, report.released, report.released_repeats) == (5, 2, 2, 1)
    b.commit(bodies)
    assert seal(registry, data, ALL, NOW, database=url).repeats == 4
    assert counts(sealed(data, sketch)) == Counter(split(b"".join(contents), sketch))
    assert left(url) == [(0, 0)]


@pytest.mark.parametrize("at", STEPS)
def test_a_crash_at_any_step_loses_and_repeats_nothing(
    at: str, url: str, hosts: tuple[PostgresStore, PostgresStore], registry: Registry, sketch: Metric,
    data: DataDirectory,
) -> None:  # fmt: skip
    """Wherever the sealer ends, the next run goes on, with uploads that came meanwhile as well."""
    contents = [records(sketch, 2) for _ in range(5)]
    bodies = [upload(batch(sketch, content)) for content in contents]
    a, b = hosts
    a.commit(bodies[:2])
    b.commit(bodies[2:3])
    park(b, bodies[3])

    def crash(step: str) -> None:
        if step == at:
            raise Crash

    with pytest.raises(Crash):
        seal(registry, data, ALL, NOW, crash, database=url)
    a.commit([bodies[0], bodies[4]])
    seal(registry, data, ALL, NOW, database=url)
    assert counts(sealed(data, sketch)) == Counter(split(b"".join(contents), sketch))
    assert left(url) == [(0, 0)]


def test_a_group_that_commits_behind_later_ones_is_taken(
    url: str, hosts: tuple[PostgresStore, PostgresStore], registry: Registry, sketch: Metric, data: DataDirectory
) -> None:
    """Groups get their numbers before they commit, so that a run may see number 2 and not yet 1: the next takes it."""
    early, late = (upload(batch(sketch, records(sketch, 1))) for _ in range(2))
    with closing(psycopg.connect(url)) as slow:
        slow.execute(_GROUP, (zlib.crc32(early), early))
        hosts[0].commit([late])
        assert seal(registry, data, ALL, NOW, database=url).batches == 1
        slow.commit()
    assert seal(registry, data, ALL, NOW, database=url).batches == 1
    assert counts(sealed(data, sketch)).total() == 2


def test_groups_of_a_database_that_was_put_back_are_not_mistaken(
    url: str, hosts: tuple[PostgresStore, PostgresStore], registry: Registry, sketch: Metric, data: DataDirectory
) -> None:
    """A copy gives numbers again that the sealer took: it goes by what a group holds, so none is deleted unread."""
    hosts[0].commit([upload(batch(sketch, records(sketch, 1)))])

    def crash(step: str) -> None:
        if step == "sorted":
            raise Crash

    with pytest.raises(Crash):
        seal(registry, data, ALL, NOW, crash, database=url)
    query(url, "TRUNCATE hubbub.groups RESTART IDENTITY")
    hosts[1].commit([upload(batch(sketch, records(sketch, 1)))])
    seal(registry, data, ALL, NOW, database=url)
    assert counts(sealed(data, sketch)).total() == 2


def test_a_database_is_sealed_into_one_data_set_for_good(
    url: str, hosts: tuple[PostgresStore, PostgresStore], registry: Registry, sketch: Metric, tmp_path: Path
) -> None:
    """Another data set does not know what was counted: it is refused, with what to do, and nothing is taken."""
    first, second = DataDirectory(tmp_path / "first"), DataDirectory(tmp_path / "second")
    seal(registry, first, ALL, NOW, database=url)
    hosts[0].commit([upload(batch(sketch, records(sketch, 1)))])
    with pytest.raises(CollectorError, match="another data directory; name that one with --data"):
        seal(registry, second, ALL, NOW, database=url)
    assert left(url) == [(1, 0)]
    assert seal(registry, first, ALL, NOW, database=url).batches == 1


def test_one_sealer_at_a_time(url: str, registry: Registry, tmp_path: Path) -> None:
    """A second one, on whatever host, is refused while the first has the database, and not once it has ended."""
    with closing(PostgresSource(url)), pytest.raises(CollectorError, match="another sealer is using this database"):
        seal(registry, DataDirectory(tmp_path / "data"), ALL, NOW, database=url)
    seal(registry, DataDirectory(tmp_path / "data"), ALL, NOW, database=url)


def test_a_sealer_that_lost_its_connection_lost_its_lock(url: str) -> None:
    """It does not go on over another connection: a second sealer may have begun."""
    with closing(PostgresSource(url)) as source:
        query(url, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
        for _ in range(2):
            with pytest.raises(StoreError, match=r"57P01|connection was lost"):
                source.last_id()


def test_damage_holds_up_nothing_else(
    url: str, hosts: tuple[PostgresStore, PostgresStore], registry: Registry, sketch: Metric, data: DataDirectory
) -> None:
    """A group that is not what was committed is named, left where it is, and all others are sealed."""
    for _ in range(3):
        hosts[0].commit([upload(batch(sketch, records(sketch, 1)))])
    query(url, "UPDATE hubbub.groups SET bodies = set_byte(bodies, 30, get_byte(bodies, 30) # 1) WHERE id = 2")
    report = seal(registry, data, ALL, NOW, database=url)
    assert report.damaged
    assert ["group 2 is damaged" in problem for problem in report.problems] == [True]
    assert counts(sealed(data, sketch)).total() == 2
    assert left(url) == [(1, 0)]


def test_what_is_forgotten_is_closed_for_every_host_first(
    url: str, hosts: tuple[PostgresStore, PostgresStore], registry: Registry, data: DataDirectory
) -> None:
    """The sealer says in the database what it will forget, and the collectors of all hosts read it there."""
    seal(registry, data, ALL, NOW, database=url)
    closed = {host.closed() for host in hosts}
    assert len(closed) == 1
    assert TODAY * DAY - 30 * DAY < closed.pop() < TODAY * DAY - 28 * DAY


def test_more_groups_than_are_read_at_once(url: str, hosts: tuple[PostgresStore, PostgresStore]) -> None:
    """All ids come, each once, in their order; and batches of a quarantine as well."""
    query(url, "INSERT INTO hubbub.groups (crc, bodies) SELECT 0, '' FROM generate_series(1, 2500)")
    strange = "INSERT INTO hubbub.quarantine SELECT decode(md5(n::text), 'hex'), 0, 'fingerpr', 1, 'r'"
    query(url, strange + " FROM generate_series(1, 200) n")
    with closing(PostgresSource(url)) as source:
        assert list(source.ids(0, source.last_id())) == list(range(1, 2501))
        assert list(source.ids(5, 7)) == [6, 7]
        source.delete(range(1, 2400))
        assert list(source.ids(0, 2500)) == list(range(2400, 2501))
        found = [one.upload for one in source.quarantine.batches([b"fingerpr", os.urandom(8)])]
        assert len(set(found)) == len(found) == 200
        assert found == sorted(found)
        assert list(source.quarantine.batches([])) == []
