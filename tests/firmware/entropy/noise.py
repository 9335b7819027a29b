"""Sources for tests: noise that is the same in each run, and everything that can be wrong with a source."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from hubbub_firmware.entropy import open_entropy
from hubbub_firmware.entropy.generator import Entropy

if TYPE_CHECKING:
    from hubbub_client.storage import Storage

PLATFORM, RELEASE = "rp2", (1, 28, 0)


class Noise:
    """A raw source under the name of the RP2040's, of ``bits`` bits a sample, that never repeats. ``seed`` tells two
    boots apart; ``taken`` counts the samples so far; ``change(place, sample)`` is what a sample becomes.
    """

    name = "rp2040-rosc"

    def __init__(
        self, seed: int = 0, bits: int = 1, milli: int = 500, change: Callable[[int, int], int] | None = None
    ) -> None:
        self.sample_bits = bits
        self.entropy_milli = milli
        self.taken = 0
        self.asked: list[int] = []
        self.is_ready = True
        self._seed = seed
        self._change = change
        self._stream = b""

    def ready(self) -> bool:
        return self.is_ready

    def sample(self, count: int) -> bytes:
        self.asked.append(count)
        while len(self._stream) < self.taken + count:
            self._stream = hashlib.shake_128(b"noise %d" % self._seed).digest(2 * (self.taken + count))
        mask = (1 << self.sample_bits) - 1
        samples = [byte & mask for byte in self._stream[self.taken : self.taken + count]]
        if self._change:
            samples = [self._change(self.taken + i, sample) for i, sample in enumerate(samples)]
        self.taken += count
        return bytes(samples)


class Chosen(Noise):
    """A source that gives the samples it was told to, over and over."""

    def __init__(self, samples: bytes, bits: int = 1, milli: int = 500) -> None:
        super().__init__(bits=bits, milli=milli)
        self._samples = samples

    def sample(self, count: int) -> bytes:
        again = self._samples * (2 + (self.taken % len(self._samples) + count) // len(self._samples))
        start = self.taken % len(self._samples)
        self.taken += count
        return again[start : start + count]


def opened(raw: Noise, storage: Storage, device: bytes = b"") -> Entropy:
    """One boot."""
    return open_entropy(raw, storage, PLATFORM, RELEASE, device)


def stuck_from(place: int) -> Callable[[int, int], int]:
    """A source that dies at a sample."""
    return lambda at, sample: 0 if at >= place else sample
