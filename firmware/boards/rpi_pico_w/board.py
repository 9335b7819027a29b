"""Raspberry Pi Pico W: an RP2040, and Wi-Fi by a CYW43439."""

from hubbub_firmware.entropy.raw.rp2040 import RingOscillator
from hubbub_firmware.networks.wifi import join
from hubbub_firmware.storage.littlefs import LittleFsStorage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "rpi_pico_w"
PLATFORM = "rp2"


def raw_source() -> RingOscillator:
    """The ring oscillator: ``os.urandom`` of this port is no cryptographic generator."""
    return RingOscillator()


def storage() -> LittleFsStorage:
    """A directory on the board's LittleFS."""
    return LittleFsStorage("/hubbub")


def connect(settings: "dict[str, Any]") -> None:
    """Joins the Wi-Fi of the settings. Raises OSError."""
    join(settings)


def device() -> bytes:
    """The 8 bytes of the flash chip's number."""
    from machine import unique_id

    number: bytes = unique_id()
    return number
