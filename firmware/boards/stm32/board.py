"""STM32 (F4, F7, L4, H7 and others) with Ethernet on the board, or any network that is handed over with ``use``."""

from os import statvfs

from hubbub_client.errors import StateError
from hubbub_firmware.entropy.raw.stm32 import RandomNumberGenerator
from hubbub_firmware.networks.ethernet import plug_in
from hubbub_firmware.storage.littlefs import LittleFsStorage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "stm32"
PLATFORM = "pyboard"

_MOUNT = "/flash"
# What an SPI flash erases at once. The port's driver of the internal flash takes blocks of 512 bytes, and rewrites a
# whole sector, up to 128 KB, for each: a cut in between loses all that lies in it, the ledger with the rest.
_ERASE_BYTES = 4096

_handed_over: "list[Any]" = []


def raw_source() -> RandomNumberGenerator:
    """The RNG with its error flags: ``os.urandom`` of this port gives zeros where it times out."""
    return RandomNumberGenerator()


def storage() -> LittleFsStorage:
    """A directory on an external flash with LittleFS. Raises StateError for the internal one, and for FAT."""
    if statvfs(_MOUNT)[0] < _ERASE_BYTES:
        raise StateError(
            "state %s: the internal flash loses a whole sector when the power is cut; use a board with an SPI flash"
            % _MOUNT
        )
    return LittleFsStorage(_MOUNT + "/hubbub")


def use(interface: "Any") -> None:
    """Uses this network in place of the board's: ``network.WIZNET5K(spi, cs, reset)`` with pins of yours, say."""
    _handed_over[:] = [interface]


def connect(settings: "dict[str, Any]") -> None:
    """Brings the network up. Raises OSError where there is none, or where it does not come up in time."""
    if not _handed_over:
        try:
            from network import LAN
        except ImportError:
            raise OSError(19, "this board has no Ethernet; hand a network over with board.use(...)") from None
        use(LAN())
    plug_in(_handed_over[0], settings["timeout"])


def device() -> bytes:
    """The 12 bytes that the maker gave the chip."""
    from machine import unique_id

    number: bytes = unique_id()
    return number
