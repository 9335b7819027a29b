"""The analyst's side: what batches hold is checked as in the intake, and counts once."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from hubbub_collector.errors import Refusal
from hubbub_collector.opening.opener import Opener
from hubbub_collector.shuffler.sealed_body import parse
from hubbub_collector.upload import Validator
from hubbub_collector.upload import parse as parse_upload
from hubbub_collector.window import Window
from hubbub_registry import Metric, Registry, load_registry
from hubbub_sealing.record import SealedRecord, pack
from hubbub_sealing.upload import seal_upload

from tests.collector.shuffler.sealing import Keys, make_keys, widths
from tests.collector.uploads import NOW, TODAY, batch, load, random_record, records, registry_file, upload


def opener(registry: Registry, *keys: Keys) -> Opener:
    """An opener with these keys and the usual window."""
    return Opener([key.opens for key in keys], Validator(registry.metrics.values(), Window()))


def sealed_record(keys: Keys, metric: Metric, record: bytes, period: int = TODAY) -> bytes:
    """One ciphertext of one record."""
    return keys.seals.seal(pack(SealedRecord(os.urandom(16), metric.fingerprint, period, record), 20))


def test_good_records_become_uploads_of_their_own(tmp_path: Path) -> None:
    """Each record of a device is one upload for the store, under its own id: no two are linked by it."""
    keys, registry = make_keys(tmp_path / "keys"), load(tmp_path)
    metric = registry.metric("choice")
    content = records(metric, 6)
    [body] = seal_upload(upload(batch(metric, content)), keys.seals, widths(registry), 17)
    opened = opener(registry, keys).open(keys.id, parse(body).ciphertexts, NOW)
    assert (opened.records, opened.quarantined, opened.lost) == (6, (), Counter())
    size = len(opened.body) // 6
    uploads = [parse_upload(opened.body[at : at + size]) for at in range(0, len(opened.body), size)]
    assert len({id for id, _ in uploads}) == 6
    assert all(len(batches) == 1 for _, batches in uploads)
    assert Counter(one.records for _, [one] in uploads) == Counter(content[at : at + 1] for at in range(6))
    again = opener(registry, keys).open(keys.id, parse(body).ciphertexts, NOW)
    assert again.body == opened.body  # a second time it is the same to the store, which counts it once


def test_bad_ones_are_counted_and_stop_nobody(tmp_path: Path) -> None:
    """Every kind of ciphertext that is no use is counted by its reason, and the good record beside them is stored."""
    keys, other, registry = make_keys(tmp_path / "a"), make_keys(tmp_path / "b"), load(tmp_path)
    metric = registry.metric("choice")
    good = random_record(metric)
    ciphertexts = [
        os.urandom(102),
        sealed_record(other, metric, good),
        keys.seals.seal(bytes(54)),
        keys.seals.seal(b""),
        sealed_record(keys, metric, b"\x07"),
        sealed_record(keys, metric, b"\x80"),
        sealed_record(keys, metric, good + good),
        sealed_record(keys, registry.metric("sketch"), b"short"),
        sealed_record(keys, metric, good, TODAY - 40),
        sealed_record(keys, metric, good, TODAY + 3),
        sealed_record(keys, metric, good, 10**6),
        sealed_record(keys, metric, good),
    ]
    opened = opener(registry, keys).open(keys.id, ciphertexts, NOW)
    assert opened.records == 1
    assert parse_upload(opened.body)[1] == [batch(metric, good)]
    assert opened.lost == {
        "undecryptable": 2, "malformed": 2, "record-range": 2, "record-length": 2, "period-too-late": 1,
        "period-too-early": 2,
    }  # fmt: skip


def test_unknown_metrics_are_quarantined(tmp_path: Path) -> None:
    """A record of a metric that the registry lacks is kept aside under its own id, not guessed at."""
    keys, registry = make_keys(tmp_path / "keys"), load(tmp_path)
    (tmp_path / "newer").mkdir()
    path = registry_file(tmp_path / "newer")
    path.write_text(path.read_text().replace("epsilon = 1\n", "epsilon = 2\n"))
    metric = load_registry(path).metric("choice")
    record = random_record(metric)
    [parked] = opener(registry, keys).open(keys.id, [sealed_record(keys, metric, record)], NOW).quarantined
    assert (parked.number, parked.batch) == (0, batch(metric, record))
    assert len(parked.upload) == 16


def test_keys_follow_one_another(tmp_path: Path) -> None:
    """With two keys batches of both are opened; a batch for neither is refused, so that the shuffler keeps it."""
    keys, newer, registry = make_keys(tmp_path / "a"), make_keys(tmp_path / "b"), load(tmp_path)
    metric = registry.metric("choice")
    both = opener(registry, keys, newer)
    for one in (keys, newer):
        assert both.open(one.id, [sealed_record(one, metric, random_record(metric))], NOW).records == 1
    with pytest.raises(Refusal, match="no key of that id") as caught:
        both.open(b"?" * 8, [os.urandom(99)], NOW)
    assert (caught.value.status, caught.value.code) == (400, "key-unknown")
