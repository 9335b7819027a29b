"""RP2350: the TRNG block, with its own whitening and tests bypassed (datasheet, section 12.12)."""

from hubbub_firmware.entropy.raw.registers import EIO, board_registers, wait_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_firmware.entropy.raw.registers import Registers

_TRNG = 0x400F0000
_CLEAR = _TRNG + 0x108
_CHAIN = _TRNG + 0x10C
_VALID = _TRNG + 0x110
_DATA = _TRNG + 0x114
_ENABLE = _TRNG + 0x12C
_SAMPLE_COUNT = _TRNG + 0x130
_DEBUG = _TRNG + 0x138
_RESET_COUNTER = _TRNG + 0x1BC
_RESETS_CLEAR = 0x40020000 + 0x3000
_RESETS_DONE = 0x40020000 + 0x8
_RESET_TRNG = 1 << 25

# Balancer, repeated-block test and autocorrelation test: whatever a test of ours sees must be raw.
_BYPASS_ALL = 0xE
# System clocks between two samples: at least 17 with the balancer bypassed, and the datasheet says more is better.
_CLOCKS = 100
_BLOCK_WORDS = 6
_BLOCK_BITS = 32 * _BLOCK_WORDS
_TRIES = 4


class TrngBlock:
    """One bit a sample. 0.5 bits of entropy in each: the maker states no figure, and calls such samples good but not
    free of failed tests; half is what is left after a correlation far worse than any that was published.
    """

    name = "rp2350-trng"
    sample_bits = 1
    entropy_milli = 500

    def __init__(self, registers: "Registers | None" = None) -> None:
        self._registers = registers

    def ready(self) -> bool:
        """Always: the block needs no condition."""
        return True

    def sample(self, count: int) -> bytes:
        """``count`` samples of one bit. Raises OSError where the block stays in reset, or collects nothing."""
        if self._registers is None:
            self._registers = board_registers()
        registers = self._registers
        registers[_RESETS_CLEAR] = _RESET_TRNG
        wait_for(registers, _RESETS_DONE, _RESET_TRNG, "the TRNG's reset")
        samples = bytearray(count)
        try:
            for start in range(0, count, _BLOCK_BITS):
                block = _collected(registers)
                for i in range(min(_BLOCK_BITS, count - start)):
                    samples[start + i] = (block[i >> 5] >> (i & 31)) & 1
        finally:
            registers[_ENABLE] = 0
        return bytes(samples)


def _collected(registers: "Registers") -> "list[int]":
    """Six words of raw samples.

    The port's own generator uses the block as well, from interrupts, with settings of its own: what was collected
    under those is thrown away.
    """
    for _ in range(_TRIES):
        registers[_ENABLE] = 0
        registers[_RESET_COUNTER] = 1
        registers[_CLEAR] = 0xF
        registers[_CHAIN] = 0
        registers[_DEBUG] = _BYPASS_ALL
        registers[_SAMPLE_COUNT] = _CLOCKS
        registers[_ENABLE] = 1
        wait_for(registers, _VALID, 1, "the TRNG")
        words = [registers[_DATA + 4 * i] for i in range(_BLOCK_WORDS)]
        if registers[_SAMPLE_COUNT] == _CLOCKS:
            return words
    raise OSError(EIO, "the TRNG is set differently again and again")
