"""A real PostgreSQL server in a folder of its own, reached over a Unix socket and over TCP with a password."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
import trustme

PASSWORD = "pa@ss/wörd?"  # noqa: S105 - of a server that lives as long as the tests
"""Holds what has to be percent-encoded, so that a URL that is put together wrongly is noticed."""
_SETTINGS = {
    "listen_addresses": "'127.0.0.1'", "max_connections": "40", "shared_buffers": "'16MB'", "max_wal_size": "'64MB'",
    "ssl": "on", "ssl_cert_file": "'server.pem'", "ssl_key_file": "'server.pem'",
}  # fmt: skip

_NOBODY = 65534


class Server:
    """A cluster in ``folder``. Root may not run one, so it gives the folder to the user nobody and becomes that."""

    def __init__(self, folder: Path) -> None:
        """Makes the cluster. Fails the test where PostgreSQL is missing: what it shows must not go unseen."""
        self._bin = _programs()
        self._folder = folder
        self._data = folder / "data"
        self._as: list[str] = []
        if os.geteuid() == 0:
            os.chown(folder, _NOBODY, _NOBODY)
            self._as = ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups"]
        self.port = _free_port()
        words = folder / "password"
        words.write_text(PASSWORD)
        words.chmod(0o644)
        how = ["-U", "hubbub", "-A", "scram-sha-256", f"--pwfile={words}", "-E", "UTF8", "--locale=C", "--no-sync"]
        self._run("initdb", "-D", str(self._data), *how)
        with open(self._data / "postgresql.conf", "a") as file:
            file.write(f"port = {self.port}\nunix_socket_directories = '{folder}'\n")
            file.writelines(f"{name} = {value}\n" for name, value in _SETTINGS.items())
        authority = trustme.CA()
        authority.cert_pem.write_to_path(folder / "ca.pem")
        certificate = authority.issue_cert("127.0.0.1")
        certificate.private_key_and_cert_chain_pem.write_to_path(self._data / "server.pem")
        (self._data / "server.pem").chmod(0o600)
        if self._as:
            os.chown(self._data / "server.pem", _NOBODY, _NOBODY)
        self.authority = folder / "ca.pem"
        self.start()
        # After a crash the server syncs every file of every database: one is enough.
        query(self.url(), "UPDATE pg_database SET datistemplate = false")
        for template in ("template0", "template1"):
            query(self.url(), f"DROP DATABASE {template}")

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as, str(self._bin / program), *arguments]
        # Its files would keep open what the server inherits.
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")

    def start(self) -> None:
        """Returns once it answers, after whatever recovery it needs."""
        self._run("pg_ctl", "-D", str(self._data), "-w", "-t", "60", "-l", str(self._folder / "log"), "start")

    def stop(self, mode: str = "immediate") -> None:
        """``immediate`` is as a crash: nothing is written, and the next start recovers from the log."""
        self._run("pg_ctl", "-D", str(self._data), "-w", "-t", "60", "-m", mode, "stop")

    def answers(self) -> bool:
        """Whether it is running."""
        with suppress(psycopg.Error), closing(psycopg.connect(self.url())):
            return True
        return False

    def said(self) -> str:
        """The server's log."""
        return (self._folder / "log").read_text()

    def url(self, host: str | None = None, more: str = "") -> str:
        """With the password in it; over the Unix socket unless ``host`` is given."""
        place = f"hubbub:{quote(PASSWORD, safe='')}@{quote(host or str(self._folder), safe='')}:{self.port}"
        return f"postgresql://{place}/postgres{more}"

    def clear(self) -> str:
        """Empties its database; its URL."""
        url = self.url()
        query(url, "DROP SCHEMA IF EXISTS hubbub CASCADE; DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        return url


@contextmanager
def running() -> Iterator[Server]:
    """A server for as long as the block lasts. In /tmp, since the path of a Unix socket has to be short."""
    folder = Path(tempfile.mkdtemp(prefix="hubbub-pg-", dir="/tmp"))
    try:
        server = Server(folder)
        try:
            yield server
        finally:
            with suppress(subprocess.CalledProcessError):  # it is stopped already
                server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def query(url: str, statement: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
    """The rows that ``statement`` gives; of one that gives none, an empty list."""
    with closing(psycopg.connect(url, autocommit=True)) as db:
        cursor = db.execute(statement, parameters)
        return list(cursor.fetchall()) if cursor.description else []


def _programs() -> Path:
    found = shutil.which("pg_ctl")
    if found is not None:
        return Path(found).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    if not folders:
        pytest.fail("these tests need PostgreSQL (tests/collector/install_postgresql.sh installs it)")
    return folders[-1].parent


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
