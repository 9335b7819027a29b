"""The commands with ``--store``: real collectors of two hosts, one database."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiohttp
import pytest

from hubbub_collector.commands import collect
from hubbub_collector.layout import DataDirectory
from hubbub_registry import load_registry
from hubbub_registry.commands import main

from tests.collector.postgres.server import PASSWORD, Server, query
from tests.collector.server_process import collecting
from tests.collector.serving import MSGPACK, metric_values
from tests.collector.uploads import batch as batch_of
from tests.collector.uploads import counts, records, registry_file, sealed, split, upload
from tests.registries import write_registry

_WAIT = 30.0


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    """Waits for it. Fails where it does not come to be."""
    async with asyncio.timeout(_WAIT):
        while not await true():
            await asyncio.sleep(0.05)


async def test_two_hosts_and_one_data_set(url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """An upload that was answered by both hosts is sealed once, quarantine included; no host keeps an upload in a file,
    the figures of workers add up to the database's, and nothing that is printed has the password.
    """
    known = registry_file(tmp_path)
    newer = write_registry(
        tmp_path / "newer.toml",
        {name: {"mechanism": mechanism} for name, mechanism in
         (("sketch", "count-mean-sketch"), ("choice", "randomized-response"), ("later", "randomized-response"))},
    )  # fmt: skip
    sketch, later = (load_registry(newer).metric(name) for name in ("sketch", "later"))
    today = int(time.time() // sketch.period)
    contents = [records(sketch, 4) for _ in range(3)]
    bodies = [upload(batch_of(sketch, content, today), batch_of(later, b"\x01", today)) for content in contents]
    a, b, seals = (tmp_path / name for name in "abs")
    with (
        collecting(known, a, "--store", url, "--workers", "2", "--admin", "127.0.0.1:0") as first,
        collecting(known, b, "--store", url) as second,
    ):
        admin = first.admin()
        async with aiohttp.ClientSession(headers=MSGPACK) as session:
            sent = (first.url, bodies[0]), (second.url, bodies[0]), (second.url, bodies[1]), (first.url, bodies[2])
            for address, body in sent:
                async with session.post(f"{address}/v1/reports", data=body) as answer:
                    assert (answer.status, await answer.json()) == (202, {"status": "stored", "quarantined": 1})

            async def adds_up() -> bool:
                async with session.get(f"{admin}/metrics") as answer:
                    said = metric_values(await answer.text())
                ((there,),) = query(url, "SELECT sum(octet_length(bodies))::bigint FROM hubbub.groups")
                # Each worker rounds its half up, and counts what it committed itself in full until it has looked.
                return said["hubbub_store_bytes"] in (there, int(str(there)) + 1)

            await until(adds_up)
            async with session.get(f"{admin}/quarantine") as answer:
                listed = (await answer.json())["quarantined"]
        told = capfd.readouterr()
        assert main(["quarantine", "--store", url, "--json"]) == 0
        shown = capfd.readouterr()
        assert json.loads(shown.out) == {"quarantined": listed, "purged": None}
        assert [(kept["fingerprint"], kept["batches"]) for kept in listed] == [(later.fingerprint.hex(), 3)]
        seal = ["seal", str(newer), "--data", str(seals), "--store", url, "--all", "--min-batch", "1"]
        assert main(seal) == 0
        assert (first.stop(), second.stop()) == (0, 0)
    assert counts(sealed(DataDirectory(seals), sketch)) == Counter(split(b"".join(contents), sketch))
    assert counts(sealed(DataDirectory(seals), later)) == {b"\x01": 3}
    assert query(url, "SELECT count(*) FROM hubbub.groups") == [(0,)]
    assert not list(tmp_path.glob("[ab]/intake/*"))
    for printed in (told, shown, capfd.readouterr()):
        assert PASSWORD not in printed.out + printed.err


async def test_the_server_goes_and_comes_back(
    server: Server, url: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """While it is away uploads get 503, and a worker that dies is started again; once it is back all goes on by
    itself, and SIGTERM ends it properly. The log says both, without the password.
    """
    registry = registry_file(tmp_path)
    sketch = load_registry(registry).metric("sketch")
    body = upload(batch_of(sketch, records(sketch, 1), int(time.time() // sketch.period)))
    with collecting(registry, tmp_path / "a", "--store", url) as collector:
        async with aiohttp.ClientSession(headers=MSGPACK) as session:

            async def status() -> int:
                try:
                    async with session.post(f"{collector.url}/v1/reports", data=body) as answer:
                        return answer.status
                except aiohttp.ClientError:
                    return 0

            async def stored() -> bool:
                return await status() == 200

            async def refused() -> bool:
                return await status() == 503

            assert await status() == 200
            server.stop()
            try:
                assert await status() == 503
                os.kill(collector.workers()[0], signal.SIGKILL)
                await until(refused)
            finally:
                server.start()
            await until(stored)
        assert collector.stop() == 0
    printed = capfd.readouterr()
    assert "uploads are refused" in printed.err
    assert "the store commits again" in printed.err
    assert PASSWORD not in printed.out + printed.err


def test_what_keeps_it_from_starting_is_told(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database that is not there, something that is no URL, and a missing psycopg: a line that says what to do, and
    never the password.
    """
    monkeypatch.setattr(collect, "configure", lambda form: None)  # logging is this process's
    registry = str(registry_file(tmp_path))
    commands = (["collect", registry, "--data", str(tmp_path / "a")], ["seal", registry, "--data", str(tmp_path / "b")])
    for command in (*commands, ["quarantine"]):
        assert main([*command, "--store", url.replace("/postgres", "/nowhere")]) == 1
        assert 'database "nowhere" does not exist' in capsys.readouterr().err
        assert main([*command, "--store", "mysql://ann:s3cret@db/fleet"]) == 2
        said = capsys.readouterr().err
        assert "postgresql://hubbub@db.example/hubbub" in said
        assert "s3cret" not in said
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for command in (*commands, ["quarantine"]):
        assert main([*command, "--store", url]) == 1
        assert "hubbub[collector,postgres]" in capsys.readouterr().err


def test_purging_what_the_database_keeps_aside(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One fingerprint's batches are deleted, and no others; one that is not there is an error."""
    registry = str(registry_file(tmp_path))
    assert main(["seal", registry, "--data", str(tmp_path / "s"), "--store", url]) == 0
    for number, fingerprint in enumerate((b"\x11" * 8, b"\x22" * 8)):
        query(url, "INSERT INTO hubbub.quarantine VALUES ('\\x01', %s, %s, 1, 'r')", (number, fingerprint))
    capsys.readouterr()
    assert main(["quarantine", "--store", url, "--purge", "1" * 16, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["purged"] == 1
    assert [kept["fingerprint"] for kept in said["quarantined"]] == ["2" * 16]
    assert main(["quarantine", "--store", url, "--purge", "1" * 16]) == 1
    assert "no batch in quarantine has the fingerprint" in capsys.readouterr().err
    assert main(["quarantine", "--store", url, "--purge", "all"]) == 0
    assert query(url, "SELECT count(*) FROM hubbub.quarantine") == [(0,)]
