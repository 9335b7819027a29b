"""The HTTP side: every status code, and that 2xx means stored."""

from __future__ import annotations

import asyncio
import gzip
import logging
import os
import sqlite3
from pathlib import Path

import pytest

from hubbub_collector import quarantine
from hubbub_collector.errors import StoreError, StoreFullError
from hubbub_collector.intake import Limits
from hubbub_collector.quarantine import Quarantined
from hubbub_collector.store import SqliteStore
from hubbub_collector.turning_away import TurningAway
from hubbub_collector.upload import Batch, Validator
from hubbub_collector.window import Window
from hubbub_collector.writer import Budget
from hubbub_registry import Registry

from tests.collector.serving import FakeStore, Served, serving
from tests.collector.uploads import NOW, TODAY, batch, records, stored, upload


@pytest.fixture
def store(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path / "intake" / "worker-0.sqlite", late=1)


def good(registry: Registry, count: int = 1) -> bytes:
    metric = registry.metric("sketch")
    return upload(batch(metric, records(metric, count)))


async def raw(served: Served, request: bytes, then: bytes = b"") -> bytes:
    """Sends bytes over a connection of their own; returns all that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    try:
        writer.write(request)
        await writer.drain()
        if then:
            await asyncio.sleep(0.05)
            writer.write(then)
        return await asyncio.wait_for(reader.read(), 10)
    finally:
        writer.close()
        await writer.wait_closed()


async def test_a_stored_upload_is_answered_200(registry: Registry, store: SqliteStore) -> None:
    """The answer to a valid upload is 200, and its very bytes are in the store by then."""
    body = good(registry, 5)
    async with serving(registry, store) as served:
        status, said, headers = await served.post(body)
        assert (status, said) == (200, {"status": "stored"})
        assert stored(store) == [body]
        assert headers["Server"] == "hubbub"


async def test_nothing_is_acknowledged_before_the_commit(registry: Registry) -> None:
    """While the commit has not returned there is no answer, though the server answers others."""
    store = FakeStore(go=False)
    async with serving(registry, store) as served:
        waiting = asyncio.create_task(served.post(good(registry)))
        for _ in range(5):
            async with served.session.get(f"{served.url}/healthz") as healthz:
                assert healthz.status == 200
            await asyncio.sleep(0.02)
            assert not waiting.done()
        store.go.set()
        assert (await waiting)[0] == 200
        assert len(store.bodies) == 1


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (StoreError("no"), (503, "store")),
        (StoreFullError("full"), (507, "disk-full")),
        (OSError(5, "?"), (503, "store")),
    ],
    ids=["store", "full", "unforeseen"],
)
async def test_a_failed_commit_is_never_acknowledged(
    registry: Registry, error: Exception, expected: tuple[int, str]
) -> None:
    """Whatever the store raises, the client is told to retry, and once the store recovers so does the answer."""
    store = FakeStore(error)
    async with serving(registry, store) as served:
        status, said, headers = await served.post(good(registry))
        assert (status, said["error"]) == expected
        assert int(headers["Retry-After"]) > 0
        async with served.session.get(f"{served.url}/healthz") as healthz:
            assert healthz.status == 503
        store.error = None
        assert (await served.post(good(registry)))[0] == 200
        async with served.session.get(f"{served.url}/healthz") as healthz:
            assert healthz.status == 200


async def test_a_failing_store_is_tried_again_without_traffic(registry: Registry) -> None:
    """The collector becomes healthy by itself once the store works, though a load balancer sends it nothing."""
    store = FakeStore(StoreFullError("full"))
    async with serving(registry, store) as served:
        assert (await served.post(good(registry)))[0] == 507
        store.error = None
        async with asyncio.timeout(10):
            while served.writer.failing is not None:
                await asyncio.sleep(0.05)


async def test_a_full_database_gives_507_and_recovers(registry: Registry, store: SqliteStore) -> None:
    """SQLITE_FULL is answered 507 with nothing stored, and the next upload after space is there again is stored."""
    db = store._db
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    big = good(registry, 4000)
    async with serving(registry, store) as served:
        db.execute(f"PRAGMA max_page_count = {pages + 1}")
        status, said, _ = await served.post(big)
        assert (status, said["error"]) == (507, "disk-full")
        assert store.last_id() == 0
        db.execute("PRAGMA max_page_count = 100000")
        assert (await served.post(big))[0] == 200
        assert stored(store) == [big]


async def test_a_read_only_store_gives_503(registry: Registry, store: SqliteStore) -> None:
    """A store that cannot be written refuses with 503 and stores nothing."""
    async with serving(registry, store) as served:
        store._db.execute("PRAGMA query_only = ON")
        status, said, _ = await served.post(good(registry))
        assert (status, said["error"]) == (503, "store")
        store._db.execute("PRAGMA query_only = OFF")
        assert store.last_id() == 0


async def test_a_full_queue_pushes_back(registry: Registry) -> None:
    """Past the queue's budget uploads get 503 and Retry-After, and what was taken before is still stored."""
    store = FakeStore(go=False)
    body = good(registry, 50)
    async with serving(registry, store, Budget(queue=2 * len(body))) as served:
        taken = [asyncio.create_task(served.post(body)) for _ in range(2)]
        async with asyncio.timeout(10):
            while served.writer.queued < 2 * len(body):
                await asyncio.sleep(0.01)
        status, said, headers = await served.post(body)
        assert (status, said["error"], headers["Retry-After"]) == (503, "queue-full", "1")
        store.go.set()
        assert [(await one)[0] for one in taken] == [200, 200]
        assert (await served.post(body))[0] == 200
        assert len(store.bodies) == 3


async def test_the_disk_budget_pushes_back_until_space_is_freed(registry: Registry) -> None:
    """Past the disk budget uploads get 503; once sealing has freed space they are taken again, without a restart."""
    store = FakeStore()
    store.used = 1000
    async with serving(registry, store, Budget(disk=1000)) as served:
        status, said, headers = await served.post(good(registry))
        assert (status, said["error"], headers["Retry-After"]) == (503, "disk-budget", "60")
        store.used = 0
        async with asyncio.timeout(10):
            while (await served.post(good(registry)))[0] != 200:
                await asyncio.sleep(0.1)


async def test_unknown_metrics_are_quarantined(registry: Registry, store: SqliteStore) -> None:
    """An unknown batch is kept apart and answered 202; the known one beside it is stored; a retry is kept once."""
    choice = registry.metric("choice")
    mixed = upload(Batch(b"whatever", 7, b"abc"), batch(choice, b"\x01"))
    strange = upload(Batch(b"whatever", 7, b"defg"), id=bytes(16))
    async with serving(registry, store) as served:
        assert (await served.post(mixed))[:2] == (202, {"status": "stored", "quarantined": 1})
        for _ in range(2):
            assert (await served.post(strange))[:2] == (202, {"status": "stored", "quarantined": 1})
        assert store.quarantine.count() == 2
        assert store.quarantined_bytes() == space(b"abc") + space(b"defg")
        (kept,) = stored(store)
        assert kept.endswith(b"\x01")
        assert b"abc" not in kept
        rows = store._db.execute(
            "SELECT fingerprint, period, records FROM quarantine ORDER BY length(records)"
        ).fetchall()
        assert rows == [(b"whatever", 7, b"abc"), (b"whatever", 7, b"defg")]


async def test_a_stale_batch_does_not_take_fresh_ones_with_it(registry: Registry, store: SqliteStore) -> None:
    """Batches outside the window are turned away and counted by reason; the others of the upload are stored. An upload
    of nothing else is refused.
    """
    choice = registry.metric("choice")
    stale, early = batch(choice, b"\x03", TODAY - 60), batch(choice, b"\x04", TODAY + 60)
    async with serving(registry, store) as served:
        mixed = upload(stale, batch(choice, b"\x01"), early, id=bytes(16))
        said = {"status": "stored", "turned_away": 2, "reason": "period-too-early,period-too-late"}
        assert (await served.post(mixed))[:2] == (202, said)
        assert stored(store) == [upload(batch(choice, b"\x01"), id=bytes(16))]
        status, refused, _ = await served.post(upload(stale, early))
        assert (status, refused["error"]) == (400, "period-too-late")
        parked = {"status": "stored", "quarantined": 1, "turned_away": 1, "reason": "period-too-late"}
        assert (await served.post(upload(stale, Batch(b"whatever", 7, b"1"))))[:2] == (202, parked)
        assert served.metrics()["hubbub_batches_turned_away_total"] == 3


def space(records: bytes) -> int:
    """What a batch in quarantine counts for."""
    return quarantine.space(Batch(b"whatever", 7, records))


async def test_a_full_quarantine_turns_away_only_what_is_unknown(registry: Registry, store: SqliteStore) -> None:
    """Past its budget unknown batches are turned away: known ones beside them are stored and the answer says how many
    were not; an upload of unknown ones alone is refused for good, since a client that kept it would hold up the rest.
    """
    choice = registry.metric("choice")
    async with serving(registry, store, Budget(quarantine=2 * space(b"123456"))) as served:
        assert (await served.post(upload(Batch(b"whatever", 7, b"123456"))))[0] == 202
        mixed = upload(
            Batch(b"whatever", 7, b"12345"), batch(choice, b"\x01"), Batch(b"whatever", 7, b"1"), id=bytes(16)
        )
        said = {"status": "stored", "turned_away": 2, "reason": "quarantine-full"}
        assert (await served.post(mixed))[:2] == (202, said)
        assert stored(store) == [upload(batch(choice, b"\x01"), id=bytes(16))]
        status, refused, headers = await served.post(upload(Batch(b"whatever", 7, b"1234567")))
        assert (status, refused["error"]) == (400, "quarantine-full")
        assert "Retry-After" not in headers
        assert store.quarantine.count() == 1
        assert (await served.post(upload(batch(choice, b"\x02"))))[0] == 200
        assert (await served.post(upload(Batch(b"whatever", 7, b"123456"))))[0] == 202


async def test_many_small_batches_do_not_outgrow_the_quarantine(registry: Registry, store: SqliteStore) -> None:
    """A batch of one byte counts for what its row takes, so that a budget in bytes also bounds their number."""
    async with serving(registry, store, Budget(quarantine=10_000)) as served:
        for number in range(20):
            strange = [Batch(os.urandom(8), 7, b"x") for _ in range(10)]
            assert (await served.post(upload(*strange)))[0] == (202 if number < 15 else 400)


async def test_an_operator_is_told_that_the_quarantine_is_full(
    registry: Registry, tmp_path: Path, store: SqliteStore, caplog: pytest.LogCaptureFixture
) -> None:
    """However often batches are turned away the log says it once; the metrics say it until there is room, which is
    noticed without a restart when sealing or purging has made it. Whoever sends uploads is not told.
    """
    strange = upload(Batch(b"whatever", 7, b"123456"))
    async with serving(registry, store, Budget(quarantine=space(b"123456"))) as served:

        async def health() -> object:
            async with served.session.get(f"{served.url}/healthz") as answer:
                assert answer.status == 200
                return await answer.json()

        assert (await served.post(strange))[0] == 202
        assert served.metrics()["hubbub_quarantine_full"] == 0
        for _ in range(3):
            assert (await served.post(upload(Batch(b"whatever", 7, b"1"))))[0] == 400
        assert await health() == {"status": "ok"}
        assert served.metrics()["hubbub_quarantine_full"] == 1
        assert served.metrics()["hubbub_batches_turned_away_total"] == 3
        assert caplog.text.count("the quarantine is full") == 1
        other = SqliteStore(store.path)
        other.quarantine.purge(None)
        other.close()
        async with asyncio.timeout(10):
            while served.metrics()["hubbub_quarantine_full"]:
                await asyncio.sleep(0.05)
        assert (await served.post(strange))[0] == 202


def test_a_full_quarantine_is_logged_once_an_hour(caplog: pytest.LogCaptureFixture) -> None:
    """While batches are turned away the log repeats it at most hourly; a budget of nothing is no fault to report."""
    times = [0.0, 1.0, 3599.0, 3600.0, 3601.0]
    turning = TurningAway(iter(times).__next__)
    for _ in times:
        turning.turned_away(10, 10)
    assert caplog.text.count("the quarantine is full (10 of 10 bytes)") == 2
    found = []
    for held in (10, 9):
        turning.measured(held)
        found.append(turning.full)
    assert found == [True, False]
    none = TurningAway()
    none.turned_away(0, 0)
    assert not none.full


async def test_what_one_upload_has_in_quarantine_keeps_its_place(registry: Registry, store: SqliteStore) -> None:
    """Where the registry changes between an upload and its retry, the batches that are unknown each time are kept, and
    one is never taken for another.
    """
    choice = registry.metric("choice")
    mixed = upload(batch(choice, b"\x01"), Batch(b"whatever", 7, b"abc"), id=bytes(16))
    async with serving(registry, store) as served:
        assert (await served.post(mixed))[0] == 202
    older = SqliteStore(store.path)
    nothing = Validator([], Window())
    unknown = nothing.check(mixed, NOW).unknown
    older.commit([], [Quarantined(bytes(16), number, strange) for number, strange in unknown])
    assert {kept.fingerprint for kept in older.quarantine.listing()} == {choice.fingerprint, b"whatever"}
    older.close()


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "gzip, identity", "nonsense"])
async def test_compressed_bodies_are_refused_unread(registry: Registry, encoding: str) -> None:
    """Any content encoding is refused by its header, before a byte of the body has come: no bomb is ever inflated."""
    async with serving(registry, FakeStore()) as served:
        head = (
            "POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/msgpack\r\n"
            f"Content-Encoding: {encoding}\r\nContent-Length: 1000\r\n\r\n"
        )
        answer = await raw(served, head.encode())
        assert answer.startswith(b"HTTP/1.1 415 ")
        assert b'"content-encoding"' in answer


async def test_a_compression_bomb_with_a_body_is_refused(registry: Registry) -> None:
    """A gzip of 50 MB of zeros is answered 415 and nothing reaches the store."""
    store = FakeStore()
    async with serving(registry, store) as served:
        bomb = gzip.compress(bytes(50 << 20))
        assert (await served.post(bomb, Content_Encoding="gzip"))[0] == 415
        assert store.bodies == []


@pytest.mark.parametrize(
    "kind", ["", "application/json", "text/plain", "application/msgpackx", "application/x-msgpack"]
)
async def test_other_media_types_are_refused(registry: Registry, kind: str) -> None:
    """Only application/msgpack is read, whatever the body is."""
    async with serving(registry, FakeStore()) as served:
        status, said, _ = await served.post(good(registry), Content_Type=kind)
        assert (status, said["error"]) == (415, "media-type")


@pytest.mark.parametrize("kind", ["application/msgpack", "Application/MsgPack", "application/msgpack; charset=utf-8"])
async def test_the_media_type_may_have_any_case_and_parameters(registry: Registry, kind: str) -> None:
    """The media type is compared as RFC 9110 has it."""
    async with serving(registry, FakeStore()) as served:
        assert (await served.post(good(registry), Content_Type=kind))[0] == 200


async def test_large_bodies_are_refused_however_framed(registry: Registry) -> None:
    """One byte over the limit is 413, with a Content-Length (unread) or chunked without one; at the limit it passes."""
    store = FakeStore()
    body = good(registry, 100)
    async with serving(registry, store, limits=Limits(body=len(body))) as served:
        assert (await served.post(body))[0] == 200
        assert (await served.post(body + b"\0"))[0] == 413
        head = b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/msgpack\r\n"
        answer = await raw(served, head + b"Content-Length: 99999999\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 413 ")
        chunk = b"%x\r\n%b\r\n" % (len(body), body)
        request = head + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk
        answer = await raw(served, request, b"1\r\n\0\r\n0\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 413 ")
        whole = head + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + b"0\r\n\r\n"
        assert (await raw(served, whole)).startswith(b"HTTP/1.1 200 ")
    assert store.bodies == [body, body]


async def test_a_body_that_stalls_is_given_up(registry: Registry) -> None:
    """A body that does not arrive in time is answered 408, so that a connection cannot be held open for nothing."""
    async with serving(registry, FakeStore(), limits=Limits(body_seconds=0.1)) as served:
        head = (
            b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/msgpack\r\nContent-Length: 50\r\n\r\n"
        )
        assert (await raw(served, head + b"\x93")).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize("before", [b"", b"3\r\nabc\r\n"], ids=["at once", "in mid-body"])
async def test_a_broken_chunk_is_refused(registry: Registry, before: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """Framing that is not what its headers say is 400 as soon as it is seen, long before the body is given up; nothing
    is stored or logged, and the connection ends.
    """
    store = FakeStore()
    async with serving(registry, store, limits=Limits(body_seconds=3600)) as served:
        head = b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/msgpack\r\n"
        answer = await raw(served, head + b"Transfer-Encoding: chunked\r\n\r\n" + before, b"zz\r\n")
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b'"body-broken"' in answer
        assert answer.count(b"HTTP/1.1") == 1
    assert store.bodies == []
    assert caplog.text == ""


async def test_a_client_that_goes_away_is_no_defect(registry: Registry, caplog: pytest.LogCaptureFixture) -> None:
    """A connection lost in the middle of a body stores nothing and logs nothing."""
    store = FakeStore()
    async with serving(registry, store) as served:
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        head = b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/msgpack\r\n"
        writer.write(head + b"Content-Length: 9\r\n\r\nx")
        async with asyncio.timeout(10):
            while not served.intake.running:
                await asyncio.sleep(0.01)
        writer.close()
        await writer.wait_closed()
        async with asyncio.timeout(10):
            while served.intake.running:
                await asyncio.sleep(0.01)
    assert store.bodies == []
    assert caplog.text == ""


async def test_expect_continue_is_answered(registry: Registry) -> None:
    """A client that waits for leave to send its body gets it, and then its answer."""
    body = good(registry)
    async with serving(registry, FakeStore()) as served:
        head = (
            "POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/msgpack\r\nConnection: close\r\n"
            f"Expect: 100-continue\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        answer = await raw(served, head.encode(), body)
        assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")


async def test_bad_uploads_say_why(registry: Registry) -> None:
    """A refused upload's answer is JSON with a code and a text, without Retry-After: it will not get better."""
    async with serving(registry, FakeStore()) as served:
        for body, expected in ((b"", "not-msgpack"), (good(registry)[:-1], "not-msgpack"), (b"\x90", "upload-shape")):
            status, said, headers = await served.post(body)
            assert (status, said["error"]) == (400, expected)
            assert set(said) == {"error", "detail"}
            assert "Retry-After" not in headers


async def test_other_addresses_and_methods_get_json(registry: Registry) -> None:
    """404 and 405 are JSON too, and 405 says what is allowed."""
    async with serving(registry, FakeStore()) as served:
        for method, path, expected in (("GET", "/", 404), ("GET", "/v1/reports", 405), ("POST", "/healthz", 405)):
            async with served.session.request(method, served.url + path) as answer:
                assert answer.status == expected
                assert set(await answer.json()) == {"error", "detail"}
                assert ("Allow" in answer.headers) == (expected == 405)


@pytest.mark.parametrize(
    "request_",
    [b"\x16\x03\x01\x02\x00 tls?", b"GET\r\n\r\n", b"POST /v1/reports HTTP/1.1\r\nContent-Length: x\r\n\r\n"],
)
async def test_what_is_not_http_gets_a_quiet_400(
    registry: Registry, request_: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """Garbage gets a JSON 400 without version or quotation, and leaves no address in any log."""
    with caplog.at_level(logging.DEBUG):
        async with serving(registry, FakeStore()) as served:
            answer = await raw(served, request_ + b"\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ") or answer.startswith(b"HTTP/1.0 400 ")
    assert b"\r\nServer: hubbub\r\n" in answer
    assert b'"not-http"' in answer
    assert "127.0.0.1" not in caplog.text


async def test_a_defect_shows_no_stack_trace(
    registry: Registry, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An exception nobody foresaw is a plain 500; the log says where it was, without its message or an address."""

    def fail(*arguments: object) -> None:
        raise RuntimeError("PAYLOAD")

    monkeypatch.setattr(Validator, "check", fail)
    with caplog.at_level(logging.DEBUG, logger="hubbub.collector"):
        async with serving(registry, FakeStore()) as served:
            status, said, _ = await served.post(good(registry))
    assert (status, said["error"]) == (500, "internal")
    assert "RuntimeError" in caplog.text
    assert "Traceback" not in str(said)
    assert "PAYLOAD" not in str(said) + caplog.text
    assert "127.0.0.1" not in caplog.text


async def test_metrics_count_what_happened(registry: Registry, store: SqliteStore) -> None:
    """Uploads, records, refusals by code and quarantined batches are counted, each once."""
    async with serving(registry, store) as served:
        await served.post(good(registry, 3))
        await served.post(good(registry, 4))
        await served.post(b"")
        await served.post(upload(Batch(b"whatever", 7, b"abc")))
        values = served.metrics()
    assert values["hubbub_uploads_stored_total"] == 3
    assert values["hubbub_records_stored_total"] == 7
    assert values["hubbub_batches_quarantined_total"] == 1
    assert values["hubbub_quarantine_bytes"] == space(b"abc")
    assert values['hubbub_uploads_refused_total{code="not-msgpack"}'] == 1
    assert values["hubbub_commit_failures_total"] == 0


async def test_uploads_that_wait_share_a_commit(registry: Registry, tmp_path: Path, store: SqliteStore) -> None:
    """What waits while a commit runs goes into one row, whole and end to end."""
    lock = sqlite3.connect(store.path, isolation_level=None)
    bodies = [good(registry) for _ in range(20)]
    async with serving(registry, store) as served:
        lock.execute("BEGIN IMMEDIATE")
        answers = [asyncio.create_task(served.post(body)) for body in bodies]
        async with asyncio.timeout(10):
            while served.writer.queued < sum(map(len, bodies)):
                await asyncio.sleep(0.01)
        lock.execute("ROLLBACK")
        lock.close()
        assert [(await answer)[0] for answer in answers] == [200] * 20
        groups = stored(store)
    assert len(groups) <= 3
    together = b"".join(groups)
    assert len(together) == sum(map(len, bodies))
    assert all(body in together for body in bodies)


async def test_nothing_about_the_sender_is_stored(registry: Registry, store: SqliteStore, tmp_path: Path) -> None:
    """The files of the store hold neither the sender's address nor its user agent."""
    agent = "agent-" + os.urandom(8).hex()
    async with serving(registry, store) as served:
        assert (await served.post(good(registry), User_Agent=agent))[0] == 200
        files = b"".join(path.read_bytes() for path in (tmp_path / "intake").iterdir())
    assert agent.encode() not in files
    assert b"127.0.0.1" not in files
