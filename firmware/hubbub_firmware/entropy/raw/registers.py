"""A board's registers, 32 bits each, and a wait for one of them that ends."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Registers(Protocol):
        """Address -> 32 bits, as ``machine.mem32``."""

        def __getitem__(self, __address: int) -> int: ...
        def __setitem__(self, __address: int, __value: int) -> None: ...


# ETIMEDOUT, which not every board's errno names. Each try takes some microseconds, so this is a fraction of a second,
# a hundred times what the slowest source takes for a sample.
_TIMED_OUT = 110
_TRIES = 20000
EIO = 5


def board_registers() -> "Registers":
    """``machine.mem32`` of the board this runs on. Raises ImportError elsewhere."""
    from machine import mem32

    return mem32  # type: ignore[no-any-return]


def wait_for(registers: "Registers", address: int, bits: int, what: str) -> None:
    """Waits until one of ``bits`` of the register is set. Raises OSError where that does not happen."""
    for _ in range(_TRIES):
        if registers[address] & bits:
            return
    raise OSError(_TIMED_OUT, what + " gave nothing in time")
