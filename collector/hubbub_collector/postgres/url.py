"""The URL of a database: read once, handed to libpq as it is, and shown without its password."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import psycopg
from psycopg.conninfo import conninfo_to_dict

from hubbub_collector.errors import CollectorError

_DEFAULTS: dict[str, str | int] = {
    "application_name": "hubbub",
    "connect_timeout": 5,
    # A server that is cut off is noticed after about ten seconds, and not when the system gives up, after hours.
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
_HIDDEN = "***"


@dataclass(frozen=True)
class Url:
    """``parameters`` are libpq's, with the password; so they are in no repr. ``shown`` is what may be told."""

    shown: str
    parameters: dict[str, str | int] = field(repr=False)

    def told(self, error: Exception) -> str:
        """What ``error`` says of connecting, on one line, and never the password."""
        said = " ".join(str(error).split())
        password = str(self.parameters.get("password", ""))
        return said.replace(password, _HIDDEN) if password else said


def parse_url(text: str) -> Url:
    """Reads ``postgresql://user@host:5432/name?sslmode=verify-full``. Every parameter of libpq may be there.

    Raises CollectorError, which quotes nothing of it: where a URL is split wrongly, any part may hold the password.
    """
    wrong = CollectorError(
        "--store: is no URL of a PostgreSQL database; write postgresql://USER@HOST:PORT/NAME, with what is special in a"
        " password percent-encoded (@ as %40, / as %2F), or keep the password in a file (PGPASSFILE)"
    )
    if not text.startswith(("postgresql://", "postgres://")):
        raise wrong
    try:
        found = {key: value for key, value in conninfo_to_dict(text).items() if value is not None}
    except psycopg.Error:
        raise wrong from None
    place = [str(found.get(key, "")) for key in ("host", "hostaddr", "port", "dbname")]
    if any("@" in part for part in place) or not re.fullmatch("[0-9,]*", place[2]):
        raise wrong
    host, address, port, name = place
    shown = "postgresql://" + (host or address) + (f":{port}" if port else "") + (f"/{name}" if name else "")
    return Url(shown, {**_DEFAULTS, **found})
