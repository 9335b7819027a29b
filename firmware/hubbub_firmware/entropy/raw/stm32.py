"""STM32: the RNG peripheral, whose errors are looked at (reference manuals, chapter RNG)."""

from os import urandom

from hubbub_firmware.entropy.raw.registers import EIO, board_registers, wait_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hubbub_firmware.entropy.raw.registers import Registers

_STATUS = 4
_DATA = 8
_READY = 1
# Seed and clock errors, the present ones and those that were latched: SECS, CECS, SEIS, CEIS.
_ERRORS = 0x66
# What the manuals tell to throw away after the latches were cleared.
_STALE = 12


class RandomNumberGenerator:
    """Eight bits a sample, four samples in a word. ``base`` is the peripheral's address, ``stm.RNG`` by default.

    ``wake`` makes the port feed the peripheral's clock, which differs from family to family: one call of its own
    ``os.urandom``, whose result nobody uses. 4 bits of entropy a sample: half of what the maker states.
    """

    name = "stm32-rng"
    sample_bits = 8
    entropy_milli = 4000

    def __init__(
        self,
        registers: "Registers | None" = None,
        base: "int | None" = None,
        wake: "Callable[[int], object]" = urandom,
    ) -> None:
        self._registers = registers
        self._base = base
        self._wake = wake
        self._last: int | None = None

    def ready(self) -> bool:
        """Always: the peripheral needs no condition."""
        return True

    def sample(self, count: int) -> bytes:
        """``count`` samples. Raises OSError for a seed or clock error, a time-out, a zero, or a word that repeats."""
        if self._last is None:
            self._start()
        samples = bytearray()
        while len(samples) < count:
            samples += self._word().to_bytes(4, "little")
        return bytes(samples[:count])

    def _start(self) -> None:
        self._wake(1)
        if self._registers is None:
            self._registers = board_registers()
        if self._base is None:
            import stm

            self._base = stm.RNG
        self._registers[self._base + _STATUS] = 0  # latches of what happened while the clocks were being set
        for _ in range(_STALE):
            self._word()

    def _word(self) -> int:
        registers: Registers = self._registers  # type: ignore[assignment]
        base: int = self._base  # type: ignore[assignment]
        wait_for(registers, base + _STATUS, _READY | _ERRORS, "the RNG")
        if registers[base + _STATUS] & _ERRORS:
            raise OSError(EIO, "the RNG reports a seed or clock error")
        word = registers[base + _DATA]
        # An error between the two readings shows as a zero. True noise does either once in 2**32 words.
        if not word or word == self._last:
            raise OSError(EIO, "the RNG gave a zero, or one word twice")
        self._last = word
        return word
