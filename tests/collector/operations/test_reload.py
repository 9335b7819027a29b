"""SIGHUP: new metrics, another certificate and other tokens without a restart, and what if they are broken."""

from __future__ import annotations

import json
import os
import signal
import socket
import ssl
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import trustme

from hubbub_collector.access.file import read_tokens
from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.tls import Certificate
from hubbub_registry import load_registry
from hubbub_registry.commands import main

from tests.collector.access.issuing import bearer, issue
from tests.collector.operations.test_admin import get
from tests.collector.server_process import Collector, collecting
from tests.collector.serving import metric_values
from tests.collector.uploads import batch, records, registry_file, upload
from tests.registries import write_registry

TODAY = int(time.time() // 86_400)


def eventually(holds: Callable[[], bool]) -> None:
    """Waits until it does."""
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def reloads(admin: str) -> dict[tuple[str, str], float]:
    """How often each thing was read again, by outcome."""
    values = metric_values(get(f"{admin}/metrics")[1])
    return {
        (what, outcome): values.get(f'hubbub_reloads_total{{outcome="{outcome}",what="{what}"}}', 0)
        for what in ("registry", "tls", "tokens")
        for outcome in ("ok", "failed")
    }


def post(collector: Collector, body: bytes, context: ssl.SSLContext | None = None, *lines: str) -> int:
    """The status of an upload over a connection of its own."""
    head = ["POST /v1/reports HTTP/1.1", "Host: localhost", "Content-Type: application/msgpack", *lines]
    request = "\r\n".join([*head, f"Content-Length: {len(body)}", "Connection: close", "", ""]).encode() + body
    with socket.create_connection(("127.0.0.1", collector.port), 20) as plain:
        sender = plain if context is None else context.wrap_socket(plain, server_hostname="localhost")
        sender.sendall(request)
        answer = sender.recv(65536)
        sender.close()
    return int(answer.split()[1])


def test_new_metrics_need_no_restart(tmp_path: Path) -> None:
    """After SIGHUP every worker takes a metric that was added; a broken registry changes nothing, is logged and
    counted, and a worker that is started again meanwhile has the last good one.
    """
    registry = registry_file(tmp_path)
    later = write_registry(tmp_path / "later.toml", {"added": {"mechanism": "randomized-response"}})
    added = load_registry(later).metric("added")
    fresh = [upload(batch(added, b"\x01", TODAY)) for _ in range(30)]
    with collecting(registry, tmp_path / "data", "--workers", "2", "--admin", "127.0.0.1:0") as collector:
        admin = collector.admin()
        workers = collector.workers()
        assert {post(collector, body) for body in fresh[:6]} == {202}
        registry.write_text(later.read_text())
        collector.process.send_signal(signal.SIGHUP)
        eventually(lambda: reloads(admin)["registry", "ok"] == 1)
        eventually(lambda: all(post(collector, body) == 200 for body in fresh[:20]))
        registry.write_text("[registry")
        collector.process.send_signal(signal.SIGHUP)
        eventually(lambda: reloads(admin)["registry", "failed"] == 1)
        assert {post(collector, body) for body in fresh[20:]} == {200}
        assert collector.workers() == workers
        os.kill(workers[0], signal.SIGKILL)
        eventually(lambda: len(collector.workers()) == 2 and workers[0] not in collector.workers())
        eventually(lambda: get(f"{admin}/readyz")[0] == 200 and json.loads(get(f"{admin}/healthz")[1])["workers"] == 2)
        assert {post(collector, body) for body in fresh} == {200}
        assert collector.stop() == 0


def pair(folder: Path, authority: trustme.CA, kind: trustme.KeyType) -> None:
    """Writes a certificate for localhost and its key, of one kind of key."""
    issued = authority.issue_cert("localhost", key_type=kind)
    (folder / "cert.pem").write_bytes(b"".join(part.bytes() for part in issued.cert_chain_pems))
    (folder / "key.pem").write_bytes(issued.private_key_pem.bytes())


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    """A client that trusts ``authority`` alone."""
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


def test_a_certificate_is_changed_while_it_serves(tmp_path: Path) -> None:
    """With --tls-cert uploads are taken over TLS only; after SIGHUP new connections meet the new certificate, also
    where its key is of another kind; a broken pair leaves the one before, logged and counted.
    """
    registry = registry_file(tmp_path)
    sketch = load_registry(registry).metric("sketch")
    body = upload(batch(sketch, records(sketch, 1), TODAY))
    old, new = trustme.CA(), trustme.CA()
    pair(tmp_path, old, trustme.KeyType.RSA)
    arguments = ("--tls-cert", str(tmp_path / "cert.pem"), "--tls-key", str(tmp_path / "key.pem"))
    with collecting(registry, tmp_path / "data", *arguments, "--admin", "127.0.0.1:0") as collector:
        assert collector.url.startswith("https://")
        admin = collector.admin()
        assert post(collector, body, trusting(old)) == 200
        with pytest.raises(ssl.SSLError):
            post(collector, body, trusting(new))
        with pytest.raises((ConnectionError, IndexError)):
            post(collector, body)
        pair(tmp_path, new, trustme.KeyType.ECDSA)
        collector.process.send_signal(signal.SIGHUP)
        eventually(lambda: reloads(admin)["tls", "ok"] == 1)

        def changed() -> bool:
            try:
                return post(collector, body, trusting(new)) == 200
            except ssl.SSLError:
                return False

        eventually(changed)
        only_rsa = trusting(old)
        only_rsa.maximum_version = ssl.TLSVersion.TLSv1_2
        only_rsa.set_ciphers("ECDHE-RSA-AES128-GCM-SHA256")
        with pytest.raises(ssl.SSLError):  # the old certificate is gone, also for one that could do with no other
            post(collector, body, only_rsa)
        (tmp_path / "key.pem").write_bytes(b"no key")
        collector.process.send_signal(signal.SIGHUP)
        eventually(lambda: reloads(admin)["tls", "failed"] == 1)
        assert post(collector, body, trusting(new)) == 200
        assert collector.stop() == 0


def test_a_pair_that_is_none_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A key that belongs to another certificate, one with a password, or a missing file: an error that names them, at
    once; and the context goes on with what it had.
    """
    authority = trustme.CA()
    pair(tmp_path, authority, trustme.KeyType.ECDSA)
    chain, key = str(tmp_path / "cert.pem"), str(tmp_path / "key.pem")
    certificate = Certificate(chain, key)
    other = authority.issue_cert("localhost").private_key_pem.bytes()
    locked = b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIGbMFcGCSqGSIb3\n-----END ENCRYPTED PRIVATE KEY-----\n"
    for wrong in (other, locked, b""):
        (tmp_path / "key.pem").write_bytes(wrong)
        with pytest.raises(CollectorError, match="are no certificate chain and its key"):
            certificate.reload()
    registry = str(registry_file(tmp_path))
    command = ["collect", registry, "--data", str(tmp_path / "data"), "--port", "0"]
    assert main([*command, "--tls-cert", chain, "--tls-key", str(tmp_path / "none.pem")]) == 1
    assert "No such file" in capsys.readouterr().err
    assert main([*command, "--tls-cert", chain]) == 1
    assert "give both, or neither" in capsys.readouterr().err


def test_tokens_follow_their_file_in_a_running_collector(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A token that is issued, and one that is revoked, is so for a running collector without any signal; and what it
    may contribute is not refilled by a restart.
    """
    registry = registry_file(tmp_path)
    choice = load_registry(registry).metric("choice")
    data = tmp_path / "data"

    def body() -> bytes:
        return upload(batch(choice, b"\x01", TODAY))

    def issued() -> str:
        capsys.readouterr()
        assert main(["token", "issue", "--data", str(data), "--metrics", "choice", "--cap", "2"]) == 0
        return f"Authorization: Bearer {capsys.readouterr().out.strip()}"

    with collecting(registry, data, "--require-token", "--workers", "2") as collector:
        assert post(collector, body()) == 401
        line = issued()
        # Until both workers have looked; twenty in a row all reach the same one with probability 2^-19.
        eventually(lambda: all(post(collector, b"", None, line) == 400 for _ in range(20)))
        assert [post(collector, body(), None, line) for _ in range(3)] == [200, 200, 400]
        collector.kill_all()
    with collecting(registry, data, "--require-token") as collector:
        assert post(collector, body(), None, line) == 400
        other = issued()
        eventually(lambda: post(collector, body(), None, other) == 200)
        assert main(["token", "revoke", other.split(".")[1], "--data", str(data)]) == 0
        eventually(lambda: post(collector, body(), None, other) == 401)
        assert collector.stop() == 0


def test_a_worker_that_dies_while_a_file_is_broken_is_started_again(tmp_path: Path) -> None:
    """With a broken registry, certificate and file of tokens a worker that died starts as the others are: what was
    revoked before stays so, though no signal came. The copies are its user's alone, and gone at the end; what a killed
    collector has left is gone at the next start.
    """
    registry = registry_file(tmp_path)
    body = upload(batch(load_registry(registry).metric("choice"), b"\x01", TODAY))
    data = DataDirectory(tmp_path / "data")
    data.run.mkdir(parents=True)
    (data.run / "left").touch()
    authority = trustme.CA()
    pair(tmp_path, authority, trustme.KeyType.ECDSA)
    chain, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    good, bad = issue(data), issue(data)
    arguments = ("--require-token", "--workers", "2", "--tls-cert", str(chain), "--tls-key", str(key))
    with collecting(registry, data.root, *arguments, "--admin", "127.0.0.1:0") as collector:
        admin = collector.admin()
        assert not (data.run / "left").exists()
        assert stat.S_IMODE(data.run.stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in data.run.iterdir() if path.is_file()} == {0o600}
        assert main(["token", "revoke", bad.split(".")[1], "--data", str(data.root)]) == 0
        eventually(lambda: read_tokens(data.last_tokens) == read_tokens(data.tokens))
        for path in (registry, chain, key, data.tokens):
            path.write_bytes(path.read_bytes()[:-40] + b"{")
        workers = collector.workers()
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        eventually(lambda: len(set(collector.workers()) - set(workers)) == 2)
        eventually(lambda: json.loads(get(f"{admin}/healthz")[1])["workers"] == 2)
        client = trusting(authority)
        for _ in range(10):
            assert post(collector, body, client, f"Authorization: {bearer(good)}") == 200
            assert post(collector, body, client, f"Authorization: {bearer(bad)}") == 401
        assert collector.stop() == 0
    assert not data.run.exists()


def test_metrics_are_not_among_temporary_files(tmp_path: Path) -> None:
    """A collector puts nothing where the system cleans up by age."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with collecting(registry_file(tmp_path), tmp_path / "data", environment=environment) as collector:
        assert list(temporary.iterdir()) == []
        assert collector.stop() == 0
