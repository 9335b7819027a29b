"""What a collector that asks for a token answers, and what it keeps of one."""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path

import pytest

from hubbub_client.http_transport import HttpTransport
from hubbub_client.transport import TransportError
from hubbub_collector.access.caps import Caps
from hubbub_collector.access.cashier import Cashier
from hubbub_collector.access.gate import Gate
from hubbub_collector.access.token import draw_token
from hubbub_collector.access.tokens import Tokens
from hubbub_collector.errors import CollectorError, Refusal
from hubbub_collector.layout import DataDirectory
from hubbub_collector.upload import Batch
from hubbub_registry import Registry
from hubbub_registry.commands import main

from tests.collector.access.issuing import bearer, issue
from tests.collector.serving import FakeStore, serving
from tests.collector.uploads import TODAY, batch, records, upload


async def test_uploads_need_a_token(registry: Registry, data: DataDirectory) -> None:
    """Without a token, or with one that is unknown, altered or malformed, an upload is 401 and nothing is stored; with
    it, it is stored. What is wrong with a token is not said.
    """
    text = issue(data)
    store = FakeStore()
    body = upload(batch(registry.metric("choice"), b"\x01"))
    last = "A" if text[-1] != "A" else "B"
    async with serving(registry, store, gate=Gate(tokens=Tokens(data.tokens))) as served:
        status, said, headers = await served.post(body)
        assert (status, said["error"], headers["WWW-Authenticate"]) == (401, "token-missing", "Bearer")
        answers = []
        for wrong in (
            bearer(text[:-1] + last),
            bearer(draw_token()[0]),
            bearer(""),
            text,
            f"Basic {text}",
            bearer("x"),
        ):
            status, said, headers = await served.post(body, Authorization=wrong)
            assert (status, said["error"], headers["WWW-Authenticate"]) == (401, "token-unknown", "Bearer")
            answers.append(said)
        assert all(said == answers[0] for said in answers)
        async with served.session.post(f"{served.url}/v1/troubles", json={"clock": 1}) as answer:
            assert answer.status == 401
        assert store.bodies == []
        assert (await served.post(body, Authorization=bearer(text)))[0] == 200
        assert (await served.post(body, Authorization=f"bearer {text}"))[0] == 200
        assert store.bodies == [body, body]


async def test_a_token_is_checked_before_the_body_comes(registry: Registry, data: DataDirectory) -> None:
    """A stranger's body is not read: the refusal comes after the head alone."""
    async with serving(registry, FakeStore(), gate=Gate(tokens=Tokens(data.tokens))) as served:
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n")
        assert (await asyncio.wait_for(reader.readuntil(b"\r\n"), 10)).startswith(b"HTTP/1.1 401 ")
        writer.close()


async def test_a_token_is_for_its_metrics(registry: Registry, data: DataDirectory) -> None:
    """An upload with a batch outside the token's metrics is 403 as a whole, also where its metric is unknown here; a
    metric may be named by its fingerprint.
    """
    sketch, choice = registry.metric("sketch"), registry.metric("choice")
    texts = [issue(data, "choice"), issue(data, choice.fingerprint.hex(), "unheard_of"), issue(data)]
    ours, theirs = batch(choice, b"\x01"), batch(sketch, records(sketch, 1))
    strange = Batch(b"whatever", 7, b"abc")
    store = FakeStore()
    async with serving(registry, store, gate=Gate(tokens=Tokens(data.tokens))) as served:
        for text in texts[:2]:
            assert (await served.post(upload(ours), Authorization=bearer(text)))[0] == 200
            for batches in ([theirs], [ours, theirs], [ours, strange]):
                status, said, _ = await served.post(upload(*batches), Authorization=bearer(text))
                assert (status, said["error"]) == (403, "token-scope")
        assert len(store.bodies) == 2
        assert (await served.post(upload(ours, theirs, strange), Authorization=bearer(texts[2])))[0] == 202


async def test_a_revoked_token_ends_without_a_restart(registry: Registry, data: DataDirectory) -> None:
    """What the file says counts from the next look at it, once a second: revoking ends a token, issuing begins one, and
    no file means no token; a file that is broken changes nothing.
    """
    text = issue(data)
    id = text.split(".")[1]
    tokens = Tokens(data.tokens)
    body = upload(batch(registry.metric("choice"), b"\x01"))
    async with serving(registry, FakeStore(), gate=Gate(tokens=tokens)) as served:

        async def statuses(*texts: str) -> list[int]:
            return [(await served.post(body, Authorization=bearer(text)))[0] for text in texts]

        assert tokens.refresh() is None
        assert main(["token", "revoke", id, "--data", str(data.root)]) == 0
        assert tokens.refresh() is True
        other = issue(data)
        assert tokens.refresh() is True
        assert await statuses(text, other) == [401, 200]
        whole = data.tokens.read_bytes()
        data.tokens.write_bytes(whole[:-10])
        assert tokens.refresh() is False
        assert await statuses(text, other) == [401, 200]
        data.tokens.unlink()
        assert tokens.refresh() is True
        assert await statuses(other) == [401]


def test_a_file_that_could_not_be_read_is_read_again(
    data: DataDirectory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A revocation in a file that cannot be opened at first is followed once it can, though the file is the same; the
    failure is logged once. Where only the rights of a file have changed it is read as well.
    """
    text = issue(data)
    tokens = Tokens(data.tokens)
    assert main(["token", "revoke", text.split(".")[1], "--data", str(data.root)]) == 0

    def no_descriptor(path: Path) -> bytes:
        raise OSError(errno.EMFILE, f"too many open files: {path}")

    with monkeypatch.context() as full:
        full.setattr(Path, "read_bytes", no_descriptor)
        assert [tokens.refresh() for _ in range(3)] == [False] * 3
    assert len(caplog.records) == 1
    assert tokens.holder(bearer(text)).id in text
    assert tokens.refresh() is True
    with pytest.raises(Refusal, match="revoked"):
        tokens.holder(bearer(text))
    status = data.tokens.stat()
    data.tokens.chmod(0o400)
    os.utime(data.tokens, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert [tokens.refresh(), tokens.refresh()] == [True, None]


def test_a_worker_that_finds_the_file_broken_begins_with_the_last_good_one(data: DataDirectory) -> None:
    """The tokens of the copy count until the file is right again; without a copy it is an error."""
    text = issue(data)
    copy = data.root / "copy.json"
    copy.write_bytes(data.tokens.read_bytes())
    issue(data)
    whole = data.tokens.read_bytes()
    data.tokens.write_bytes(whole[:-9])
    with pytest.raises(CollectorError, match="restore it"):
        Tokens(data.tokens)
    with pytest.raises(CollectorError, match="restore it"):
        Tokens(data.tokens, data.root / "none.json")
    tokens = Tokens(data.tokens, copy)
    assert tokens.holder(bearer(text)).id in text
    assert tokens.refresh() is False
    data.tokens.write_text('{"schema": 1, "tokens": []}')
    assert tokens.refresh() is True
    with pytest.raises(Refusal):
        tokens.holder(bearer(text))


@pytest.mark.parametrize("metrics", [(), ("choice",)])
async def test_a_token_that_ends_while_its_body_arrives_is_refused(
    registry: Registry, data: DataDirectory, metrics: tuple[str, ...]
) -> None:
    """Gone from the file, or revoked in it, between head and body: 401, and nothing is stored."""
    body = upload(batch(registry.metric("choice"), b"\x01"))
    for gone in (True, False):
        text = issue(data, *metrics)
        tokens = Tokens(data.tokens)
        store = FakeStore()
        async with serving(registry, store, gate=Gate(tokens=tokens)) as served:
            reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
            head = f"POST /v1/reports HTTP/1.1\r\nHost: x\r\nAuthorization: {bearer(text)}\r\n"
            head += f"Content-Type: application/msgpack\r\nContent-Length: {len(body)}\r\n\r\n"
            writer.write(head.encode() + body[:5])
            while not served.intake.running:
                await asyncio.sleep(0.01)
            if gone:
                data.tokens.unlink()
            else:
                assert main(["token", "revoke", text.split(".")[1], "--data", str(data.root)]) == 0
            assert tokens.refresh() is True
            writer.write(body[5:])
            answer = await asyncio.wait_for(reader.readuntil(b"}"), 10)
            assert answer.startswith(b"HTTP/1.1 401 ")
            assert b"token-unknown" in answer
            assert store.bodies == []
            writer.close()


def test_metrics_that_have_gone_are_still_counted(registry: Registry) -> None:
    """An upload that was checked before the registry changed has its records counted behind the change."""
    choice = registry.metric("choice")
    gate = Gate()
    gate.use([choice])
    gate.use([])
    assert gate.records([batch(choice, b"\x01\x02")]) == 2


async def test_the_client_sends_its_token(registry: Registry, data: DataDirectory) -> None:
    """HttpTransport puts its token into the Authorization header, and into nothing that it says of an error."""
    text = issue(data)
    body = upload(batch(registry.metric("choice"), b"\x01"))
    async with serving(registry, FakeStore(), gate=Gate(tokens=Tokens(data.tokens))) as served:
        with_token = HttpTransport(served.url, token=text)
        assert (await asyncio.to_thread(with_token.send, body)).status == 200
        assert (await asyncio.to_thread(HttpTransport(served.url).send, body)).status == 401


async def test_a_gate_is_asked_about_caps(registry: Registry, data: DataDirectory) -> None:
    """A batch over the token's cap is turned away and said so, the others are stored; alone it is refused for good. A
    retry of what was charged is not charged again, and another period has a cap of its own.
    """
    sketch, choice = registry.metric("sketch"), registry.metric("choice")
    text = issue(data, cap=5)
    store = FakeStore()
    cashier = Cashier(Caps(data.caps, 0))
    async with serving(registry, store, gate=Gate(None, Tokens(data.tokens), cashier)) as served:

        async def post(body: bytes) -> tuple[int, object]:
            status, said, _ = await served.post(body, Authorization=bearer(text))
            return status, said.get("error", said.get("reason"))

        four = upload(batch(choice, b"\x01" * 4))
        for _ in range(3):
            assert await post(four) == (200, None)
        two, other = batch(choice, b"\x01" * 2), batch(sketch, records(sketch, 5))
        assert await post(upload(two)) == (400, "token-cap")
        assert await post(upload(two, other, id=bytes(16))) == (202, "token-cap")
        assert store.bodies[3:] == [upload(other, id=bytes(16))]
        assert await post(upload(batch(choice, b"\x01"))) == (200, None)
        assert await post(upload(batch(choice, b"\x01"))) == (400, "token-cap")
        assert await post(upload(batch(choice, b"\x01" * 5, TODAY - 1))) == (200, None)
        assert await post(upload(batch(choice, b"\x01" * 3, TODAY - 2), batch(choice, b"\x01" * 3, TODAY - 2))) == (
            400, "token-cap",
        )  # fmt: skip
        assert await post(upload(Batch(b"whatever", 7, b"abc"))) == (403, "token-scope")
        values = served.metrics()
        assert values["hubbub_records_stored_total"] == 4 * 3 + 5 + 1 + 5
        assert values["hubbub_batches_turned_away_total"] == 1 + 1 + 1 + 2
    await cashier.close()


async def test_nothing_joins_a_token_to_a_report(registry: Registry, data: DataDirectory) -> None:
    """The counters hold a token, a metric, a period and a number, and in another table hashes; no upload id, no record,
    and no row has both a token and a hash.
    """
    choice = registry.metric("choice")
    text = issue(data, cap=50)
    ids = [os.urandom(16) for _ in range(8)]
    caps = Caps(data.caps, 0)
    cashier = Cashier(caps)
    async with serving(registry, FakeStore(), gate=Gate(None, Tokens(data.tokens), cashier)) as served:
        for id in ids:
            body = upload(batch(choice, b"\x01\x02"), id=id)
            assert (await served.post(body, Authorization=bearer(text)))[0] == 200
    files = b"".join(path.read_bytes() for path in data.tokens.parent.iterdir())
    assert not any(id in files for id in ids)
    assert text.split(".")[2].encode() not in files
    tables = {
        name: [column[1] for column in caps._db.execute(f"PRAGMA table_info({name})")]
        for (name,) in caps._db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    }
    assert tables == {
        "used": ["token", "fingerprint", "period", "records", "ends", "crc"],
        "charged": ["batch", "records", "ends", "crc"],
        "late": ["seconds", "crc"],
    }
    used = caps._db.execute("SELECT token, period, records FROM used").fetchall()
    assert used == [(text.split(".")[1], TODAY, 16)]
    # Rows lie in the order of their hashes: which came first is not kept.
    hashes = [row[0] for row in caps._db.execute("SELECT batch FROM charged")]
    assert hashes == sorted(hashes)
    await cashier.close()


@pytest.mark.parametrize("text", ["", "a b", "a\r\nX-More: 1", "ä"])
def test_what_can_be_no_token_is_refused_by_the_client(text: str) -> None:
    """A token that would break the header it goes into is an error that does not quote it."""
    with pytest.raises(TransportError) as error:
        HttpTransport("https://collector.example.org", token=text)
    assert not text or text not in str(error.value)
