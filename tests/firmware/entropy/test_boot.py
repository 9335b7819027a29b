from __future__ import annotations

from hashlib import sha256

import pytest

from hubbub_client import MemoryStorage
from hubbub_firmware.entropy import EntropyRefusal
from hubbub_firmware.entropy.boots import BOOTS, SEED
from hubbub_firmware.entropy.drbg import HmacDrbg
from hubbub_firmware.trouble import Troubles

from tests.firmware.entropy.noise import Noise, opened, stuck_from


def blocks_of(raw: Noise) -> list[bytes]:
    """The three blocks of a boot: each a hash of 1,280 samples, after the 1,024 of the start-up."""
    raw.sample(1024)
    return [sha256(b"hubbub noise" + raw.sample(1280)).digest() for _ in range(3)]


def file(name: str, body: bytes) -> bytes:
    return b"\x01" + body + sha256(name.encode() + b"\x01" + body).digest()[:16]


def test_bytes_and_files_are_what_the_construction_says() -> None:
    """Computed by hand from the noise of two boots: all that is given out, and all that is stored."""
    storage = MemoryStorage()
    digests, seed = b"", b""
    for number in (1, 2, 3):
        noise, nonce, third = blocks_of(Noise(number))
        before = (number - 1).to_bytes(4, "big")
        drbg = HmacDrbg(noise, nonce, b"hubbub board" + before + sha256(seed).digest() + b"this board")
        seed = sha256(b"hubbub seed" + drbg.generate(32) + third).digest()
        digests += sha256(b"hubbub boot" + noise).digest()[:8]
        entropy = opened(Noise(number), storage, b"this board")
        assert storage.files == {
            BOOTS: file(BOOTS, number.to_bytes(4, "big") + digests),
            SEED: file(SEED, number.to_bytes(4, "big") + seed),
        }
        assert entropy(100) == drbg.generate(100)
        assert entropy(0) == b""


@pytest.mark.parametrize("dies_at", [0, 1000, 1024, 1500, 1024 + 1280, 1024 + 2 * 1280, 1024 + 3 * 1280 - 45])
def test_noise_that_dies_in_a_boot_ends_it(dies_at: int) -> None:
    """Wherever the source stands still, up to the last run that is long enough: nothing is stored but the count."""
    storage = MemoryStorage()
    with pytest.raises(EntropyRefusal, match="no random bytes on this boot: ") as caught:
        opened(Noise(1, change=stuck_from(dies_at)), storage)
    assert caught.value.trouble == "entropy"
    assert Troubles(storage).counts() == {"entropy": 1}
    assert BOOTS not in storage.files or dies_at > 1024 + 2 * 1280
    assert SEED not in storage.files
