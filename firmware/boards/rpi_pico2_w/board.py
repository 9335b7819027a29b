"""Raspberry Pi Pico 2 W: an RP2350, and Wi-Fi by a CYW43439."""

from hubbub_firmware.entropy.raw.rp2350 import TrngBlock
from hubbub_firmware.networks.wifi import join
from hubbub_firmware.storage.littlefs import LittleFsStorage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "rpi_pico2_w"
PLATFORM = "rp2"


def raw_source() -> TrngBlock:
    """The TRNG, read sample by sample: ``os.urandom`` of this port is no cryptographic generator."""
    return TrngBlock()


def storage() -> LittleFsStorage:
    """A directory on the board's LittleFS."""
    return LittleFsStorage("/hubbub")


def connect(settings: "dict[str, Any]") -> None:
    """Joins the Wi-Fi of the settings. Raises OSError."""
    join(settings)


def device() -> bytes:
    """The number of the chip, 8 bytes."""
    from machine import unique_id

    number: bytes = unique_id()
    return number
