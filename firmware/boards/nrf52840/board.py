"""nRF52840: no IP network of its own. Reports leave as frames, over a UART to a gateway or to a radio."""

import sys
from binascii import hexlify

from hubbub_firmware.entropy.raw.nrf52 import RandomNumberGenerator
from hubbub_firmware.storage.littlefs import LittleFsStorage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "nrf52840"
# Each board of the port has one of its own, such as nrf52840-PDK.
PLATFORM = sys.platform if sys.platform.startswith("nrf52") else "nrf52"

_BAUD = 115200
_IO_ERROR = 5
_uart: "list[Any]" = []


def raw_source() -> RandomNumberGenerator:
    """The RNG with bias correction. It is Nordic's while their Bluetooth stack is on, and then not to be read."""
    return RandomNumberGenerator()


def storage() -> LittleFsStorage:
    """A directory on the flash. Raises StateError where that is FAT."""
    return LittleFsStorage("/flash/hubbub")


def connect(settings: "dict[str, Any]") -> None:
    """Nothing to join: a frame leaves by itself."""


def send_frame(frame: bytes) -> None:
    """Writes a frame as a line of hexadecimal to the UART, for a FrameTransport. Raises OSError where that fails."""
    if not _uart:
        from machine import UART

        _uart.append(UART(0, baudrate=_BAUD))
    line = hexlify(frame) + b"\n"
    if _uart[0].write(line) != len(line):
        raise OSError(_IO_ERROR, "the UART did not take the frame")


def device() -> bytes:
    """The 8 bytes of the chip's number."""
    from machine import unique_id

    number: bytes = unique_id()
    return number
