from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hubbub_client import EntropyError, MemoryStorage
from hubbub_firmware.entropy import generator
from hubbub_firmware.entropy.drbg import RESEED_LIMIT, HmacDrbg
from hubbub_firmware.entropy.generator import RESEED_AFTER, Entropy
from hubbub_firmware.entropy.source import CheckedSource
from hubbub_firmware.trouble import Troubles

from tests.firmware.entropy.noise import Noise, opened, stuck_from

# What a boot takes: the start-up, and three blocks.
BOOT = 1024 + 3 * 1280


def made(raw: Noise, storage: MemoryStorage) -> tuple[Entropy, HmacDrbg]:
    """A generator that has booted, and the DRBG in it."""
    drbg = HmacDrbg(b"e" * 32, b"n" * 32)
    source = CheckedSource(raw)
    source.start_up()
    return Entropy(source, drbg, Troubles(storage)), drbg


def test_output_is_the_generators() -> None:
    """What is given out is HMAC_DRBG's, request by request."""
    entropy, _ = made(Noise(), MemoryStorage())
    other = HmacDrbg(b"e" * 32, b"n" * 32)
    for count in (16, 0, 100, 65536):
        assert entropy(count) == other.generate(count)


def test_fresh_noise_is_mixed_in_after_256_requests() -> None:
    """Requests 1 to 256 take no samples, 257 takes a block, and the count starts again."""
    assert RESEED_AFTER == 256
    raw = Noise(1)
    entropy = opened(raw, MemoryStorage())
    assert raw.taken == BOOT
    for _ in range(RESEED_AFTER - 1):  # the next boot's seed was the first request
        entropy(1)
    assert raw.taken == BOOT
    entropy(1)
    assert raw.taken == BOOT + 1280
    for _ in range(RESEED_AFTER - 1):
        entropy(1)
    assert raw.taken == BOOT + 1280
    entropy(1)
    assert raw.taken == BOOT + 2 * 1280


def test_prediction_resistance_where_it_is_asked_for() -> None:
    """``fresh`` takes a block each time, and what it gives depends on it: a copy of the state does not foretell it."""
    storage = MemoryStorage()
    raw = Noise(1)
    entropy, _ = made(raw, storage)
    other, _ = made(Noise(1, change=lambda at, bit: bit ^ (at == 1024)), storage)
    before = raw.taken
    assert entropy.fresh(32) != other.fresh(32)
    assert raw.taken == before + 1280
    entropy.fresh(0)
    assert raw.taken == before + 2 * 1280


@pytest.mark.parametrize("count", [-1, 65537])
def test_an_impossible_request_is_an_error_of_the_caller(count: int) -> None:
    """It raises ValueError, is no failure of the source, and is not counted."""
    storage = MemoryStorage()
    entropy = opened(Noise(1), storage)
    with pytest.raises(ValueError, match="ask for 0 to 65536"):
        entropy(count)
    assert len(entropy(65536)) == 65536
    assert entropy.problem is None
    assert Troubles(storage).counts() == {}


def test_a_failure_is_for_good_and_counted_once() -> None:
    """After the source has died, each call raises the same clear error, though the source came back."""
    storage = MemoryStorage()
    raw = Noise(1, change=stuck_from(BOOT))
    entropy = opened(raw, storage)
    entropy(32)
    with pytest.raises(EntropyError, match="until the next boot: the source gave one value 41 times"):
        entropy.fresh(32)
    raw._change = None
    for call in (entropy, entropy.fresh, entropy):
        with pytest.raises(EntropyError, match="until the next boot: the source gave one value 41 times"):
            call(32)
    with pytest.raises(EntropyError):
        entropy(0)
    assert Troubles(storage).counts() == {"entropy": 1}
    booted_again = opened(Noise(2), storage)
    assert len(booted_again(32)) == 32


def test_a_source_that_raises_later_is_a_failure() -> None:
    """An exception while reseeding ends it, in words, whatever its type."""
    storage = MemoryStorage()

    class Failing(Noise):
        def sample(self, count: int) -> bytes:
            if self.taken >= BOOT:
                raise OSError(5, "the oscillator stopped")
            return super().sample(count)

    entropy = opened(Failing(1), storage)
    with pytest.raises(EntropyError, match="the oscillator stopped"):
        entropy.fresh(1)
    with pytest.raises(EntropyError, match="the oscillator stopped"):
        entropy(1)
    assert Troubles(storage).counts() == {"entropy": 1}


def test_a_readiness_that_cannot_be_told_is_a_failure() -> None:
    """``ready`` may fail as well."""

    class Lost(Noise):
        def ready(self) -> bool:
            if self.taken >= at:
                raise OSError(5)
            return True

    at, storage = 1 << 30, MemoryStorage()
    entropy = opened(Lost(1), storage)
    at = 0
    for _ in range(2):
        with pytest.raises(EntropyError, match="source rp2040-rosc failed"):
            entropy.fresh(1)
    with pytest.raises(EntropyError, match="source rp2040-rosc failed"):
        opened(Lost(2), storage)
    assert Troubles(storage).counts() == {"entropy": 2}


def test_a_radio_that_is_off_delays_the_fresh_noise() -> None:
    """Not ready is no failure: requests go on up to the limit, then wait, and all is well when it is ready again."""
    storage = MemoryStorage()
    raw = Noise(1)
    entropy, drbg = made(raw, storage)
    raw.is_ready = False
    before = raw.taken
    drbg.requests = RESEED_AFTER + 1
    entropy(1)
    with pytest.raises(EntropyError, match="is due and the source is not ready"):
        entropy.fresh(1)
    drbg.requests = RESEED_LIMIT
    entropy(1)
    for _ in range(2):
        with pytest.raises(EntropyError, match="is due and the source is not ready"):
            entropy(1)
    assert (raw.taken, drbg.requests, entropy.problem) == (before, RESEED_LIMIT + 1, None)
    assert Troubles(storage).counts() == {}
    raw.is_ready = True
    entropy(1)
    assert (raw.taken, drbg.requests) == (before + 1280, 2)


FORKING = """
import os
from hubbub_client import EntropyError, MemoryStorage
from hubbub_firmware.entropy import open_entropy
from hubbub_firmware.entropy.raw.system import SystemSource
entropy = open_entropy(SystemSource(), MemoryStorage(), "linux", (3, 11))
entropy(16)
child = os.fork()
if child:
    os.waitpid(child, 0)
try:
    said = entropy(16).hex()
except EntropyError as error:
    said = str(error)
print("parent" if child else "child", said, flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without os.fork")
def test_a_forked_process_gets_no_bytes_of_its_parents() -> None:
    """After os.fork the child refuses, where it would give out what the parent gives out; the parent goes on."""
    done = subprocess.run([sys.executable, "-c", FORKING], capture_output=True, text=True, timeout=60, check=True)
    said = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert len(bytes.fromhex(said["parent"])) == 16
    assert "forked" in said["child"]


@pytest.mark.parametrize(("mine", "now"), [(70_001, 70_002), (70_002, 70_001), (70_001, int("70001"))])
def test_only_the_process_that_opened_it_is_given_bytes(mine: int, now: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process with a higher or a lower number is refused, and the same one is not."""
    monkeypatch.setattr(generator, "_process", lambda: mine)
    entropy, _ = made(Noise(), MemoryStorage())
    assert len(entropy(16)) == 16
    monkeypatch.setattr(generator, "_process", lambda: now)
    if mine == now:
        assert len(entropy(16)) == 16
    else:
        with pytest.raises(EntropyError, match="forked"):
            entropy(16)
