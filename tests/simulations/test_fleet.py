"""A fleet: every line of the file is a device, every device is counted, and what goes wrong is told."""

from __future__ import annotations

import asyncio
import io
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from hubbub_registry import Registry
from hubbub_registry.commands import main
from hubbub_simulations.errors import FleetError, ValuesFileError
from hubbub_simulations.fleet.reference import reference_uploads
from hubbub_simulations.fleet.sending import Sender
from hubbub_simulations.fleet.tally import Tally
from hubbub_simulations.fleet.uploads import Upload
from hubbub_simulations.fleet.values import count_values, read_values
from hubbub_simulations.fleet.vectorised import vectorised_uploads

from tests.registries import MECHANISMS, registry_of, values_of

Uploads = Callable[[Registry, list[str], int, Tally], Iterator[Upload]]


def _reference(registry: Registry, values: list[str], per_upload: int, tally: Tally) -> Iterator[Upload]:
    return reference_uploads(registry.plan, "m", values, per_upload, tally)


def _vectorised(registry: Registry, values: list[str], per_upload: int, tally: Tally) -> Iterator[Upload]:
    return vectorised_uploads(registry.metric("m"), values, per_upload, tally, np.random.default_rng())


CLIENTS = pytest.mark.parametrize("client", [_reference, _vectorised])


@CLIENTS
@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("per_upload", [1, 4, 100])
def test_every_device_is_in_exactly_one_upload(
    tmp_path: Path, client: Uploads, mechanism: str, per_upload: int
) -> None:
    """Whoever encodes and however many share an upload, there is one record a device, and every upload id is new."""
    registry = registry_of(tmp_path, m={"mechanism": mechanism})
    metric = registry.metric("m")
    tally = Tally()
    uploads = list(client(registry, values_of(mechanism) * 7, per_upload, tally))
    documents = [msgpack.unpackb(upload.body) for upload in uploads]
    assert tally.devices == 21
    assert not tally.refused
    assert [upload.reports for upload in uploads] == [per_upload] * (21 // per_upload) + [21 % per_upload] * (
        21 % per_upload > 0
    )
    assert len({document[1] for document in documents}) == len(uploads)
    for upload, (version, _, batches) in zip(uploads, documents, strict=True):
        assert version == 1
        assert {batch[0] for batch in batches} == {metric.fingerprint}
        assert sum(len(batch[2]) for batch in batches) == upload.reports * metric.device.record_bytes


@CLIENTS
@pytest.mark.parametrize("mechanism", ["one-bit-mean", "d-bit-flip"])
def test_integers_are_read_from_lines(tmp_path: Path, client: Uploads, mechanism: str) -> None:
    """A line is an integer as people write it; anything else, and what lies outside the range, is refused by itself."""
    registry = registry_of(tmp_path, m={"mechanism": mechanism, "low": -5, "high": 40})
    tally = Tally()
    uploads = list(client(registry, ["-5", "41", "0", "-6", "forty", "40", "7.5", "07"], 2, tally))
    assert sum(upload.reports for upload in uploads) == 3
    assert tally.refused == {"not-in-values": 5}


@CLIENTS
def test_bad_values_are_counted_by_reason_and_stop_nothing(tmp_path: Path, client: Uploads) -> None:
    """A value that the metric does not take costs its device the report, and nobody else."""
    registry = registry_of(tmp_path, m={"mechanism": "randomized-response"})
    tally = Tally()
    uploads = list(client(registry, ["a", "nowhere", "b", "x" * 257, "nothing", "c"], 2, tally))
    assert sum(upload.reports for upload in uploads) == 3
    assert tally.devices == 6
    assert tally.refused == {"not-in-values": 2, "too-long": 1}


def test_a_gateway_passes_on_the_very_records_of_its_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through a gateway the collector gets the records that it would have got from the devices, each once."""
    registry = registry_of(tmp_path, m={"mechanism": "count-mean-sketch"})
    width = registry.metric("m").device.record_bytes
    devices = list(_reference(registry, ["a"] * 30, 1, Tally()))
    monkeypatch.setattr("hubbub_simulations.fleet.reference._device_uploads", lambda *_: iter(devices))
    through = list(_reference(registry, [], 8, Tally()))
    assert [upload.reports for upload in through] == [8, 8, 8, 6]

    def records(uploads: list[Upload]) -> Counter[bytes]:
        joined = [batch[2] for upload in uploads for batch in msgpack.unpackb(upload.body)[2]]
        return Counter(part[i : i + width] for part in joined for i in range(0, len(part), width))

    assert records(through) == records(devices)
    assert records(devices).total() == 30


def test_blank_lines_byte_order_marks_and_carriage_returns_are_no_part_of_a_value() -> None:
    """Whatever editor wrote the file, the values are the same; a space inside one stays."""
    file = io.BytesIO("\ufeffone\r\n\n  \ntwo words \n€".encode())
    assert list(read_values(file, "f")) == ["one", "two words ", "€"]


def test_a_line_that_is_not_utf8_is_named() -> None:
    """The message names the file and the line, and does not quote it."""
    with pytest.raises(ValuesFileError, match=r"^f, line 3: is not UTF-8"):
        list(read_values(io.BytesIO(b"a\nb\nsecret\xff\nd\n"), "f"))


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.mkdir()])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, make: Callable[[Path], object]) -> None:
    """A file that is missing, or is a folder, is a typed error with its name."""
    path = tmp_path / "values.txt"
    make(path)
    with pytest.raises(ValuesFileError, match=r"values\.txt: cannot be read"):
        count_values(path)


class Collector:
    """A server that gives the answers it is told to, in turn, and then 200; it keeps the bodies it accepted."""

    def __init__(self, *answers: tuple[int, dict[str, str], str]) -> None:
        self.answers = list(answers)
        self.bodies: list[bytes] = []
        self.seen: list[bytes] = []
        self.most_at_once = self.at_once = 0

    async def handle(self, request: web.Request) -> web.Response:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        body = await request.read()
        await asyncio.sleep(0)
        self.seen.append(body)
        self.at_once -= 1
        status, headers, text = self.answers.pop(0) if self.answers else (200, {}, "")
        if status == 0:
            assert request.transport is not None
            request.transport.abort()
        if 200 <= status < 300:
            self.bodies.append(body)
        return web.Response(status=status or 200, headers=headers, text=text)


async def send(collector: Collector, bodies: list[bytes], patience: float = 20.0, concurrency: int = 2) -> Tally:
    application = web.Application()
    application.router.add_post("/v1/reports", collector.handle)
    tally = Tally()
    async with TestServer(application) as server:
        sender = Sender(str(server.make_url("")).rstrip("/"), concurrency, patience, tally)
        await sender.send_all(Upload(body, 10) for body in bodies)
    return tally


BUSY = (503, {"Retry-After": "0"}, "")


async def test_a_busy_or_broken_collector_is_tried_again_with_the_same_body() -> None:
    """After 429, 503 or a connection that broke, the same bytes go out again until they are accepted, once."""
    collector = Collector((200, {}, ""), (429, {}, ""), BUSY, (0, {}, ""))
    tally = await send(collector, [b"a", b"b", b"c"], concurrency=1)
    assert collector.bodies == [b"a", b"b", b"c"]
    assert collector.seen == [b"a", b"b", b"b", b"b", b"b", b"c"]
    assert (tally.uploads, tally.accepted, tally.retries) == (3, 30, 3)
    assert not tally.refused


async def test_a_refusal_for_good_is_counted_by_its_code_and_not_repeated() -> None:
    """A permanent refusal is not tried again; it is counted in reports under the collector's own code."""
    refusal = json.dumps({"error": "record-length", "detail": "batch 0"})
    collector = Collector((400, {}, refusal), (413, {}, "not JSON"), (404, {}, "[]"))
    tally = await send(collector, [b"a", b"b", b"c", b"d"], concurrency=1)
    assert collector.bodies == [b"d"]
    assert len(collector.seen) == 4
    assert tally.refused == {"HTTP 400 record-length": 10, "HTTP 413": 10, "HTTP 404": 10}
    assert (tally.refused_uploads, tally.accepted) == (3, 10)


@pytest.mark.parametrize(
    ("answer", "quarantined"),
    [
        ('{"status":"stored","quarantined":1}', 10),
        ('{"status":"stored","quarantined":0}', 0),
        ('{"status":"stored"}', 0),
        ('{"quarantined":"1"}', 0),
        ("[]", 0),
        ("not JSON", 0),
    ],
)
async def test_reports_in_quarantine_are_not_counted_as_accepted(answer: str, quarantined: int) -> None:
    """An answer that says so moves the upload's reports from accepted to quarantined, and no other answer does."""
    tally = await send(Collector((202, {}, answer)), [b"a"])
    assert (tally.quarantined, tally.accepted, tally.uploads) == (quarantined, 10 - quarantined, 1)


async def test_patience_has_an_end() -> None:
    """A collector that stays busy past the patience is an error that names it, not an endless run."""
    collector = Collector(*[BUSY] * 1000)
    with pytest.raises(FleetError, match=r"answers 503 for 0\.05 s"):
        await send(collector, [b"a"], patience=0.05)


async def test_retry_after_is_honoured() -> None:
    """A collector that asks for longer than the patience lasts is not asked again before that."""
    collector = Collector((429, {"Retry-After": "3600"}, ""))
    with pytest.raises(FleetError, match="answers 429"):
        await send(collector, [b"a"])
    assert collector.seen == [b"a"]


async def test_concurrency_is_bounded() -> None:
    """No more uploads are under way at once than were asked for, and every one arrives."""
    collector = Collector()
    bodies = [bytes([i]) for i in range(60)]
    await send(collector, bodies, concurrency=5)
    assert sorted(collector.bodies) == bodies
    assert 1 < collector.most_at_once <= 5


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "nonsense", "http://"])
async def test_a_collector_that_was_never_there_is_told_at_once(url: str) -> None:
    """With no answer ever, the fleet does not wait for its patience to run out."""
    tally = Tally()
    sender = Sender(url, 2, 3600.0, tally)
    with pytest.raises(FleetError):
        await sender.send_all(iter([Upload(b"a", 1)]))
    assert tally.retries == 0


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (None, "cannot be read"),
        (b"a\n" * 5000 + b"\xff\n", "line 5001: is not UTF-8"),
        (b"a\n", "no collector answers"),
        (b"", "values.txt: holds no value, so nothing was sent"),
        (b"\n \r\n", "values.txt: holds no value, so nothing was sent"),
        (b"x\n1\nx\n", "nothing was sent: metric m takes none of the 3 values"),
    ],
)
def test_the_command_fails_with_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], values: bytes | None, words: str
) -> None:
    """A file that is missing, damaged, empty or of other values, and a collector that is not there, give exit status 1
    and say what to do, with nothing else on stderr: no progress is shown where there is no terminal.
    """
    registry_of(tmp_path, m={"mechanism": "randomized-response"})
    path = tmp_path / "values.txt"
    if values is not None:
        path.write_bytes(values)
    status = main(["fleet", str(tmp_path / "registry.toml"), "m", str(path), "--url", "http://127.0.0.1:1"])
    shown = capsys.readouterr()
    assert status == 1
    assert words in shown.err
    (line,) = shown.err.splitlines()
    assert line.startswith("hubbub fleet: error: ")


@pytest.mark.parametrize("option", [["--per-upload", "0"], ["--concurrency", "x"], ["--patience", "nan"]])
def test_numbers_that_make_no_sense_are_wrong_usage(tmp_path: Path, option: list[str]) -> None:
    """Zero devices an upload, and the like, are refused before anything is read."""
    assert main(["fleet", "r.toml", "m", "v.txt", "--url", "http://127.0.0.1:1", *option]) == 2


def test_a_summary_is_complete() -> None:
    """The JSON summary has every count, and devices are reports accepted, quarantined and refused together."""
    tally = Tally(devices=15, accepted=10, quarantined=2, refused=Counter({"type": 3}), uploads=2, seconds=2.0)
    document: dict[str, Any] = tally.to_dict()
    assert document["reports_per_second"] == 5.0
    reports = document["reports"]
    assert document["devices"] == reports["accepted"] + reports["quarantined"] + sum(reports["refused"].values())
    assert Tally().reports_per_second == 0.0
