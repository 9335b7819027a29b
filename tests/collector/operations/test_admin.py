"""The operator's listener: what it tells, to whom, and while what goes on."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from hubbub_collector.admin import Admin
from hubbub_collector.errors import StoreError
from hubbub_collector.sockets import bound_socket
from hubbub_collector.status import RUNNING, STARTING, STOPPING, Status
from hubbub_collector.upload import Batch
from hubbub_registry import load_registry

from tests.collector.server_process import collecting, hubbub
from tests.collector.serving import FakeStore, metric_values, serving
from tests.collector.uploads import batch, load, records, registry_file, upload


def get(url: str) -> tuple[int, str]:
    """The status and the text of a page."""
    try:
        with urlopen(url, timeout=20) as answer:  # noqa: S310 - our own server
            return answer.status, answer.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


def post(url: str, body: bytes) -> int:
    """The status of an upload."""
    headers = {"Content-Type": "application/msgpack"}
    request = Request(f"{url}/v1/reports", body, headers)  # noqa: S310 - our own server
    with urlopen(request, timeout=20) as answer:  # noqa: S310 - our own server
        return int(answer.status)


class FakeStatus(Status):
    """Says what the test wants."""

    def __init__(self, directory: str) -> None:
        super().__init__(directory)
        self.sums: dict[str, float] = {}

    def sum(self, name: str) -> float:
        return self.sums.get(name, 0)


@pytest.fixture
def status(tmp_path: Path) -> FakeStatus:
    return FakeStatus(str(tmp_path))


@pytest.fixture
def admin(status: FakeStatus) -> Iterator[str]:
    def listing() -> list[dict[str, object]]:
        if status.phase == STOPPING:
            raise StoreError("the quarantine cannot be read")
        return [{"fingerprint": "00" * 8, "period": 7, "batches": 1, "bytes": 3}]

    with bound_socket("127.0.0.1", 0, shared=False) as listening:
        served = Admin(listening, status, listing)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        served.close()


def test_it_is_ready_only_while_it_takes_uploads(status: FakeStatus, admin: str) -> None:
    """/readyz is 503 and says why while the collector starts, has no worker, has a store that does not commit, or
    stops; 200 otherwise. /healthz is 200 all along, and warns of a full quarantine.
    """

    def ready() -> tuple[int, str]:
        code, text = get(f"{admin}/readyz")
        said = json.loads(text)
        return code, said.get("error", said.get("status"))

    assert status.phase == STARTING
    assert ready() == (503, "starting")
    status.phase = RUNNING
    assert ready() == (503, "no-worker")
    status.listens(2)
    assert ready() == (200, "ready")
    status.sums["hubbub_store_failing"] = 1
    assert ready() == (503, "store")
    status.sums = {"hubbub_quarantine_full": 1}
    assert ready() == (200, "ready")
    code, text = get(f"{admin}/healthz")
    assert (code, json.loads(text)) == (
        200, {"status": "ok", "phase": "running", "workers": 2, "quarantine": "full"},
    )  # fmt: skip
    assert get(f"{admin}/quarantine")[0] == 200
    status.phase = STOPPING
    assert ready() == (503, "stopping")
    assert get(f"{admin}/healthz")[0] == 200
    code, text = get(f"{admin}/quarantine")
    assert (code, json.loads(text)["error"]) == (503, "store")
    assert get(f"{admin}/v1/reports")[0] == 404


async def test_those_who_send_see_nothing_of_the_operators(tmp_path: Path) -> None:
    """The listener for uploads has no metrics, no readiness and no quarantine, and its /healthz has one word."""
    async with serving(load(tmp_path), FakeStore()) as served:
        for path in ("/metrics", "/readyz", "/quarantine", "/admin"):
            async with served.session.get(served.url + path) as answer:
                assert answer.status == 404
        async with served.session.get(f"{served.url}/healthz") as answer:
            assert await answer.json() == {"status": "ok"}


def test_the_listener_of_a_running_collector(tmp_path: Path) -> None:
    """It sums over both workers, in the format that Prometheus reads: uploads, records, bytes, sizes, refusals,
    quarantine, commits; lists the quarantine; and follows the collector until it has stopped.
    """
    registry = registry_file(tmp_path)
    sketch = load_registry(registry).metric("sketch")
    period = int(time.time() // sketch.period)
    with collecting(registry, tmp_path / "data", "--workers", "2", "--admin", "127.0.0.1:0") as collector:
        admin = collector.admin()
        bodies = [upload(batch(sketch, records(sketch, count), period)) for count in (1, 2, 50)]
        assert [post(collector.url, body) for body in bodies] == [200] * 3
        assert post(collector.url, upload(Batch(b"whatever", 7, b"abc"))) == 202
        assert get(f"{collector.url}/nothing")[0] == 404
        deadline = time.monotonic() + 20
        while True:  # the workers hand their sizes on once a second
            code, text = get(f"{admin}/metrics")
            values = metric_values(text)
            if values.get("hubbub_upload_records_count") == 4 or time.monotonic() > deadline:
                break
            time.sleep(0.1)
        assert code == 200
        expected = {
            "hubbub_uploads_stored_total": 4,
            "hubbub_records_stored_total": 53,
            "hubbub_stored_bytes_total": sum(map(len, bodies)),
            "hubbub_batches_quarantined_total": 1,
            "hubbub_upload_records_count": 4,
            "hubbub_upload_records_sum": 53,
            'hubbub_upload_records_bucket{le="1.0"}': 2,
            'hubbub_upload_records_bucket{le="3.0"}': 3,
            'hubbub_upload_records_bucket{le="100.0"}': 4,
            'hubbub_uploads_refused_total{code="not-found"}': 1,
            "hubbub_commit_failures_total": 0,
            "hubbub_queue_bytes": 0,
            "hubbub_arriving_bytes": 0,
            "hubbub_store_failing": 0,
            "hubbub_quarantine_full": 0,
            "hubbub_workers": 2,
            "hubbub_worker_deaths_total": 0,
        }
        assert {name: values.get(name) for name in expected} == expected
        assert values["hubbub_commit_seconds_count"] >= 1
        assert values["hubbub_store_bytes"] > 0
        assert values["hubbub_quarantine_bytes"] == 3 + 64
        families = [family.name for family in text_string_to_metric_families(text)]
        assert len(families) == len(set(families))
        assert get(f"{admin}/readyz") == (200, '{"status":"ready"}')
        listing = json.loads(get(f"{admin}/quarantine")[1])["quarantined"]
        assert listing == [{"fingerprint": b"whatever".hex(), "period": 7, "batches": 1, "bytes": 3}]
        assert collector.stop() == 0
        with pytest.raises(OSError, match="refused"):
            urlopen(f"{admin}/healthz", timeout=5)  # noqa: S310 - our own server


def test_readiness_ends_before_the_listener(tmp_path: Path) -> None:
    """While the collector finishes what is in flight after SIGTERM, /readyz says that it stops."""
    registry = registry_file(tmp_path)
    with collecting(registry, tmp_path / "data", "--admin", "127.0.0.1:0") as collector:
        admin = collector.admin()

        async def hold() -> None:
            _, writer = await asyncio.open_connection("127.0.0.1", collector.port)
            writer.write(b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/msgpack\r\n")
            writer.write(b"Content-Length: 9\r\n\r\n")
            await writer.drain()
            deadline = time.monotonic() + 10
            while not metric_values((await asyncio.to_thread(get, f"{admin}/metrics"))[1]).get("hubbub_connections"):
                assert time.monotonic() < deadline
                await asyncio.sleep(0.1)
            collector.process.send_signal(signal.SIGTERM)
            while (found := await asyncio.to_thread(get, f"{admin}/readyz"))[0] == 200:
                assert time.monotonic() < deadline
            assert json.loads(found[1])["error"] == "stopping"
            writer.close()

        asyncio.run(hold())
        assert collector.process.wait(30) == 0


def test_a_port_in_use_is_an_error(tmp_path: Path) -> None:
    """An address for operators that cannot be listened on ends the command with status 1, and nothing is left."""
    registry = registry_file(tmp_path)
    with bound_socket("127.0.0.1", 0, shared=False) as taken:
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        arguments = ("--data", str(tmp_path / "data"), "--port", "0", "--admin", address)
        done = hubbub("collect", str(registry), *arguments)
    assert done.returncode == 1
    assert "cannot be listened on" in done.stderr
