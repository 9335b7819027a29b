"""What the log says, and what never gets into it."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub_collector.logs import configure, quiet_loop
from hubbub_collector.upload import Batch
from hubbub_registry import load_registry

from tests.collector.server_process import HUBBUB, Collector
from tests.collector.uploads import batch, records, registry_file, upload

ADDRESS = "127.77.66.55"
"""Where the test's uploads come from: an address that is like no other on the machine."""
AGENT = "Agent-7Qx"
PAYLOAD = b"DISTINCTIVE-PAYLOAD-81"


def send(port: int, request: bytes) -> bytes:
    """Sends bytes from ADDRESS, and returns what comes back until the server closes or says all of it."""
    with socket.socket() as sender:
        sender.bind((ADDRESS, 0))
        sender.settimeout(10)
        sender.connect(("127.0.0.1", port))
        sender.sendall(request)
        return sender.recv(65536)


def posted(body: bytes, *lines: str) -> bytes:
    """A POST of ``body``, with further header lines."""
    head = ["POST /v1/reports HTTP/1.1", "Host: x", f"User-Agent: {AGENT}", "Content-Type: application/msgpack", *lines]
    return "\r\n".join([*head, f"Content-Length: {len(body)}", "", ""]).encode() + body


def test_no_address_and_no_payload_is_logged(tmp_path: Path) -> None:
    """After good, bad, broken, unknown and refused uploads from a distinctive address with distinctive contents, and a
    collector that stops, neither is anywhere in its output; every line of --log json is an object with time, level,
    worker and event.
    """
    registry = registry_file(tmp_path)
    sketch = load_registry(registry).metric("sketch")
    good = upload(batch(sketch, records(sketch, 2), int(time.time() // sketch.period)))
    command = [
        *HUBBUB, "collect", str(registry), "--data", str(tmp_path / "data"), "--port", "0", "--log", "json",
        "--quarantine-budget", "100", "--rate", "8/h", "--trusted-proxy", "10.0.0.0/8",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        collector = Collector(process)
        answers = [
            send(collector.port, request)
            for request in (
                posted(good),
                posted(PAYLOAD),
                posted(good[:-1], "X-Forwarded-For: 10.1.2.3"),
                posted(upload(Batch(PAYLOAD[:8], 7, PAYLOAD))),
                posted(upload(Batch(PAYLOAD[:8], 7, PAYLOAD * 9))),
                posted(upload(batch(sketch, PAYLOAD))),
                PAYLOAD + b"\r\n\r\n",
                b"GET /" + PAYLOAD + b" HTTP/1.1\r\nHost: x\r\n\r\n",
                *[posted(good)] * 4,
            )
        ]
        process.terminate()
        out, err = process.communicate(timeout=60)
    statuses = {int(answer.split()[1]) for answer in answers}
    assert statuses == {200, 202, 400, 404, 429}
    said = out + err
    for secret in (ADDRESS, AGENT, PAYLOAD.decode(), PAYLOAD.hex(), "10.1.2.3", good.hex(), "127.77"):
        assert secret not in said
    assert "the quarantine is full" in err
    lines = err.splitlines()
    for line in lines:
        event = json.loads(line)
        assert event.keys() == {"time", "level", "worker", "event"}
        assert event["time"].endswith("Z")
    assert json.loads(lines[0])["worker"] == 0


@pytest.fixture
def root() -> Iterator[None]:
    """Puts logging back as it was."""
    logger = logging.getLogger()
    before = logger.handlers[:], logger.level
    levels = {name: logging.getLogger(name).level for name in ("asyncio", "aiohttp")}
    yield
    logger.handlers[:], level = before
    logger.setLevel(level)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_exception_is_told_without_its_message(capsys: pytest.CaptureFixture[str], root: None, form: str) -> None:
    """Of an exception the kind and the place are logged, and not its message, which may quote an upload; one event is
    one line; what asyncio says of connections is not logged.
    """
    configure(form, 3)
    log = logging.getLogger("hubbub.collector")
    try:
        raise ValueError(PAYLOAD.decode())
    except ValueError as error:
        log.exception("it failed\nbadly")
        with asyncio.Runner() as runner:
            quiet_loop(runner.get_loop(), {"message": PAYLOAD.decode(), "exception": error})
            quiet_loop(runner.get_loop(), {"message": "x", "exception": ConnectionResetError(ADDRESS)})
    logging.getLogger("asyncio").error("%s", ADDRESS)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert all("ValueError" in line and "test_logs.py" in line for line in lines)
    assert PAYLOAD.decode() not in "".join(lines)
    if form == "json":
        first = json.loads(lines[0])
        assert (first["level"], first["worker"]) == ("error", 3)
        assert first["event"].startswith("it failed badly (ValueError in ")
