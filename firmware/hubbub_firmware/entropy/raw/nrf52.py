"""nRF52: the RNG peripheral, with bias correction (product specification, chapter RNG)."""

from hubbub_firmware.entropy.raw.registers import board_registers, wait_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hubbub_firmware.entropy.raw.registers import Registers

_RNG = 0x4000D000
_START = _RNG
_STOP = _RNG + 0x4
_VALUE_READY = _RNG + 0x100
_CONFIG = _RNG + 0x504
_VALUE = _RNG + 0x508


def soft_device_runs() -> bool:
    """Whether Nordic's Bluetooth stack is on; False on a firmware without it."""
    try:
        import ble
    except ImportError:
        return False
    return bool(ble.enabled())


class RandomNumberGenerator:
    """Eight bits a sample, bias corrected by the peripheral: only then does the maker promise uniform values.

    The correction gives nothing where the noise stands still, so a dead source shows as a time-out. While the
    SoftDevice runs, the peripheral is its own, and the source is not ``ready``. 4 bits of entropy a sample: half of
    what the maker states.
    """

    name = "nrf52-rng"
    sample_bits = 8
    entropy_milli = 4000

    def __init__(self, registers: "Registers | None" = None, taken: "Callable[[], bool]" = soft_device_runs) -> None:
        self._registers = registers
        self._taken = taken

    def ready(self) -> bool:
        """Whether the peripheral is not the SoftDevice's."""
        return not self._taken()

    def sample(self, count: int) -> bytes:
        """``count`` samples. Raises OSError where one does not come in time."""
        if self._registers is None:
            self._registers = board_registers()
        registers = self._registers
        registers[_CONFIG] = 1
        registers[_VALUE_READY] = 0
        registers[_START] = 1
        samples = bytearray(count)
        try:
            for i in range(count):
                wait_for(registers, _VALUE_READY, 1, "the RNG")
                registers[_VALUE_READY] = 0
                samples[i] = registers[_VALUE] & 0xFF
        finally:
            registers[_STOP] = 1
        return bytes(samples)
