from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from aiohttp.test_utils import BaseTestServer, TestServer

from hubbub_firmware.gateway.server import application
from hubbub_firmware.gateway.webhooks import KINDS

from tests.firmware.gateway.gateways import chirpstack, frame, things_stack
from tests.firmware.gateway.test_intake import Setting

SECRET = "sixteen bytes or more"  # noqa: S105
MAKERS: dict[str, Callable[..., dict[str, Any]]] = {"things-stack": things_stack, "chirpstack": chirpstack}


class Gateway:
    def __init__(self, setting: Setting, session: ClientSession, server: BaseTestServer) -> None:
        self.setting = setting
        self._session = session
        self._server = server

    async def post(self, kind: str, body: object, secret: str | None = f"Bearer {SECRET}") -> tuple[int, Any, Any]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {} if secret is None else {"Authorization": secret}
        url = self._server.make_url(f"/v1/uplinks/{kind}")
        async with self._session.post(url, data=data, headers=headers) as answer:
            return answer.status, await answer.json(), answer.headers

    async def get(self, path: str) -> tuple[int, str]:
        async with self._session.get(self._server.make_url(path)) as answer:
            return answer.status, await answer.text()


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    setting = Setting(tmp_path, limit=3)
    app = application(setting.intake, setting.counters, SECRET.encode())
    async with TestServer(app) as server, ClientSession() as session:
        yield Gateway(setting, session, server)
    setting.store.close()


@pytest.mark.parametrize("kind", KINDS)
async def test_an_uplink_is_stored_before_it_is_answered(gateway: Gateway, kind: str) -> None:
    """200 for a frame that is on disk, for its repetition, for a trouble, and for an event that is no uplink."""
    make = MAKERS[kind]
    told = [await gateway.post(kind, make(frame(1), 1)) for _ in range(2)]
    told += [await gateway.post(kind, make(b"\xff\x05\x02\x00\x00\x00", 2)), await gateway.post(kind, {"join": {}})]
    assert [(status, body["status"]) for status, body, _ in told] == [
        (200, "accepted"), (200, "duplicate"), (200, "trouble"), (200, "ignored"),
    ]  # fmt: skip
    assert gateway.setting.store.waiting == 1
    assert gateway.setting.store.troubles() == {"clock": 2}


@pytest.mark.parametrize(
    "secret", [None, "", "Bearer", "Bearer ", f"bearer {SECRET}", f"Bearer {SECRET}x", "Bearer \xe9"]
)
async def test_without_the_secret_nothing_is_read(gateway: Gateway, secret: str | None) -> None:
    """No header, another scheme, a longer or another secret: 401, and nothing is taken."""
    status, body, _ = await gateway.post("chirpstack", chirpstack(frame(1)), secret)
    assert (status, body["error"]) == (401, "secret")
    assert gateway.setting.store.waiting == 0
    assert gateway.setting.count("secret") == 1


async def test_a_frame_that_never_will_be_taken_is_not_asked_for_again(gateway: Gateway) -> None:
    """A bad frame is answered with 202 and its reason, since a network server repeats, or blocks, what has no 2xx."""
    for number, (data, reason) in enumerate(
        [(b"", "empty"), (b"\x09", "index"), (b"\x00", "length"), (b"\x00\x07", "range")]
    ):
        status, body, _ = await gateway.post("chirpstack", chirpstack(data, number))
        assert (status, body["error"]) == (202, reason)
    status, body, _ = await gateway.post("chirpstack", chirpstack(frame(1), fPort=224))
    assert (status, body["error"]) == (202, "port")
    assert gateway.setting.store.waiting == 0


async def test_what_may_be_taken_later_is_asked_for_again(gateway: Gateway) -> None:
    """A full store or a clock that is not set is 503 with Retry-After; the very same uplink is taken afterwards."""
    gateway.setting.now = 946_684_800
    status, body, headers = await gateway.post("chirpstack", chirpstack(frame(0), 0))
    assert (status, body["error"], headers["Retry-After"]) == (503, "clock", "30")
    gateway.setting.now = 1_800_000_000
    for number in range(3):
        assert (await gateway.post("chirpstack", chirpstack(frame(number), number)))[0] == 200
    status, body, headers = await gateway.post("chirpstack", chirpstack(frame(3), 3))
    assert (status, body["error"], headers["Retry-After"]) == (503, "full", "30")
    assert gateway.setting.store.waiting == 3


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"fPort": 1}', b"\xff", {"uplink_message": 1, "fPort": 1}])
@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_no_webhook_is_refused(gateway: Gateway, kind: str, body: object) -> None:
    """A request that no network server makes is 400, and counted."""
    if (kind, body) == ("things-stack", b'{"fPort": 1}'):
        body = b'{"uplink_message": {}}'
    status, answer, _ = await gateway.post(kind, body)
    assert (status, answer["error"]) == (400, "webhook")
    assert gateway.setting.count("webhook") == 1


async def test_large_and_strange_requests(gateway: Gateway) -> None:
    """More than 64 KiB is 413, another kind of network server 404: neither is a crash, and nothing is taken."""
    url = gateway._server.make_url("/v1/uplinks/chirpstack")
    async with gateway._session.post(url, data=b" " * 100_000, headers={"Authorization": f"Bearer {SECRET}"}) as answer:
        assert answer.status == 413
    async with gateway._session.post(gateway._server.make_url("/v1/uplinks/other"), data=b"") as answer:
        assert answer.status == 404
    assert gateway.setting.store.waiting == 0


async def test_health_and_figures(gateway: Gateway) -> None:
    """/healthz says ok, and /metrics counts by outcome without anything that tells one sensor from another."""
    await gateway.post("things-stack", things_stack(frame(1)))
    assert await gateway.get("/healthz") == (200, '{"status": "ok"}')
    status, text = await gateway.get("/metrics")
    assert status == 200
    assert 'hubbub_gateway_frames_total{outcome="accepted"} 1.0' in text
    assert "hubbub_gateway_waiting 1.0" in text
    assert "70B3D57ED0000001" not in text
