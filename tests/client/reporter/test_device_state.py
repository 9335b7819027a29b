from __future__ import annotations

import pytest

from hubbub_client import MemoryStorage, StateError
from hubbub_client.ledger import tag_of
from hubbub_client.plan import mechanism
from hubbub_client.prf import LEAST_SECRET_BYTES, expand

from tests.client.reporter.reporting import DAY, NOW, Collector, Noise, plan_of, reporter_of, sketch_plan


def used() -> MemoryStorage:
    storage = MemoryStorage()
    assert reporter_of(sketch_plan(), storage).record("m", "a")
    return storage


def test_the_secret_is_made_once_from_the_source() -> None:
    """The first 32 bytes the source gives are the secret, stored with a check, and the same ever after."""
    storage = used()
    stored = storage.files["secret"]
    assert stored[:32] == Noise()(32)
    assert len(stored) == 40
    assert reporter_of(sketch_plan(), storage, clock=lambda: NOW + DAY).record("m", "a")
    assert storage.files["secret"] == stored


def test_the_secret_decides_permanent_noise() -> None:
    """RAPPOR's cohort comes from the stored secret, so it is the same for every Reporter on one state."""
    plan = plan_of(m={"mechanism": "rappor", "reports_per_period": 1, "cohorts": 1024})
    storage = MemoryStorage()
    collector = Collector()
    for day in range(4):
        reporter = reporter_of(plan, storage, collector, clock=lambda day=day: NOW + day * DAY)
        assert reporter.record("m", "a")
    assert reporter.flush().sent == 4
    cohorts = {int.from_bytes(record, "little") & 1023 for record in collector.records(plan.metric("m").record_bytes)}
    assert len(cohorts) == 1


def test_a_secret_shorter_than_16_bytes_is_refused() -> None:
    """No permanent noise, cohort or tag is made from a secret that could be guessed; the message does not hold it."""
    metric = plan_of(m={"mechanism": "rappor"}).metric("m")
    for count in range(LEAST_SECRET_BYTES):
        for make in (
            lambda secret: expand(secret, b"label", b"", 8),
            lambda secret: mechanism("rappor").Encoder(metric, secret),
            lambda secret: tag_of(secret, metric, b"value"),
        ):
            with pytest.raises(StateError, match=f"of {count} bytes can be guessed"):
                make(b"s" * count)
    assert mechanism("rappor").Encoder(metric, b"s" * LEAST_SECRET_BYTES)


def test_every_damage_to_the_secret_fails_closed() -> None:
    """A secret cut at any byte, or with any one bit changed, stops reporting, and no new one is made."""
    storage = used()
    good = storage.files["secret"]
    damaged = [good[:cut] for cut in range(len(good))] + [good + b"x"]
    for at in range(8 * len(good)):
        changed = bytearray(good)
        changed[at // 8] ^= 1 << at % 8
        damaged.append(bytes(changed))
    reporter = reporter_of(sketch_plan(), storage, clock=lambda: NOW + DAY)
    for data in damaged:
        storage.files["secret"] = data
        assert not reporter.record("m", "a")
        assert storage.files["secret"] == data
    assert reporter.counts == {"state-damaged": len(damaged)}


@pytest.mark.parametrize("lost", [["ledger"], ["secret"], ["ledger", "secret"]])
def test_what_is_lost_after_first_use_is_not_made_again(lost: list[str]) -> None:
    """Without its budget, its secret, or both while reports wait, a device reports nothing more."""
    storage = used()
    for name in lost:
        del storage.files[name]
    before = dict(storage.files)
    reporter = reporter_of(sketch_plan(), storage, clock=lambda: NOW + DAY)
    assert not reporter.record("m", "a")
    assert reporter.counts == {"state-damaged": 1}
    assert storage.files == before


def test_state_that_is_put_back_is_used_again() -> None:
    """A Reporter that found its state damaged goes on once the state is whole, without being made anew."""
    storage = used()
    good = storage.files.pop("ledger")
    reporter = reporter_of(sketch_plan(), storage, clock=lambda: NOW + DAY)
    assert not reporter.record("m", "a")
    storage.files["ledger"] = good
    assert reporter.record("m", "a")


def test_a_stranger_s_file_is_no_sign_of_use() -> None:
    """A file that hubbub did not write neither stops the first use nor is touched."""
    storage = MemoryStorage()
    strangers = dict.fromkeys(("README", "upload-notes", "open-x-" + 32 * "0", "upload-1-" + 32 * "z"), b"mine")
    storage.files = dict(strangers)
    reporter = reporter_of(sketch_plan(), storage)
    assert reporter.record("m", "a")
    assert reporter.flush().sent == 1
    assert strangers.items() <= storage.files.items()


def test_what_was_paid_for_is_delivered_though_the_budget_is_damaged() -> None:
    """Reports that were made before the damage are still uploaded: their budget was spent."""
    storage = used()
    storage.files["ledger"] = b"damaged"
    collector = Collector()
    assert reporter_of(sketch_plan(), storage, collector).flush().sent == 1
