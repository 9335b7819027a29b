"""What is in deploy/: that its commands are commands, and that nginx in front of a collector works."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme

from hubbub_collector.commands import collect, retain, seal
from hubbub_registry import load_registry

from tests.collector.server_process import collecting
from tests.collector.uploads import batch, records, registry_file, upload

DEPLOY = Path(__file__).parents[3] / "deploy"
COMMANDS = {"collect": collect, "retain": retain, "seal": seal}
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


def parsed(words: list[str]) -> argparse.Namespace:
    """The arguments of a hubbub command; an exit where they are wrong."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    COMMANDS[words[0]].add_arguments(parser)
    return parser.parse_args(words[1:])


@pytest.mark.parametrize("unit", sorted(path.name for path in DEPLOY.glob("*.service")))
def test_a_units_command_is_one(unit: str) -> None:
    """Each unit starts a hubbub command whose arguments it takes, as its own user, with its data below /var/lib."""
    text = (DEPLOY / unit).read_text().replace("\\\n", " ")
    words = shlex.split(re.findall(r"^ExecStart=(.*)$", text, re.M)[0])
    assert words[0] == "/opt/hubbub/bin/hubbub"
    arguments = parsed(words[1:])
    assert arguments.data == "/var/lib/hubbub"
    for line in ("User=hubbub", "StateDirectory=hubbub", "NoNewPrivileges=yes", "ProtectSystem=strict"):
        assert line in text.splitlines()
    if unit != "hubbub-collect.service":
        assert (DEPLOY / unit).with_suffix(".timer").exists()


def test_the_containers_command_is_one() -> None:
    """The image starts a collector whose arguments it takes, and asks the listener that it opens for its health."""
    text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
    words = json.loads(re.findall(r"^CMD (\[.*\])$", text, re.M)[0])
    arguments = parsed(words)
    assert arguments.admin == ("0.0.0.0", 9090)  # noqa: S104 - inside a container
    assert "http://127.0.0.1:9090/readyz" in text
    assert json.loads(re.findall(r"^ENTRYPOINT (\[.*\])$", text, re.M)[0]) == ["hubbub"]


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def listens(port: int) -> bool:
    """Whether anybody listens on ``port``."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def nginx(folder: Path, collector: int, authority: trustme.CA) -> Iterator[int]:
    """Runs nginx with deploy/nginx.conf, on a port of its own, before the collector on port ``collector``."""
    assert NGINX is not None
    issued = authority.issue_cert("collector.example.org")
    (folder / "chain.pem").write_bytes(b"".join(part.bytes() for part in issued.cert_chain_pems))
    (folder / "key.pem").write_bytes(issued.private_key_pem.bytes())
    port = free_port()
    ours = (DEPLOY / "nginx.conf").read_text()
    for was, now in (
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        ("    listen [::]:443 ssl;\n", ""),
        ("server 127.0.0.1:8080;", f"server 127.0.0.1:{collector};"),
        ("/etc/ssl/collector/fullchain.pem", str(folder / "chain.pem")),
        ("/etc/ssl/collector/key.pem", str(folder / "key.pem")),
    ):
        assert ours.count(was) == 1
        ours = ours.replace(was, now)
    paths = "".join(
        f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    configuration = folder / "nginx.conf"
    configuration.write_text(f"pid {folder}/pid;\ndaemon off;\nevents {{}}\nhttp {{\n{paths}{ours}\n}}\n")
    command = [NGINX, "-e", "stderr", "-p", str(folder), "-c", str(configuration)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + 20
            while not listens(port):
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
            yield port
        finally:
            process.terminate()
            process.wait(20)


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_nginx_in_front_works(tmp_path: Path) -> None:
    """Through nginx uploads and troubles are taken over TLS, what the operator sees is not there, a body over the limit
    is refused by nginx.
    """
    registry = registry_file(tmp_path)
    sketch = load_registry(registry).metric("sketch")
    body = upload(batch(sketch, records(sketch, 3), int(time.time() // sketch.period)))
    authority = trustme.CA()
    context = ssl.create_default_context()
    authority.configure_trust(context)
    with (
        collecting(registry, tmp_path / "data", "--admin", "127.0.0.1:0") as collector,
        nginx(tmp_path, collector.port, authority) as port,
    ):

        def ask(method: str, path: str, kind: str = "", content: bytes = b"") -> int:
            head = f"{method} {path} HTTP/1.1\r\nHost: collector.example.org\r\nConnection: close\r\n"
            sent = f"{head}Content-Type: {kind}\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content
            with (
                socket.create_connection(("127.0.0.1", port), 20) as plain,
                context.wrap_socket(plain, server_hostname="collector.example.org") as secure,
            ):
                secure.sendall(sent)
                return int(secure.recv(65536).split()[1])

        assert ask("POST", "/v1/reports", "application/msgpack", body) == 200
        assert ask("POST", "/v1/troubles", "application/json", b'{"clock": 1}') == 200
        assert ask("GET", "/healthz") == 200
        assert [ask("GET", path) for path in ("/metrics", "/readyz", "/quarantine", "/")] == [404] * 4
        assert ask("POST", "/v1/reports", "application/msgpack", bytes((1 << 20) + 1)) == 413
        assert collector.stop() == 0
