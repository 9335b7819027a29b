from __future__ import annotations

from hashlib import sha256

import pytest

from hubbub_client import MemoryStorage
from hubbub_firmware.entropy import EntropyRefusal
from hubbub_firmware.entropy.boots import BOOTS, SEED, EarlierBoots
from hubbub_firmware.trouble import Troubles

from tests.firmware.entropy.booting import Counted, booted, number


@pytest.mark.parametrize("name", [SEED, BOOTS])
def test_any_damaged_byte_is_noticed_counted_and_mended(name: str) -> None:
    """A changed byte, anywhere, or a lost or cut file: counted, made anew, and the count of boots goes on."""
    whole = MemoryStorage()
    booted(whole, 1, 2, 3)
    data = whole.files[name]
    damaged: list[bytes | None] = [data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :] for i in range(len(data))]
    for content in [*damaged, data[:-1], data[1:], b"", None]:
        storage = MemoryStorage()
        storage.files = dict(whole.files)
        if content is None:
            del storage.files[name]
        else:
            storage.files[name] = content
        found = EarlierBoots(storage)
        assert (found.number, found.troubles) == (3, ["state-damaged"])
    booted(storage, 4)
    assert Troubles(storage).counts() == {"state-damaged": 1}
    assert number(storage) == 4


def test_both_files_damaged_are_mended() -> None:
    """Fresh noise suffices by itself: the board starts anew, and both losses are counted."""
    storage = MemoryStorage()
    booted(storage, 1)
    storage.files[SEED] = storage.files[BOOTS] = b"rubbish"
    assert number(storage) == 0
    booted(storage, 2)
    assert Troubles(storage).counts() == {"state-damaged": 2}
    assert EarlierBoots(storage).troubles == []


def test_one_file_is_not_taken_for_the_other() -> None:
    """The check of each file holds its name, so a copy under the other's name is damage."""
    storage = MemoryStorage()
    booted(storage, 1)
    storage.files[SEED] = storage.files[BOOTS]
    assert EarlierBoots(storage).troubles == ["state-damaged"]


def test_a_file_of_another_format_is_damage() -> None:
    """A later version's file, whole by its own check, is not read as this one's."""
    storage = MemoryStorage()
    booted(storage, 1)
    for version in (b"\x00", b"\x02"):
        body = version + storage.files[SEED][1:-16]
        storage.files[SEED] = body + sha256(SEED.encode() + body).digest()[:16]
        assert EarlierBoots(storage).troubles == ["state-damaged"]


def test_files_lost_under_a_counter_are_noticed() -> None:
    """With a counter above 0, no files are a loss and no first boot; counting goes on from the counter."""
    storage = Counted()
    storage.boot_counter.value = 7
    booted(storage, 1)
    assert Troubles(storage).counts() == {"state-damaged": 1}
    assert (number(storage), storage.boot_counter.value) == (8, 8)


def test_a_seed_lost_after_the_first_boot_is_noticed_by_the_counter() -> None:
    """Without one it looks like a first boot that was cut short; with one it is a loss, and counting goes on."""
    for storage, troubles in ((MemoryStorage(), []), (Counted(), ["state-damaged"])):
        booted(storage, 1)
        del storage.files[SEED]
        found = EarlierBoots(storage)
        assert (found.number, found.troubles) == (len(troubles), troubles)


@pytest.mark.parametrize(("seed", "boots"), [(1, 3), (3, 1), (3, 2), (2, 4)])
def test_files_of_different_boots_are_refused(seed: int, boots: int) -> None:
    """A seed older than the record by more than a crash leaves, or newer than it, was put back, with any noise."""
    storage = MemoryStorage()
    history = []
    for count in range(1, 5):
        booted(storage, count)
        history.append(dict(storage.files))
    storage.files[SEED], storage.files[BOOTS] = history[seed - 1][SEED], history[boots - 1][BOOTS]
    with pytest.raises(EntropyRefusal) as caught:
        booted(storage, 99)
    assert caught.value.trouble == "state-rolled-back"
