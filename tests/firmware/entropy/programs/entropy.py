"""The whole way from noise to random bytes on this interpreter. Arguments: CLIENT FIRMWARE VECTORS (a case a line)."""

import json
import sys

sys.path.insert(0, sys.argv[1])
sys.path.insert(0, sys.argv[2])

from hashlib import sha256

from hubbub_client.errors import EntropyError
from hubbub_client.storage import MemoryStorage
from hubbub_firmware.entropy import open_entropy
from hubbub_firmware.entropy.drbg import HmacDrbg
from hubbub_firmware.entropy.raw.nrf52 import RandomNumberGenerator as Nrf
from hubbub_firmware.entropy.raw.rp2040 import RingOscillator
from hubbub_firmware.entropy.raw.rp2350 import TrngBlock
from hubbub_firmware.trouble import Troubles

with open(sys.argv[3]) as lines:
    for line in lines:
        case = [bytes.fromhex(text) for text in json.loads(line)]
        drbg = HmacDrbg(case[0], case[1], case[2])
        drbg.reseed(case[3], case[4])
        drbg.generate(len(case[7]), case[5])
        assert drbg.generate(len(case[7]), case[6]) == case[7]


class Noise:
    """Bits that are the same in each run, different for each ``seed``, and 0 from sample ``dead`` on."""

    name = "rp2040-rosc"
    sample_bits = 1
    entropy_milli = 500

    def __init__(self, seed: int, dead: int = 1 << 30) -> None:
        self.seed = seed
        self.dead = dead
        self.taken = 0

    def ready(self) -> bool:
        """Always."""
        return True

    def sample(self, count: int) -> bytes:
        """Bits."""
        samples = bytearray(count)
        for i in range(count):
            at = self.taken + i
            if at % 256 == 0 or i == 0:
                digest = sha256(b"%d %d" % (self.seed, at // 256)).digest()
            if at < self.dead:
                samples[i] = digest[at // 8 % 32] >> (at % 8) & 1
        self.taken += count
        return bytes(samples)


class Repeating(Noise):
    """The same 600 bits, again and again."""

    def sample(self, count: int) -> bytes:
        """Bits."""
        self.taken %= 600
        piece = Noise(3).sample(600)
        return (piece + piece + piece)[self.taken : self.taken + count]


def refused(raw: "Noise", storage: "MemoryStorage", words: str, platform: str = "rp2") -> None:
    """Raises AssertionError unless a boot is refused with these words."""
    try:
        open_entropy(raw, storage, platform, (1, 28, 0))
    except EntropyError as error:
        assert words in str(error), str(error)
        return
    raise AssertionError(words)


output = sha256()
storage = MemoryStorage()
for boot in range(3):
    entropy = open_entropy(Noise(boot), storage, "rp2", sys.implementation, b"this board")
    for count in (1, 32, 1000, 0, 65):
        output.update(entropy(count))
    output.update(entropy.fresh(16))
output.update(storage.files["entropy-seed"] + storage.files["entropy-boots"])

refused(Noise(1), storage, "noise of an earlier boot")
refused(Noise(9, 0), storage, "stuck")
refused(Noise(9, 1500), storage, "stuck")
refused(Repeating(9), storage, "repeats itself")
refused(Noise(9), storage, "not to be used on webassembly", "webassembly")
storage.files["entropy-seed"] = storage.files["entropy-seed"][:-1]
entropy = open_entropy(Noise(10, 5000), storage, "rp2", "1.28.0")
for _ in range(2):
    try:
        entropy.fresh(1)
    except EntropyError as error:
        assert "until the next boot" in str(error)
    else:
        raise AssertionError
assert Troubles(storage).counts() == {"entropy": 5, "entropy-repeat": 1, "state-damaged": 1}


class Memory:
    """Registers that say yes to everything, and whose other bits come from a hash."""

    def __init__(self) -> None:
        self.reads = 0

    def __getitem__(self, address: int) -> int:
        self.reads += 1
        if address == 0x400F0130:  # the TRNG's sample count, as it was set
            return 100
        if address in (0x40060018, 0x40020008, 0x400F0110, 0x4000D100):  # what is looked at before
            return 0xFFFFFFFF
        return int.from_bytes(sha256(b"%d" % self.reads).digest()[:4], "big")

    def __setitem__(self, address: int, value: int) -> None:
        assert 0 <= value <= 0xFFFFFFFF


for raw, platform in (
    (RingOscillator(Memory(), 2), "rp2"), (TrngBlock(Memory()), "rp2"), (Nrf(Memory(), bool), "nrf52"),
):  # fmt: skip
    output.update(open_entropy(raw, MemoryStorage(), platform, "1.28.0")(32))
print("".join(["%02x" % byte for byte in output.digest()]))
