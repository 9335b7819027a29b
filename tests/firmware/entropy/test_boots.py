from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from hubbub_client import FileStorage, MemoryStorage
from hubbub_firmware.entropy import EntropyRefusal
from hubbub_firmware.entropy.boots import BOOTS, REMEMBERED, SEED, EarlierBoots
from hubbub_firmware.trouble import Troubles

from tests.firmware.entropy.booting import Counted, booted, number
from tests.firmware.entropy.noise import Noise, opened


def test_boots_are_counted() -> None:
    """No boot yet is 0; each boot that gives out bytes is one more."""
    storage = MemoryStorage()
    assert number(storage) == 0
    for count in range(1, 4):
        booted(storage, count)
        assert number(storage) == count
    assert Troubles(storage).counts() == {}


def test_many_boots_are_counted() -> None:
    """Numbers take all of their four bytes."""
    storage = MemoryStorage()
    boots = EarlierBoots(storage)
    boots.number = 0x01020303
    boots.begin(b"noise", bytes(32))
    assert number(storage) == 0x01020304
    booted(storage, 1)
    assert number(storage) == 0x01020305


def test_boots_are_remembered_in_files(tmp_path: Path) -> None:
    """Over a real directory, opened anew each time, a boot follows the one before, and a repeat is found."""
    for seed in (1, 2, 1):
        with closing(FileStorage(str(tmp_path / "state"))) as storage:
            if number(storage) == 2:
                with pytest.raises(EntropyRefusal, match="noise of an earlier boot"):
                    opened(Noise(seed), storage)
            else:
                opened(Noise(seed), storage)
    assert number(FileStorage(str(tmp_path / "state"))) == 2


def test_files_stay_small() -> None:
    """However many boots there were, both files together take less than 250 bytes."""
    storage = MemoryStorage()
    for seed in range(REMEMBERED + 5):
        booted(storage, seed)
    assert sum(map(len, storage.files.values())) < 250


def test_the_last_sixteen_beginnings_are_remembered() -> None:
    """Noise of any of the last 16 boots is refused, and of the one before them it is not: that is the stated bound."""
    assert REMEMBERED == 16
    storage = MemoryStorage()
    booted(storage, *range(REMEMBERED + 1))
    for seed in range(1, REMEMBERED + 1):
        with pytest.raises(EntropyRefusal, match="noise of an earlier boot") as caught:
            booted(storage, seed)
        assert caught.value.trouble == "entropy-repeat"
    assert Troubles(storage).counts() == {"entropy-repeat": REMEMBERED}
    booted(storage, 0)


def test_a_repeat_changes_nothing_that_is_remembered() -> None:
    """A refused boot writes no seed and no record; it is no boot."""
    storage = MemoryStorage()
    booted(storage, 1, 2)
    before = dict(storage.files)
    with pytest.raises(EntropyRefusal):
        booted(storage, 1)
    assert {name: storage.files[name] for name in before} == before


def test_two_boots_from_an_identical_seed_and_noise_refuse() -> None:
    """The seed file put back and the same noise: the record of boots tells."""
    storage = MemoryStorage()
    booted(storage, 1)
    seed = storage.files[SEED]
    booted(storage, 2)
    storage.files[SEED] = seed
    with pytest.raises(EntropyRefusal) as caught:
        booted(storage, 2)
    assert caught.value.trouble == "entropy-repeat"


def test_two_boots_from_an_identical_state_refuse_with_a_counter() -> None:
    """All of the storage put back, and the same noise: only what a backup does not restore can tell, and it does."""
    storage = Counted()
    booted(storage, 1)
    files = dict(storage.files)
    booted(storage, 2)
    storage.files = files
    for seed in (2, 3):
        with pytest.raises(EntropyRefusal, match="older than the last boot") as caught:
            booted(storage, seed)
        assert caught.value.trouble == "state-rolled-back"
    assert Troubles(storage).counts() == {"state-rolled-back": 2}


def test_two_boots_from_one_state_with_fresh_noise_differ() -> None:
    """The same storage twice and different noise: nothing that is given out, or stored, is the same."""
    storages = [MemoryStorage(), MemoryStorage()]
    booted(storages[0], 1)
    storages[1].files = dict(storages[0].files)
    outputs = [booted(storage, seed)[0] for storage, seed in zip(storages, (2, 3), strict=True)]
    assert outputs[0] != outputs[1]
    assert storages[0].files[SEED] != storages[1].files[SEED]
    assert storages[0].files[BOOTS] != storages[1].files[BOOTS]


def test_each_boot_differs_even_where_the_noise_is_the_same() -> None:
    """With the record of boots lost, the same noise passes once; the seed and the number still tell the boots apart."""
    storage = MemoryStorage()
    first = booted(storage, 1)
    del storage.files[BOOTS]
    assert booted(storage, 1) != first


def test_the_stored_seed_is_no_output_and_no_noise() -> None:
    """What is stored tells nothing of what is given out: the seed's bytes are in no output, and noise is not stored."""
    storage = MemoryStorage()
    entropy = opened(Noise(1), storage)
    seed = storage.files[SEED][5:37]
    output = entropy(4096)
    assert not any(seed[i : i + 8] in output for i in range(25))


@pytest.mark.parametrize("part", ["seed", "number", "device", "noise", "nonce"])
def test_every_part_goes_into_the_first_bytes(part: str) -> None:
    """Noise, nonce, stored seed, number of the boot and device each change all that is given out."""
    storage, other = MemoryStorage(), MemoryStorage()
    booted(storage, 1)
    other.files = dict(storage.files)
    noise, device = Noise(2), b"a"
    if part == "seed":
        EarlierBoots(other)._put(SEED, (1).to_bytes(4, "big") + bytes(32))
    elif part == "number":
        content = storage.files[SEED][5:37]
        boots = EarlierBoots(other)
        boots._put(SEED, (2).to_bytes(4, "big") + content)
        boots._put(BOOTS, (2).to_bytes(4, "big"))
    elif part == "device":
        device = b"b"
    else:
        at = 1024 + (0 if part == "noise" else 1280)
        noise = Noise(2, change=lambda place, bit: bit ^ (place == at))
    assert opened(Noise(2), storage, b"a")(32) != opened(noise, other, device)(32)
