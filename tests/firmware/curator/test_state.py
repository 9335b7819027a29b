"""State that is damaged, lost or set back stops the gateway, and nothing begins afresh."""

from __future__ import annotations

import pytest

from hubbub_client.errors import RolledBackError, StateError
from hubbub_client.storage import MemoryStorage
from hubbub_firmware.curator.errors import NoiseError

from tests.firmware.curator.gateway import DAY, SENSORS, START, gateway, reading, spent, values


def released() -> MemoryStorage:
    """A state with a release in it, and another period open."""
    storage = MemoryStorage()
    gateway(storage).take([reading("a")], SENSORS)
    run = gateway(storage, now=START + DAY)
    run.release()
    run.take([reading("a", time=START + DAY)], SENSORS)
    return storage


@pytest.mark.parametrize("kind", ["curator", "ledger", "release", "secret"])
def test_damage(kind: str) -> None:
    """Any file that is cut short or changed in one bit stops the gateway."""
    storage = released()
    name = next(each for each in storage.files if each.partition("-")[0] == kind)
    whole = storage.files[name]
    for damaged in (whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1]), bytes([whole[0] ^ 1]) + whole[1:], b""):
        storage.files[name] = damaged
        with pytest.raises(StateError):
            gateway(storage, now=START + 2 * DAY)
        assert storage.files[name] == damaged


@pytest.mark.parametrize("name", ["ledger", "secret", "curator"])
def test_loss(name: str) -> None:
    """A file that is lost after first use stops the gateway: nothing begins afresh."""
    storage = released()
    del storage.files[name]
    with pytest.raises(StateError):
        gateway(storage, now=START + 2 * DAY)


@pytest.mark.parametrize("name", ["ledger", "curator"])
def test_rolled_back(name: str) -> None:
    """An older ledger, or an older account of what is open, put back beside a newer release stops the gateway."""
    storage = MemoryStorage()
    gateway(storage).take([reading("a")], SENSORS)
    older = storage.files[name]
    gateway(storage, now=START + DAY).release()
    storage.files[name] = older
    with pytest.raises(RolledBackError):
        gateway(storage, now=START + DAY)


def test_a_removed_release_is_not_drawn_again() -> None:
    """With the release removed and what is open set back, the ledger still knows the period was paid for."""
    storage = MemoryStorage()
    gateway(storage).take([reading("a")], SENSORS)
    older = storage.files["curator"]
    gateway(storage, now=START + DAY).release()
    storage.files["curator"] = older
    (name,) = [each for each in storage.files if each.startswith("release-")]
    del storage.files[name]
    refused = gateway(storage, now=START + DAY).release()
    assert [each.reason for each in refused] == ["period-used-up"]
    assert (values(storage), spent(storage)) == ([], {"c:epsilon": 10**9})


def test_a_counter_notices_a_whole_older_state() -> None:
    """Where the storage has a counter, a whole older state is refused."""

    class Counter:
        value = 0

        def read(self) -> int:
            return self.value

        def advance(self, to: int) -> None:
            self.value = max(self.value, to)

    storage = MemoryStorage()
    storage.counter = Counter()
    gateway(storage)
    older = dict(storage.files)
    gateway(storage, now=START + DAY).release()
    storage.files = older
    with pytest.raises(RolledBackError):
        gateway(storage, now=START + DAY)


def test_a_paid_aggregate_put_back_is_not_drawn_again() -> None:
    """What was open between payment and draw, put back later without the releases, is not taken for paid."""
    storage = MemoryStorage()
    gateway(storage)

    def failing(_value: int) -> int:
        raise NoiseError("no random numbers")

    with pytest.raises(NoiseError):
        gateway(storage, now=START + DAY, noise=lambda _metric: failing).release()
    paid = storage.files["curator"]
    gateway(storage, now=START + 2 * DAY).release()
    storage.files = {name: data for name, data in storage.files.items() if not name.startswith("release-")}
    storage.files["curator"] = paid
    with pytest.raises(RolledBackError, match="not of one time"):
        gateway(storage, now=START + 2 * DAY)
    assert values(storage) == []
