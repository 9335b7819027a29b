from __future__ import annotations

import itertools

import pytest

from hubbub_client import MemoryStorage
from hubbub_firmware.entropy import EntropyRefusal
from hubbub_firmware.entropy.boots import BOOTS, SEED
from hubbub_firmware.trouble import Troubles

from tests.firmware.entropy.booting import Counted, booted
from tests.firmware.entropy.noise import Noise, opened


class Cut(BaseException):
    """The power fails."""


class CutStorage(MemoryStorage):
    """Fails at write number ``at`` to the files of boots, before it or after it."""

    def __init__(self, at: int, after: bool) -> None:
        super().__init__()
        self.left, self.after = at, after

    def write(self, name: str, data: bytes) -> None:
        if self.left == 0 and not self.after:
            raise Cut
        super().write(name, data)
        self.left -= 1
        if self.left < 0:
            raise Cut


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("earlier", [0, 1, 3])
def test_power_cuts_while_booting_are_no_fault(earlier: int, after: bool) -> None:
    """Cut at any write, several times in a row: nothing was given out, and the next boot works, with no trouble."""
    for at in (0, 1):
        storage = CutStorage(1 << 30, after)
        booted(storage, *range(earlier))
        noise = itertools.count(100)
        for _ in range(3):
            storage.left = at
            with pytest.raises(Cut):
                booted(storage, next(noise))
        storage.left = 1 << 30
        booted(storage, next(noise))
        assert Troubles(storage).counts() == {}


def test_the_seed_is_written_before_the_first_byte_and_the_record_before_the_seed() -> None:
    """The order of writes in a boot: what it began with, the next boot's seed, the counter; then it may give bytes."""
    done: list[str] = []

    class Watched(Counted):
        def write(self, name: str, data: bytes) -> None:
            done.append(name)
            super().write(name, data)

    storage = Watched()
    storage.boot_counter.advance = lambda to: done.append(f"counter {to}")  # type: ignore[method-assign]
    entropy = opened(Noise(1), storage)
    assert done == [BOOTS, SEED, "counter 1"]
    entropy(100)
    assert done == [BOOTS, SEED, "counter 1"]


@pytest.mark.parametrize("name", [SEED, BOOTS])
def test_a_storage_that_keeps_nothing_is_refused(name: str) -> None:
    """Writes that are not there when they are read back: no bytes, and a count under storage."""

    class Forgetful(MemoryStorage):
        def write(self, to: str, data: bytes) -> None:
            if to != name:
                super().write(to, data)

    storage = Forgetful()
    with pytest.raises(EntropyRefusal, match="does not keep"):
        opened(Noise(1), storage)
    assert Troubles(storage).counts() == {"storage": 1}


@pytest.mark.parametrize("operation", ["read", "write"])
def test_a_storage_that_fails_is_refused(operation: str) -> None:
    """An OSError of the storage ends the boot."""

    def fail(*_: object) -> None:
        raise OSError(28)

    storage = MemoryStorage()
    setattr(storage, operation, fail)
    with pytest.raises(EntropyRefusal, match="OSError") as caught:
        opened(Noise(1), storage)
    assert caught.value.trouble == "storage"
