"""Shuffler and opener as processes: whom they let in, what they say, and that nothing is lost or counted twice."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from contextlib import closing
from pathlib import Path

from hubbub_client import MemoryStorage, Plan, Reporter
from hubbub_collector.layout import DataDirectory
from hubbub_collector.shuffler.crowd import Crowds
from hubbub_collector.shuffler.sealed_body import LEAST_BYTES
from hubbub_registry import Registry, load_registry
from hubbub_sealing import SealedTransport

from tests.collector.server_process import hubbub
from tests.collector.shuffler.sealing import (
    Keys,
    Service,
    free_port,
    make_keys,
    noise_upload,
    opening,
    sealed,
    service,
    shuffling,
)
from tests.collector.uploads import batch, counts, records, registry_file, split, upload
from tests.collector.uploads import sealed as sealed_parts


def post(url: str, body: bytes, **headers: str) -> tuple[int, str]:
    """The status of a POST, and the code or the status that its answer names."""
    request = urllib.request.Request(url, body, {"Content-Type": "application/msgpack", **headers}, method="POST")  # noqa: S310
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
            return answer.status, json.load(answer)["status"]
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)["error"]


def authorization(keys: Keys) -> str:
    """The header that the shuffler sends."""
    return f"Bearer {keys.secret.read_text().strip()}"


def seal_all(registry: Path, data: Path) -> None:
    """Seals all that there is."""
    done = hubbub("seal", str(registry), "--data", str(data), "--all", "--min-batch", "1")
    assert done.returncode == 0, done.stderr


def this_period(registry: Registry) -> int:
    """The number of the period of today."""
    return int(time.time() // registry.metric("choice").period)


def test_the_opener(tmp_path: Path) -> None:
    """It takes batches of its own shuffler only; one that comes twice, or sealed again, counts once; what cannot be
    opened is counted and no more; and neither answers nor logs tell anything of who sent what.
    """
    path, keys = registry_file(tmp_path), make_keys(tmp_path / "keys")
    registry = load_registry(path)
    metric = registry.metric("sketch")
    body = upload(batch(metric, records(metric, 3), this_period(registry)))
    with service(*opening(path, tmp_path / "data", keys)) as running:
        url, known = f"{running.url}/v1/shuffled", authorization(keys)
        first, again = (sealed(body, keys.seals, registry) for _ in range(2))
        assert post(url, first) == (401, "shuffler-unknown")
        assert post(url, first, Authorization=known[:-1]) == (401, "shuffler-unknown")
        assert post(f"{running.url}/v1/reports", body, Authorization=known) == (404, "not-found")
        noise, _ = noise_upload(keys.id, 5)
        for content in (first, again, first, noise):
            assert post(url, content, Authorization=known) == (200, "stored")
        assert post(url, noise_upload(b"?" * 8)[0], Authorization=known) == (400, "key-unknown")
        assert post(url, b"", Authorization=known) == (400, "not-msgpack")
        status, logged = running.stop()
    assert status == 0
    assert logged.splitlines() == [
        *["hubbub open: a batch: 3 records stored, 0 quarantined"] * 3,
        "hubbub open: a batch: 0 records stored, 0 quarantined, 5 undecryptable",
    ]
    seal_all(path, tmp_path / "data")
    found = counts(sealed_parts(DataDirectory(tmp_path / "data"), metric))
    sent = next(iter(_records_of(body)))
    assert found == Counter(split(sent, metric))


def _records_of(body: bytes) -> list[bytes]:
    from hubbub_collector.upload import parse

    return [one.records for one in parse(body)[1]]


def test_the_shuffler_at_its_door(tmp_path: Path) -> None:
    """It takes reports sealed to its keys and of its sizes, while there is no crowd it forwards nothing, and it stores
    nothing of a request but ciphertexts and ids.
    """
    keys = make_keys(tmp_path / "keys")
    with socket.create_server(("127.0.0.1", 0)) as nobody:  # a connection would be there to accept
        forward = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        with service(*shuffling(tmp_path / "data", keys, forward, 4), "--size", "99") as running:
            url = f"{running.url}/v1/sealed"
            made = [noise_upload(keys.id)[0] for _ in range(3)]
            assert [post(url, body) for body in (*made, made[0])] == [(200, "stored")] * 4
            assert post(url, noise_upload(b"?" * 8)[0]) == (400, "key-unknown")
            assert post(url, noise_upload(keys.id, 1, LEAST_BYTES)[0]) == (400, "ciphertext-size")
            assert post(url, b"\x90") == (400, "sealed-shape")
            assert post(url, made[0], **{"Content-Type": "text/plain"}) == (415, "media-type")
            assert post(url, bytes((1 << 20) + 1)) == (413, "too-large")
            assert post(f"{running.url}/healthz", b"") == (405, "method")
            second = hubbub(*shuffling(tmp_path / "data", keys, forward, 4))
            assert second.returncode == 1
            assert "another shuffler is using this data directory" in second.stderr
            time.sleep(0.6)  # more than one look at what waits
            nobody.settimeout(0)
            try:
                nobody.accept()
                raise AssertionError("something was forwarded")
            except BlockingIOError:
                pass
            status, logged = running.stop()
    assert (status, logged) == (0, "")
    stored = b"".join(path.read_bytes() for path in (tmp_path / "data" / "shuffler").iterdir())
    assert b"127.0.0.1" not in stored
    assert b"urllib" not in stored


class Devices:
    """Devices that record, each one report, and try until a shuffler has taken it."""

    def __init__(self, plan: Plan, keys: Keys, url: str) -> None:
        self._plan = plan
        self._keys = keys
        self._url = url
        self._lock = threading.Lock()
        self.stop = threading.Event()
        self.sent: list[bytes] = []

    def run(self) -> None:
        """One device after the other, until told to stop; the last one still gets its report through."""
        while not self.stop.is_set():
            transport = SealedTransport(self._url, self._keys.public, self._plan)
            reporter = Reporter(self._plan, MemoryStorage(), transport, sleep=lambda _: time.sleep(0.05))
            assert reporter.record("sketch", os.urandom(4).hex())
            while reporter.flush().sent != 1:
                time.sleep(0.05)
            [(fate, report)] = list(reporter.log())
            assert fate == "sent"
            with self._lock:
                self.sent.append(report.record)


def test_kills_lose_nothing_and_count_nothing_twice(tmp_path: Path) -> None:
    """Real devices, a real shuffler and a real opener, both killed again and again: every record that a device was told
    is stored is sealed exactly once, and decoded.
    """
    path, keys = registry_file(tmp_path), make_keys(tmp_path / "keys")
    registry = load_registry(path)
    metric = registry.metric("sketch")
    inner, outer = free_port(), free_port()
    analyst = opening(path, tmp_path / "analyst", keys, inner)
    shuffler = shuffling(tmp_path / "shuffler", keys, f"http://127.0.0.1:{inner}", 3, outer)
    devices = Devices(registry.plan, keys, f"http://127.0.0.1:{outer}")
    threads = [threading.Thread(target=devices.run) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for moment in (0.3, 0.7):
            with service(*analyst, wait=False) as opens, service(*shuffler) as mixes:
                before = len(devices.sent)
                wait_for(lambda: len(devices.sent) > before)  # noqa: B023 - called here
                time.sleep(moment)
                mixes.kill()
                opens.kill()
        with service(*shuffler) as mixes:  # one that has nobody to forward to keeps what it takes
            before = len(devices.sent)
            wait_for(lambda: len(devices.sent) > before + 5)
            devices.stop.set()
            for thread in threads:
                thread.join(30)
            mixes.kill()
    finally:
        devices.stop.set()
    alone = shuffling(tmp_path / "shuffler", keys, f"http://127.0.0.1:{inner}", 1, outer)  # what is left has no crowd
    with service(*analyst) as opens, service(*alone) as mixes:
        store = tmp_path / "shuffler" / "shuffler" / "held.sqlite"
        with closing(Crowds(store, 1)) as crowds:
            wait_for(lambda: not crowds.waiting() and not crowds.batches())
        for running in (mixes, opens):
            assert _stopped(running) == 0
    seal_all(path, tmp_path / "analyst")
    assert len(devices.sent) >= 8
    assert counts(sealed_parts(DataDirectory(tmp_path / "analyst"), metric)) == Counter(devices.sent)
    (tmp_path / "candidates").write_text("a\n")
    arguments = "--data", str(tmp_path / "analyst"), "--candidates", str(tmp_path / "candidates"), "--format", "json"
    decoded = hubbub("decode", str(path), "sketch", *arguments)
    assert decoded.returncode == 0, decoded.stderr
    assert json.loads(decoded.stdout)["n"] == len(devices.sent)


def _stopped(running: Service) -> int:
    status, logged = running.stop()
    assert "127.0.0.1" not in logged
    return status


def wait_for(true: object, seconds: float = 60) -> None:
    """Waits until ``true()`` is, for a minute at most."""
    assert callable(true)
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)
