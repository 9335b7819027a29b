"""Committing to the database: durably, from several hosts, and through the loss of the connection."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from hubbub_collector.errors import StoreError, StoreFullError
from hubbub_collector.postgres.store import PostgresStore, prepare
from hubbub_collector.quarantine import ROW_BYTES, Quarantined
from hubbub_collector.upload import Batch
from hubbub_registry import Registry

from tests.collector.postgres.server import Server, query
from tests.collector.serving import serving
from tests.collector.uploads import batch, records, upload


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    prepare(url, 60)
    with closing(PostgresStore(url, 60)) as found:
        yield found


def raising(url: str, table: str, statement: str) -> None:
    """From now on a row that is added to ``table`` runs ``statement`` on the server."""
    query(
        url,
        f"CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {statement}; RETURN NEW; END $$;"
        f"CREATE TRIGGER trouble BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION trouble()",
    )


def parked(count: int) -> list[Quarantined]:
    """Batches of one upload, in quarantine."""
    upload = os.urandom(16)
    return [Quarantined(upload, number, Batch(b"fingerpr", 3, b"records")) for number in range(count)]


def test_a_group_is_a_row(url: str, store: PostgresStore) -> None:
    """The bodies of a commit are one row, end to end, whatever bytes they hold; with nothing to store none is added."""
    bodies = [bytes(range(256)), b"\x00", os.urandom(1 << 20)]
    store.commit(bodies)
    store.commit([])
    assert query(url, "SELECT bodies FROM hubbub.groups") == [(b"".join(bodies),)]


@pytest.mark.parametrize(
    ("asked", "used"), [("off", "on"), ("local", "on"), ("on", "on"), ("remote_apply", "remote_apply")]
)
def test_a_commit_waits_for_the_disk_whatever_the_url_says(url: str, asked: str, used: str) -> None:
    """A weaker synchronous_commit, which a role or a URL may have set, is not used; a stronger one is."""
    prepare(url, 0)
    with closing(PostgresStore(f"{url}?options=-csynchronous_commit%3D{asked}", 0)) as store:
        raising(url, "hubbub.groups", "INSERT INTO seen VALUES (current_setting('synchronous_commit'))")
        query(url, "CREATE TABLE seen (setting text)")
        store.commit([b"body"])
    assert query(url, "SELECT setting FROM seen") == [(used,)]


def test_a_server_that_does_not_sync_is_not_used(server: Server, url: str, store: PostgresStore) -> None:
    """With fsync off a commit is no promise, so none is made."""
    store.close()
    query(url, "ALTER SYSTEM SET fsync = off")
    query(url, "SELECT pg_reload_conf()")
    try:
        for _ in range(100):
            if query(url, "SHOW fsync") == [("off",)]:
                break
            time.sleep(0.05)
        with pytest.raises(StoreError, match="fsync off"):
            store.commit([b"body"])
    finally:
        query(url, "ALTER SYSTEM RESET fsync")
        query(url, "SELECT pg_reload_conf()")


def test_a_commit_with_a_warning_is_not_acknowledged(url: str, store: PostgresStore) -> None:
    """The server warns, and does not fail, where a wait for a standby was cancelled: that is taken for a failure."""
    raising(url, "hubbub.groups", "RAISE WARNING 'not replicated'")
    with pytest.raises(StoreError, match="taken as not committed"):
        store.commit([b"body"])


def test_a_full_disk_is_told_apart(url: str, store: PostgresStore) -> None:
    """The client gets 507 for it, and the store goes on once there is room."""
    raising(url, "hubbub.groups", "RAISE EXCEPTION USING ERRCODE = 'disk_full'")
    with pytest.raises(StoreFullError):
        store.commit([b"body"])
    query(url, "DROP FUNCTION trouble CASCADE")
    store.commit([b"body"])


def test_a_failure_commits_nothing_of_its_group(url: str, store: PostgresStore) -> None:
    """Where the quarantine takes a batch no more, the bodies of that commit are not there, and no row is quoted."""
    raising(url, "hubbub.quarantine", "RAISE EXCEPTION USING MESSAGE = encode(NEW.records, $q$escape$q$)")
    with pytest.raises(StoreError) as failed:
        store.commit([b"body"], parked(2))
    assert "records" not in str(failed.value)
    assert query(url, "SELECT count(*) FROM hubbub.groups") == [(0,)]


def test_a_retry_is_in_quarantine_once(url: str, store: PostgresStore) -> None:
    """Its batches are one row each, to whichever host it was sent, and count once for the budget."""
    batches = parked(3)
    store.commit([], batches)
    with closing(PostgresStore(url, 60)) as other:
        other.commit([b"body"], batches)
        assert other.quarantined_bytes() == store.quarantined_bytes() == 3 * (7 + ROW_BYTES)


def test_two_hosts_quarantine_the_same_batches_at_once(url: str, store: PostgresStore) -> None:
    """In whatever order they have them, neither is refused: they never wait for each other both."""
    batches = [one for _ in range(40) for one in parked(2)]
    problems: list[Exception] = []
    start = threading.Barrier(2)

    def commit(quarantined: list[Quarantined]) -> None:
        with closing(PostgresStore(url, 60)) as host:
            start.wait(20)
            try:
                host.commit([], quarantined)
            except StoreError as error:
                problems.append(error)

    # A row takes a while, so that the two are surely in the middle of it together.
    raising(url, "hubbub.quarantine", "PERFORM pg_sleep(0.002)")
    threads = [threading.Thread(target=commit, args=(some,)) for some in (batches, batches[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert query(url, "SELECT count(*) FROM hubbub.quarantine") == [(80,)]


def test_workers_of_a_host_add_up_to_all_that_is_stored(url: str, store: PostgresStore) -> None:
    """Each of them tells its share, of what every host has committed, and its own commits at once."""
    store.commit([b"x" * 1000], parked(1))
    with closing(PostgresStore(url, 60, share=4)) as one:
        assert one.used_bytes() == 250
        assert one.quarantined_bytes() == -(-(7 + ROW_BYTES) // 4)
        one.commit([b"x" * 100])
        assert one.used_bytes() == 350


def test_the_longest_acceptance_of_all_hosts_is_noted(url: str, store: PostgresStore) -> None:
    """The sealer keeps upload ids for as long as any of them takes uploads."""
    for late in (900, 30):
        with closing(PostgresStore(url, late)) as host:
            host.commit([])
    assert query(url, "SELECT late FROM hubbub.pool") == [(900,)]


async def test_a_lost_connection_is_503_until_it_is_back(server: Server, url: str, registry: Registry) -> None:
    """While the server is away uploads are refused with Retry-After and the collector says that it is not healthy; once
    the server is back it goes on by itself, also one that was started meanwhile. What was acknowledged is there.
    """
    prepare(url, 60)
    sketch = registry.metric("sketch")
    first, refused, second = (upload(batch(sketch, records(sketch, 2))) for _ in range(3))
    async with serving(registry, PostgresStore(url, 60)) as served:
        assert (await served.post(first))[0] == 200
        server.stop()
        try:
            status, said, headers = await served.post(refused)
            assert (status, said["error"]) == (503, "store")
            assert "Retry-After" in headers
            async with serving(registry, PostgresStore(url, 60)) as started:
                assert (await started.post(refused))[0] == 503
                async with started.session.get(f"{started.url}/healthz") as answer:
                    assert answer.status == 503
                server.start()
                assert (await started.post(second))[0] == 200
        finally:
            if not server.answers():
                server.start()
        assert (await served.post(second))[0] == 200
        async with served.session.get(f"{served.url}/healthz") as answer:
            assert answer.status == 200
    assert query(url, "SELECT bodies FROM hubbub.groups ORDER BY id") == [(first,), (second,), (second,)]
