"""The tables, and the steps that lead to them."""

from __future__ import annotations

import threading
from contextlib import closing

import psycopg
import pytest

from hubbub_collector.errors import CollectorError, StoreError
from hubbub_collector.postgres.schema import MIGRATIONS, VERSION, migrate, version
from hubbub_collector.postgres.store import PostgresStore, prepare

from tests.collector.postgres.server import Server, query


def test_tables_are_made_once(url: str) -> None:
    """Whoever comes second changes nothing, and each step is noted with its number."""
    prepare(url, 7)
    identity = query(url, "SELECT identity, late FROM hubbub.pool")
    prepare(url, 5)
    assert query(url, "SELECT identity, late FROM hubbub.pool") == identity
    assert query(url, "SELECT version FROM hubbub.migrations") == [(number + 1,) for number in range(VERSION)]


def test_many_hosts_may_start_at_once(url: str) -> None:
    """They wait for each other, and all of them find the same tables."""
    problems: list[Exception] = []

    def start() -> None:
        try:
            prepare(url, 0)
        except CollectorError as error:
            problems.append(error)

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert query(url, "SELECT count(*) FROM hubbub.pool") == [(1,)]


def test_a_step_is_taken_whole_or_not_at_all(url: str) -> None:
    """A step that fails leaves the version before it, with what is stored; mended, it goes on from there."""
    prepare(url, 0)
    with closing(PostgresStore(url, 0)) as store:
        store.commit([b"kept"])
    with closing(psycopg.connect(url, autocommit=True)) as db:
        with pytest.raises(psycopg.Error):
            migrate(db, (*MIGRATIONS, "ALTER TABLE hubbub.groups ADD COLUMN more integer; SELECT 1/0"))
        assert version(db) == VERSION
        assert migrate(db, (*MIGRATIONS, "ALTER TABLE hubbub.groups ADD COLUMN more integer")) == VERSION + 1
    assert query(url, "SELECT bodies, more FROM hubbub.groups") == [(b"kept", None)]


def test_tables_of_a_newer_version_are_left_alone(url: str) -> None:
    """Neither a collector that starts nor one that runs writes to tables that it does not know."""
    prepare(url, 0)
    query(url, "INSERT INTO hubbub.migrations (version) VALUES (%s)", (VERSION + 1,))
    with pytest.raises(CollectorError, match="newer hubbub"):
        prepare(url, 0)
    with closing(PostgresStore(url, 0)) as store, pytest.raises(StoreError, match="same version on every host"):
        store.commit([b"body"])
    assert query(url, "SELECT count(*) FROM hubbub.groups") == [(0,)]


def test_a_collector_needs_no_right_to_make_tables(server: Server, url: str) -> None:
    """Once they are there, a user that may only add and look is enough, and nothing that it holds deletes a report."""
    prepare(url, 60)
    for statement in (
        "CREATE ROLE adder LOGIN PASSWORD 'adds'",
        "GRANT USAGE ON SCHEMA hubbub TO adder",
        "GRANT SELECT ON hubbub.migrations TO adder",
        "GRANT SELECT, UPDATE ON hubbub.pool TO adder",
        "GRANT SELECT, INSERT ON hubbub.groups, hubbub.quarantine TO adder",
    ):
        query(url, statement)
    theirs = f"postgresql://adder:adds@127.0.0.1:{server.port}/postgres"
    prepare(theirs, 30)
    with closing(PostgresStore(theirs, 30)) as store:
        store.commit([b"body"])
        store.commit([])
        assert (store.used_bytes(), store.quarantined_bytes(), store.closed()) == (4, 0, 0)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        query(theirs, "DELETE FROM hubbub.groups")
