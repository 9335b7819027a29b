"""RP2040: the random bit of the ring oscillator (datasheet, section 2.17.5)."""

from hubbub_firmware.entropy.raw.registers import board_registers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_firmware.entropy.raw.registers import Registers

_STATUS = 0x40060018
_RANDOM_BIT = 0x4006001C
_RUNNING = 0x80001000  # STABLE and ENABLED


class RingOscillator:
    """One bit a sample; of each ``decimation`` readings the last is taken.

    The datasheet promises nothing, and the bit repeats itself where it is read faster than the oscillator drifts. A
    reading from Python takes about 5 us, so eight of them leave some hundred cycles of the oscillator between samples.
    0.5 bits a sample: published readings show 55 % zeros, which is 0.86 bits, and correlation takes some off that.
    """

    name = "rp2040-rosc"
    sample_bits = 1
    entropy_milli = 500

    def __init__(self, registers: "Registers | None" = None, decimation: int = 8) -> None:
        self._registers = registers
        self._decimation = decimation

    def ready(self) -> bool:
        """Whether the oscillator runs: a program may have stopped it to save power."""
        return self._open()[_STATUS] & _RUNNING == _RUNNING

    def sample(self, count: int) -> bytes:
        """``count`` samples of one bit."""
        registers, skipped = self._open(), range(self._decimation - 1)
        samples = bytearray(count)
        for i in range(count):
            for _ in skipped:
                registers[_RANDOM_BIT]
            samples[i] = registers[_RANDOM_BIT] & 1
        return bytes(samples)

    def _open(self) -> "Registers":
        if self._registers is None:
            self._registers = board_registers()
        return self._registers
