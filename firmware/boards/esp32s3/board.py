"""ESP32-S3: two Xtensa cores, Wi-Fi on the chip."""

from hubbub_firmware.entropy.raw.esp32 import RadioFed
from hubbub_firmware.networks.wifi import join, station
from hubbub_firmware.storage.nvs import NvsStorage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "esp32s3"
PLATFORM = "esp32"
# What the NVS partition of MicroPython's builds (24 KB, one page kept free) has room for beside Wi-Fi's own entries.
PENDING_BYTES = 6144


def raw_source() -> RadioFed:
    """The hardware generator, with the radio switched on and kept awake: without it there is no noise to read."""
    station(saves_power=False)
    return RadioFed()


def storage() -> NvsStorage:
    """The namespace ``hubbub`` of the NVS partition: apart from the files, and encrypted where NVS is."""
    from esp32 import NVS

    return NvsStorage(NVS("hubbub"))


def connect(settings: "dict[str, Any]") -> None:
    """Joins the Wi-Fi of the settings, and keeps the radio awake. Raises OSError."""
    join(settings, saves_power=False)


def device() -> bytes:
    """The MAC address that the maker burned in, 6 bytes. It does not leave the device: only a hash of it is kept."""
    from machine import unique_id

    number: bytes = unique_id()
    return number
