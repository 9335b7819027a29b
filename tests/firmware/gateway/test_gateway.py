"""A whole gateway, as a process: frames in by webhook, serial line and standard input, uploads out."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

import msgpack
import pytest

import hubbub_firmware.bridge.link as link_module
from hubbub_firmware.bridge.link import CollectorLink
from hubbub_firmware.gateway.counters import GatewayCounters
from hubbub_firmware.gateway.frames import FrameReport, FrameTrouble
from hubbub_firmware.gateway.sender import Sender
from hubbub_firmware.gateway.store import GatewayStore

from tests.firmware.bridge.broker import free_port
from tests.firmware.bridge.test_mqtt_bridge import Collector, until
from tests.firmware.gateway.gateways import chirpstack, frame
from tests.firmware.transports.servers import serving
from tests.registries import registry_of

SECRET = "sixteen bytes or more"  # noqa: S105
COMMAND = [sys.executable, "-c", "import sys; from hubbub_registry.commands import main; sys.exit(main())", "gateway"]


@pytest.fixture
def plan(tmp_path: Path) -> str:
    registry = registry_of(
        tmp_path, a={"mechanism": "randomized-response"}, b={"mechanism": "hadamard-count-mean-sketch"}
    )
    (tmp_path / "plan.json").write_text(json.dumps(registry.document))
    return str(tmp_path / "plan.json")


@contextmanager
def gateway(*arguments: str, **keys: object) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A gateway and the port it listens on, 0 where it does not."""
    environment = {**os.environ, "HUBBUB_GATEWAY_SECRET": SECRET}
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        **keys,  # type: ignore[call-overload]
    )
    try:
        port = 0
        for line in process.stderr:
            found = re.search(r"taking webhooks on port (\d+)", line)
            port = int(found[1]) if found else port
            if found or "reading lines" in line:
                break
        yield process, port
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def post(port: int, number: int) -> int:
    body = json.dumps(chirpstack(frame(number), number)).encode()
    headers = {"Authorization": f"Bearer {SECRET}", "Content-Type": "application/json"}
    try:
        with urlopen(Request(f"http://127.0.0.1:{port}/v1/uplinks/chirpstack", body, headers), timeout=10) as answer:
            status: int = answer.status
            return status
    except (URLError, OSError):
        return 0


def records(bodies: list[bytes]) -> list[bytes]:
    """Every record that arrived, one upload counted once."""
    uploads = {msgpack.unpackb(body)[1]: msgpack.unpackb(body)[2] for body in bodies}
    width = len(frame(0)) - 1
    return [
        data[at : at + width]
        for batches in uploads.values()
        for _, _, data in batches
        for at in range(0, len(data), width)
    ]


def test_what_was_acknowledged_arrives_once_though_the_gateway_is_killed(plan: str, tmp_path: Path) -> None:
    """Killed in the middle of its work, with the collector down, and started again: every frame that was answered with
    200 arrives, and none twice."""
    collector, port = Collector(), free_port()
    arguments = (plan, "--collector", f"http://127.0.0.1:{port}", "--data", str(tmp_path / "data"))
    options = ("--listen", "127.0.0.1:0", "--batch", "8", "--patience", "1")
    acknowledged: list[int] = []
    with gateway(*arguments, *options) as (process, listening):

        def fill() -> None:
            acknowledged.extend(number for number in range(60) if post(listening, number) == 200)

        thread = threading.Thread(target=fill)
        thread.start()
        until(lambda: len(acknowledged) > 10)
        process.kill()
        thread.join()
    assert len(acknowledged) > 0
    before = {frame(number)[1:] for number in acknowledged}
    with serving(collector, port=port), gateway(*arguments, *options) as (process, listening):
        assert post(listening, 63) == 200
        until(lambda: before | {frame(63)[1:]} <= set(records(collector.taken)))
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    arrived = records(collector.taken)
    assert len(arrived) == len(set(arrived))
    assert len(arrived) - len(before) - 1 <= 1  # the one that was stored and not yet answered


def test_lines_of_standard_input_and_of_a_serial_device_arrive(plan: str, tmp_path: Path) -> None:
    """Lines from stdin are on disk before it ends, lines from a serial device arrive, and a lost device is an error."""
    collector = Collector()
    with serving(collector) as server:
        common = (plan, "--collector", server.url, "--data", str(tmp_path / "data"), "--patience", "1")
        text = "".join(f"{frame(number).hex()}\n" for number in range(5)) + "nonsense\n"
        command = [*COMMAND, *common, "--serial", "-"]
        done = subprocess.run(command, input=text, text=True, capture_output=True, timeout=30)
        assert (done.returncode, done.stdout) == (0, "")
        assert "nonsense" not in done.stderr
        controller, device = pty.openpty()
        with gateway(*common, "--serial", os.ttyname(device)) as (process, _):
            os.write(controller, f"aa:bb 1 {frame(5).hex()}\r\naa:bb 1 {frame(5).hex()}\n".encode())
            until(lambda: len(records(collector.taken)) == 6)
            os.close(device)
            os.close(controller)
            assert process.wait(20) == 1
            assert "the serial device is gone" in process.stderr.read()  # type: ignore[union-attr]
    assert sorted(records(collector.taken)) == sorted(frame(number)[1:] for number in range(6))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "nothing to take frames from"),
        (("--listen", "127.0.0.1:0"), "at least 16 bytes"),
        (("--serial", "/dev/no-such-device"), "cannot be opened"),
    ],
)
def test_settings_that_cannot_work_are_one_line(
    arguments: tuple[str, ...], message: str, plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Nothing to read from, a short secret, a device that is none: one line on stderr and status 1."""
    from hubbub_registry.commands import main

    monkeypatch.setenv("HUBBUB_GATEWAY_SECRET", "short")
    common = ["gateway", plan, "--collector", "http://127.0.0.1:1", "--data", str(tmp_path / "data")]
    assert main([*common, *arguments]) == 1
    assert message in capsys.readouterr().err.splitlines()[-1]


class Sending:
    """A sender over a store of its own, to a collector that is told what to answer."""

    def __init__(self, folder: Path, url: str, least: int, patience: float) -> None:
        self.store = GatewayStore(folder / "store", 10_000)
        self.counters = GatewayCounters()
        self.sender = Sender(self.store, CollectorLink(url), self.counters, least, patience)

    def add(self, *numbers: int) -> None:
        self.store.add([FrameReport(b"f" * 8, 20_000, number.to_bytes(4, "little")) for number in numbers])

    def __enter__(self) -> Sending:
        self.sender.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.sender.stop()
        self.store.close()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(link_module, "wait_ms", lambda attempt, source: 10)
    monkeypatch.setattr("hubbub_firmware.gateway.sender._LOOK_EVERY", 0.02)


def test_a_report_waits_for_others_and_travels_alone_only_after_its_patience(tmp_path: Path) -> None:
    """Below the least number nothing is sent; with it all go in one upload; after the patience fewer go."""
    collector = Collector()
    with serving(collector) as server, Sending(tmp_path, server.url, 4, 0.5) as sending:
        sending.add(1, 2, 3)
        time.sleep(0.2)
        assert collector.taken == []
        sending.add(4)
        until(lambda: len(collector.taken) == 1)
        sending.add(5)
        until(lambda: len(collector.taken) == 2)
    sizes = [len(msgpack.unpackb(body)[2][0][2]) // 4 for body in collector.taken]
    assert sizes == [4, 1]


def test_failures_keep_an_upload_and_a_refusal_drops_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """429, 500, 503 and garbage repeat the very same bytes; 400 ends it, counted, and what comes next goes on."""
    script = iter([429, 500, 503, 0, 200, 400, 200])
    bodies: list[bytes] = []

    def answer(request: bytes) -> bytes:
        from tests.firmware.transports.servers import response

        bodies.append(request.partition(b"\r\n\r\n")[2])
        status = next(script)
        return response(status, "Retry-After: 0") if status else b"garbage\r\n\r\n"

    with serving(answer) as server, Sending(tmp_path, server.url, 1, 1) as sending:
        for number in (1, 2, 3):
            sending.add(number)
            until(lambda: sending.store.waiting == 0 and sending.store.next_upload() is None)
        figures = [
            sending.counters.registry.get_sample_value("hubbub_gateway_reports_total", {"outcome": outcome})
            for outcome in ("sent", "refused")
        ]
    assert figures == [2, 1]
    assert len(set(bodies[:5])) == 1
    assert len(set(bodies)) == 3
    assert "refused 1 reports for good" in caplog.text


def test_troubles_reach_the_collector_as_counts(tmp_path: Path) -> None:
    """What sensors told is posted as counts and taken off; a collector without that address loses counts only."""
    collector = Collector()
    with serving(collector) as server, Sending(tmp_path, server.url, 1, 1) as sending:
        sending.store.add([FrameTrouble("clock", 2), FrameTrouble("entropy", 1)])
        until(lambda: sending.store.troubles() == {})
        collector.troubles_status = 404
        sending.store.add([FrameTrouble("clock", 7)])
        until(lambda: sending.store.troubles() == {})
        sending.add(1)
        until(lambda: len(collector.taken) == 1)
    assert [json.loads(body) for body in collector.troubles] == [{"clock": 2, "entropy": 1}, {"clock": 7}]
