"""MicroPython on Linux, as a board: for trying out, for tests, and for gateways that run it."""

from hubbub_client.file_storage import FileStorage
from hubbub_firmware.entropy.raw.system import SystemSource

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "unix"
PLATFORM = "linux"


def raw_source() -> SystemSource:
    """The operating system's generator, which the trust table trusts; it goes through the same tests and DRBG."""
    return SystemSource()


def storage() -> FileStorage:
    """A directory below the one the program runs in."""
    return FileStorage("state")


def connect(settings: "dict[str, Any]") -> None:
    """The system has a network, or none."""


def device() -> bytes:
    """Nothing that tells this machine from another: it would outlive an opt-out, and its files are safe as it is."""
    return b""
