"""What may be told of a database's URL."""

from __future__ import annotations

import pytest

from hubbub_collector.errors import CollectorError
from hubbub_collector.postgres.store import prepare
from hubbub_collector.postgres.url import parse_url
from hubbub_collector.worker import WorkerSettings

from tests.collector.postgres.server import PASSWORD, Server, query


def test_a_url_is_shown_without_user_and_password() -> None:
    """Host, port and name are what errors say; nothing that Python prints of it holds the password."""
    url = parse_url("postgresql://ann:s3cret@db.example:6432/fleet?sslmode=verify-full&sslrootcert=/etc/ca.pem")
    assert url.shown == "postgresql://db.example:6432/fleet"
    assert "s3cret" not in repr(url)
    assert url.parameters["sslmode"] == "verify-full"
    assert url.parameters["sslrootcert"] == "/etc/ca.pem"
    assert url.told(ValueError("no s3cret\nhere")) == "no *** here"


def test_parameters_of_the_url_win() -> None:
    """A time-out that is given is used, in place of the default."""
    assert parse_url("postgresql://db/fleet?connect_timeout=2").parameters["connect_timeout"] == "2"
    assert parse_url("postgresql://db/fleet").parameters["connect_timeout"] == 5


@pytest.mark.parametrize(
    "text",
    [
        "postgresql://ann:s3@cret@db/fleet", "postgresql://ann:s3/cret@db/fleet", "postgresql://ann:s3cret%@db/fleet",
        "postgresql://ann:s3cret@db/fleet?nonsense=s3cret", "postgresql://ann:s3cret@[db/fleet", "mysql://ann:s3cret@db",
    ],
)  # fmt: skip
def test_a_url_that_is_split_wrongly_is_not_quoted(text: str) -> None:
    """Where the password was not encoded the error says what to write, and no part of what was written."""
    with pytest.raises(CollectorError, match="percent-encoded") as refused:
        parse_url(text)
    assert "s3" not in str(refused.value)
    assert "cret" not in str(refused.value)
    assert refused.value.__suppress_context__ or refused.value.__context__ is None


def test_a_wrong_password_is_not_told(server: Server) -> None:
    """The server's refusal names the user, and not the password that it was given."""
    wrong = server.url().replace(server.url().split(":")[2].split("@")[0], "0therw0rd")
    with pytest.raises(CollectorError, match="password authentication failed") as refused:
        prepare(wrong, 0)
    assert "0therw0rd" not in str(refused.value)


def test_settings_do_not_show_the_password() -> None:
    """Whoever prints a worker's settings does not print the URL."""
    settings = WorkerSettings("r", "d", 0, "h", 0, 0, 0, 0, None, 0, store=f"postgresql://ann:{PASSWORD}@db/fleet")
    assert PASSWORD not in repr(settings)


def test_tls_is_as_the_url_says(server: Server, url: str) -> None:
    """With verify-full the server's certificate is checked: against its own authority it is used, against another, or
    under another name, it is refused.
    """

    def over_tls(authority: object, host: str = "127.0.0.1") -> str:
        return server.url(host, f"?sslmode=verify-full&sslrootcert={authority}")

    prepare(over_tls(server.authority), 0)
    used = query(over_tls(server.authority), "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
    assert used == [(True,)]
    with pytest.raises(CollectorError, match="certificate"):
        prepare(over_tls(server.authority.with_name("password")), 0)
    with pytest.raises(CollectorError, match="certificate"):
        prepare(over_tls(server.authority, "localhost"), 0)
