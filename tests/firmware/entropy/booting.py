"""What the tests of boots share: storage with a counter of boots, and boots in a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hubbub_client import MemoryStorage
from hubbub_firmware.entropy.boots import EarlierBoots

from tests.firmware.entropy.noise import Noise, opened

if TYPE_CHECKING:
    from hubbub_client.storage import Storage


class BootCounter:
    """What only counts up, outside of the storage."""

    def __init__(self, value: int = 0) -> None:
        self.value = value

    def read(self) -> int:
        return self.value

    def advance(self, to: int) -> None:
        self.value = max(self.value, to)


class Counted(MemoryStorage):
    def __init__(self) -> None:
        super().__init__()
        self.boot_counter = BootCounter()


def booted(storage: MemoryStorage, *seeds: int) -> list[bytes]:
    """Boots with fresh noise each time; what each gave out first."""
    return [opened(Noise(seed), storage)(32) for seed in seeds]


def number(storage: Storage) -> int:
    return EarlierBoots(storage).number
