"""One PostgreSQL server for these tests, and an empty database for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.collector.postgres.server import Server, running


@pytest.fixture(scope="package")
def server() -> Iterator[Server]:
    with running() as found:
        yield found


@pytest.fixture
def url(server: Server) -> str:
    """Of the server's database, with nothing in it."""
    return server.clear()
