"""Nothing is acknowledged that was not stored: by the shuffler, by the opener, and by what the shuffler forgets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
import trustme
from aiohttp import web

from hubbub_collector.errors import StoreError, StoreFullError
from hubbub_collector.opening import service as opening_service
from hubbub_collector.opening.service import Opening, open_batches
from hubbub_collector.shuffler import service as shuffling_service
from hubbub_collector.shuffler.crowd import Batch
from hubbub_collector.shuffler.forwarder import Forwarder
from hubbub_collector.shuffler.sealed_body import parse
from hubbub_collector.shuffler.service import Shuffling, shuffle
from hubbub_collector.shuffler.serving import Address
from hubbub_collector.tls import Certificate
from hubbub_collector.writer import Budget
from hubbub_sealing.record import SealedRecord, pack
from hubbub_sealing.upload import build

from tests.collector.serving import MSGPACK, FakeStore, metric_values
from tests.collector.shuffler.sealing import free_port, make_keys, noise_upload, sealed
from tests.collector.uploads import NOW, TODAY, batch, load, records, upload

SHOWN = "a secret of tests"


@asynccontextmanager
async def running(
    main: Callable[[asyncio.Event], Coroutine[object, object, None]], capsys: pytest.CaptureFixture[str]
) -> AsyncIterator[tuple[str, aiohttp.ClientSession]]:
    """A service in this loop: its address, and a session."""
    stop = asyncio.Event()
    task = asyncio.create_task(main(stop))
    out = ""
    while not out.endswith("\n"):
        assert not task.done(), task.result()
        await asyncio.sleep(0.01)
        out += capsys.readouterr().out
    async with aiohttp.ClientSession() as session:
        yield out.split()[-1], session
    stop.set()
    await task


async def status(session: aiohttp.ClientSession, url: str, body: bytes, **headers: str) -> tuple[int, str | None]:
    """The status of a POST, and its Retry-After."""
    async with session.post(url, data=body, headers={**MSGPACK, **headers}) as answer:
        return answer.status, answer.headers.get("Retry-After")


FAILURES = [(StoreError("no"), 503, "5"), (StoreFullError("full"), 507, "60")]


@pytest.mark.parametrize(("error", "code", "retry"), FAILURES)
async def test_the_shuffler_does_not_acknowledge_what_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: StoreError, code: int,
    retry: str,
) -> None:  # fmt: skip
    """A commit that fails is told, with when to try again, and so is the health of the service."""
    monkeypatch.setattr(shuffling_service, "HeldStore", lambda _: FakeStore(error))
    settings = Shuffling(tmp_path, {b"k" * 8}, 2, 0, 1)
    forwarder = Forwarder("http://127.0.0.1:1", SHOWN)

    async def main(stop: asyncio.Event) -> None:
        await shuffle(settings, Address("127.0.0.1", 0), forwarder, stop)

    async with running(main, capsys) as (url, session):
        assert await status(session, f"{url}/v1/sealed", noise_upload(b"k" * 8)[0]) == (code, retry)
        async with session.get(f"{url}/healthz") as answer:
            assert answer.status == 503


@pytest.mark.parametrize(("error", "code", "retry"), FAILURES)
async def test_the_opener_does_not_acknowledge_what_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: StoreError, code: int,
    retry: str,
) -> None:  # fmt: skip
    """The same of the analyst's side: the shuffler would forget the batch."""
    monkeypatch.setattr(opening_service, "WorkerStore", lambda *_: FakeStore(error))
    keys, registry = make_keys(tmp_path / "keys"), load(tmp_path)
    metric = registry.metric("choice")
    body = sealed(upload(batch(metric, records(metric, 1))), keys.seals, registry)

    async def main(stop: asyncio.Event) -> None:
        settings = Opening(tmp_path / "data", [keys.opens], SHOWN)
        await open_batches(registry, settings, Address("127.0.0.1", 0), stop, lambda: NOW)

    async with running(main, capsys) as (url, session):
        bearer = {"Authorization": f"Bearer {SHOWN}"}
        assert await status(session, f"{url}/v1/shuffled", body, **bearer) == (code, retry)


async def test_batches_are_kept_until_acknowledged() -> None:
    """The sender tells every status as it is, and 0 where no answer came; a redirect is not followed."""
    answers = [200, 204, 302, 400, 503]
    seen: list[str | None] = []

    async def handle(request: web.BaseRequest) -> web.Response:
        seen.append(request.headers.get("Authorization"))
        code = answers.pop(0)
        return web.Response(status=code, headers={"Location": "/elsewhere"} if code == 302 else {})

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    one = Batch(bytes(16), bytes(8), [bytes(99)])
    async with Forwarder(f"http://127.0.0.1:{port}/", SHOWN) as forwarder:
        assert [await forwarder.send(one) for _ in range(5)] == [200, 204, 302, 400, 503]
        await runner.cleanup()
        assert await forwarder.send(one) == 0
    assert seen == [f"Bearer {SHOWN}"] * 5


async def test_a_full_quarantine_stops_no_batch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Records of unknown metrics that find no room are counted, and the known ones beside them are stored."""
    keys, registry = make_keys(tmp_path / "keys"), load(tmp_path)
    metric = registry.metric("choice")
    strange = SealedRecord(bytes(16), b"strange!", 7, records(metric, 1))
    known = SealedRecord(bytes(16), metric.fingerprint, TODAY, records(metric, 1))
    body = build(bytes(16), keys.id, [keys.seals.seal(pack(one, 17)) for one in (strange, known)])

    async def main(stop: asyncio.Event) -> None:
        settings = Opening(tmp_path / "data", [keys.opens], SHOWN, budget=Budget(quarantine=0))
        await open_batches(registry, settings, Address("127.0.0.1", 0), stop, lambda: NOW)

    caplog.set_level("INFO")
    async with running(main, capsys) as (url, session):
        bearer = {"Authorization": f"Bearer {SHOWN}"}
        assert await status(session, f"{url}/v1/shuffled", body, **bearer) == (200, None)
    assert "a batch: 1 records stored, 0 quarantined, 1 quarantine-full" in caplog.messages


async def test_tls_between_the_parties(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Batches go over TLS to an analyst whose certificate is right, and to nobody else."""
    authority = trustme.CA()
    certificate = authority.issue_cert("localhost")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    certificate.private_key_and_cert_chain_pem.write_to_path(tmp_path / "analyst.pem")
    keys, registry = make_keys(tmp_path / "keys"), load(tmp_path)
    pem = str(tmp_path / "analyst.pem")

    async def main(stop: asyncio.Event) -> None:
        settings = Opening(tmp_path / "data", [keys.opens], SHOWN)
        await open_batches(registry, settings, Address("localhost", 0, Certificate(pem, pem)), stop, lambda: NOW)

    async with running(main, capsys) as (url, _):
        assert url.startswith("https://localhost:")
        one = Batch(bytes(16), keys.id, [bytes(99)])
        async with Forwarder(url, SHOWN, str(tmp_path / "ca.pem")) as trusting:
            assert await trusting.send(one) == 200
        async with Forwarder(url, SHOWN) as wary:
            assert await wary.send(one) == 0


async def test_metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Operators see what both sides count, at addresses of their own."""
    outer, inner = free_port(), free_port()
    keys, registry = make_keys(tmp_path / "keys"), load(tmp_path)
    metric = registry.metric("choice")
    made = [sealed(upload(batch(metric, records(metric, 2))), keys.seals, registry) for _ in range(2)]

    async def analyst(stop: asyncio.Event) -> None:
        settings = Opening(tmp_path / "a", [keys.opens], SHOWN, admin=("127.0.0.1", inner))
        await open_batches(registry, settings, Address("127.0.0.1", 0), stop, lambda: NOW)

    async with running(analyst, capsys) as (forward, session):
        settings = Shuffling(tmp_path / "s", {keys.id}, 3, 0, 86_400, admin=("127.0.0.1", outer))

        async def shuffler(stop: asyncio.Event) -> None:
            await shuffle(settings, Address("127.0.0.1", 0), Forwarder(forward, SHOWN), stop)

        async with running(shuffler, capsys) as (url, _):
            junk, _ = noise_upload(keys.id, 1, parse(made[0]).size)
            for body in (*made, junk):
                assert await status(session, f"{url}/v1/sealed", body) == (200, None)
            assert (await status(session, f"{url}/v1/sealed", b""))[0] == 400
            async with asyncio.timeout(20):
                while (found := await _metrics(session, outer))["hubbub_shuffler_forwarded_total"] < 5:
                    await asyncio.sleep(0.05)
            opened = await _metrics(session, inner)
    assert found["hubbub_shuffler_uploads_total"] == found["hubbub_shuffler_mixed_uploads_total"] == 3
    assert (found["hubbub_shuffler_failing"], found['hubbub_refused_total{code="not-msgpack"}']) == (0, 1)
    assert opened['hubbub_opened_ciphertexts_total{outcome="stored"}'] == 4
    assert opened['hubbub_opened_ciphertexts_total{outcome="undecryptable"}'] == 1


async def _metrics(session: aiohttp.ClientSession, port: int) -> dict[str, float]:
    async with session.get(f"http://127.0.0.1:{port}/metrics") as answer:
        return metric_values(await answer.text())
