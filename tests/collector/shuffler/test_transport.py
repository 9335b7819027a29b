"""The client's side: what leaves a device that sends through a shuffler."""

from __future__ import annotations

import os
from pathlib import Path

import msgpack
import pytest

from hubbub_client import Answer, MemoryStorage, Reporter
from hubbub_collector.shuffler.sealed_body import SealedBody, parse
from hubbub_registry import load_registry
from hubbub_sealing import SealedTransport
from hubbub_sealing.record import SealedRecord, unpack
from hubbub_sealing.upload import seal_upload

from tests.collector.shuffler.sealing import Keys, make_keys, widths
from tests.collector.uploads import TODAY, batch, load, records, registry_file, upload


class Recorder:
    """A transport that keeps what it is given, and gives the next of its answers."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.bodies: list[bytes] = []

    def send(self, body: bytes) -> Answer:
        self.bodies.append(body)
        return Answer(self.statuses.pop(0) if self.statuses else 200)


def opened(keys: Keys, *bodies: bytes) -> list[SealedRecord]:
    """What the analyst finds in sealed uploads."""
    found = []
    for body in bodies:
        for ciphertext in parse(body).ciphertexts:
            plaintext = keys.opens.open(ciphertext)
            assert plaintext is not None
            found.append(unpack(plaintext))
    return found


def test_every_record_is_sealed_by_itself(tmp_path: Path) -> None:
    """A Reporter's records arrive one a ciphertext, all of one length, and nothing else of the upload is readable."""
    keys = make_keys(tmp_path / "keys")
    registry = load(tmp_path)
    inner = Recorder()
    plan = registry.plan
    reporter = Reporter(plan, MemoryStorage(), SealedTransport(inner, keys.public, plan))
    assert reporter.record("sketch", "x")
    assert reporter.record("choice", "a")
    assert reporter.flush().sent == 2
    [body] = inner.bodies
    sealed = parse(body)
    assert sealed.key == keys.id
    assert {len(one) for one in sealed.ciphertexts} == {sealed.size}
    found = opened(keys, body)
    assert {one.fingerprint for one in found} == {metric.fingerprint for metric in registry.metrics.values()}
    assert len({one.id for one in found}) == 2
    for metric in registry.metrics.values():
        assert metric.fingerprint not in body


def test_attempts_carry_the_same_ids(tmp_path: Path) -> None:
    """The same upload, sealed again after a crash, has other ciphertexts of the same records under the same ids."""
    keys, registry = make_keys(tmp_path / "keys"), load(tmp_path)
    metric = registry.metric("choice")
    body = upload(batch(metric, records(metric, 5)))
    first, again = (parse(seal_upload(body, keys.seals, widths(registry), 17)[0]) for _ in range(2))
    assert first.id == again.id
    assert not set(first.ciphertexts) & set(again.ciphertexts)
    assert opened(keys, *seal_upload(body, keys.seals, widths(registry), 17)) == opened(keys, _body(first))
    other = parse(seal_upload(upload(batch(metric, records(metric, 5))), keys.seals, widths(registry), 17)[0])
    assert other.id != first.id
    ids = {one.id for body in (first, other) for one in opened(keys, _body(body))}
    assert len(ids) == 10


def _body(sealed: SealedBody) -> bytes:
    body: bytes = msgpack.packb([1, *sealed])
    return body


def test_an_id_stands_for_the_same_records(tmp_path: Path) -> None:
    """Sealed with another room, or to another key, an upload has another id outside and the same ids inside."""
    keys, others, registry = make_keys(tmp_path / "a"), make_keys(tmp_path / "b"), load(tmp_path)
    metric = registry.metric("choice")
    body = upload(batch(metric, records(metric, 3)))
    made = [
        seal_upload(body, keys.seals, widths(registry), 17), seal_upload(body, keys.seals, widths(registry), 18),
        seal_upload(body, others.seals, widths(registry), 17),
    ]  # fmt: skip
    assert len({parse(one).id for [one] in made}) == 3
    assert opened(keys, *made[0]) == opened(keys, *made[1]) == opened(others, *made[2])


def test_order_and_place_say_nothing_of_the_metric(tmp_path: Path) -> None:
    """Records of two metrics, which lie apart in an upload, are in an order that only the random upload id decides."""
    keys, registry = make_keys(tmp_path / "keys"), load(tmp_path)
    sketch, choice = registry.metric("sketch"), registry.metric("choice")
    orders = set()
    for _ in range(90):  # that one of six equally likely orders is missing: 6 (5/6)^90 < 1e-6
        body = upload(batch(sketch, records(sketch, 2)), batch(choice, records(choice, 2)))
        orders.add(tuple(one.fingerprint for one in opened(keys, *seal_upload(body, keys.seals, widths(registry), 17))))
    assert len(orders) == 6


def test_long_uploads_are_cut(tmp_path: Path) -> None:
    """An upload that padding makes long is sent as several, each below a shuffler's limit, and none of it is lost."""
    keys, registry = make_keys(tmp_path / "keys"), load(tmp_path)
    metric = registry.metric("choice")
    content = records(metric, 60)
    room = 20_000
    bodies = seal_upload(upload(batch(metric, content)), keys.seals, widths(registry), room)
    assert len(bodies) == 3
    assert max(len(body) for body in bodies) < 1 << 19
    assert len({parse(body).id for body in bodies}) == 3
    found = opened(keys, *bodies)
    assert sorted(one.record for one in found) == sorted(content[at : at + 1] for at in range(60))
    assert {one.period for one in found} == {TODAY}


def test_success_means_all_of_it(tmp_path: Path) -> None:
    """Where a part of an upload is not taken the upload is not, and the next attempt sends all parts again."""
    keys, registry = make_keys(tmp_path / "keys"), load(tmp_path)
    metric = registry.metric("choice")
    inner = Recorder(200, 503)
    transport = SealedTransport(inner, keys.seals, registry.plan)
    transport._room = 20_000
    body = upload(batch(metric, records(metric, 60)))
    assert transport.send(body).status == 503
    assert transport.send(body).status == 200
    assert len(inner.bodies) == 5
    assert inner.bodies[:2] == inner.bodies[2:4]  # the very same ciphertexts, as long as the process lives


def test_reports_of_earlier_plans(tmp_path: Path) -> None:
    """A report of an earlier plan is sealed where that plan is given, and otherwise refused with what to do."""
    keys, registry = make_keys(tmp_path / "keys"), load(tmp_path)
    (tmp_path / "older").mkdir()
    path = registry_file(tmp_path / "older")
    path.write_text(path.read_text().replace("epsilon = 1\n", "epsilon = 2\n"))
    older = load_registry(path)
    metric = older.metric("choice")
    assert metric.fingerprint not in widths(registry)
    body = upload(batch(metric, records(metric, 1)))
    inner = Recorder()
    answer = SealedTransport(inner, keys.public, registry.plan).send(body)
    assert (answer.status, inner.bodies) == (400, [])
    assert "older=" in answer.text
    plans = registry.plan, [older.plan]
    assert SealedTransport(inner, keys.public, *plans).send(body).status == 200
    [found] = opened(keys, *inner.bodies)
    assert found.fingerprint == metric.fingerprint


def test_an_address_is_that_of_a_shuffler(tmp_path: Path) -> None:
    """Given a URL it posts to the shuffler's path."""
    keys, registry = make_keys(tmp_path / "keys"), load(tmp_path)
    transport = SealedTransport("https://shuffler.example.org/x/", keys.public, registry.plan)
    assert transport._transport.url == "https://shuffler.example.org/x/v1/sealed"  # type: ignore[attr-defined]


@pytest.mark.parametrize("place", ["one", "many"])
def test_nothing_outside_identifies(tmp_path: Path, place: str) -> None:
    """Neither the upload's own id nor that of a record is to be seen outside of the ciphertexts."""
    keys, registry = make_keys(tmp_path / "keys"), load(tmp_path)
    metric = registry.metric("choice")
    id = os.urandom(16)
    count = 1 if place == "one" else 9
    [body] = seal_upload(upload(batch(metric, records(metric, count)), id=id), keys.seals, widths(registry), 17)
    assert id not in body
    assert not any(one.id in body for one in opened(keys, body))
