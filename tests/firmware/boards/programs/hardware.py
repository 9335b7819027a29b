"""Stand-ins for the modules of a port, which note what is asked of them. For both interpreters."""

import sys

touched: "list[str]" = []


class Interface:
    """A WLAN or a LAN that is connected after so many looks; never, with -1."""

    IF_STA = 0
    IF_AP = 1
    PM_NONE = 0
    looks = 2
    is_active = False
    power = 1
    asked: "list[object]" = []

    def __init__(self, which: int = 0) -> None:
        touched.append("interface")
        self._which = which

    def active(self, on: "bool | None" = None) -> "bool | None":
        if on is None:
            return Interface.is_active and self._which == Interface.IF_STA
        Interface.is_active = on
        return None

    def config(self, name: str = "", pm: "int | None" = None) -> int:
        if pm is not None:
            Interface.power = pm
        return Interface.power

    def ipconfig(self, dhcp4: bool = False) -> None:
        Interface.asked.append(dhcp4)

    def connect(self, ssid: str, passphrase: "str | None" = None) -> None:
        Interface.asked.append((ssid, passphrase))

    def disconnect(self) -> None:
        Interface.asked.append("disconnect")

    def isconnected(self) -> bool:
        if Interface.looks > 0:
            Interface.looks -= 1
        return Interface.looks == 0

    def status(self) -> int:
        return 1


class Uart:
    lines: "list[bytes]" = []
    takes = 1000

    def __init__(self, number: int, baudrate: int) -> None:
        touched.append("uart")

    def write(self, line: bytes) -> int:
        Uart.lines.append(line)
        return min(len(line), Uart.takes)


class Machine:
    UART = Uart
    mem32: "dict[int, int]" = {}

    @staticmethod
    def unique_id() -> bytes:
        touched.append("unique_id")
        return b"\x01\x02\x03\x04\x05\x06\x07\x08"


class Network:
    WLAN = Interface
    LAN = Interface


class VfsLfs2:
    pass


class VfsFat:
    pass


class Vfs:
    kind: type = VfsLfs2

    @staticmethod
    def mount() -> "list[tuple[object, str]]":
        touched.append("vfs")
        return [(Vfs.kind(), "/flash"), (Vfs.kind(), "/")]


def install(nvs: type) -> None:
    """Puts the stand-ins in the place of the modules. ``nvs`` is what ``esp32.NVS`` is."""

    class Esp32:
        NVS = nvs

    for name, module in (("machine", Machine), ("network", Network), ("vfs", Vfs), ("esp32", Esp32)):
        sys.modules[name] = module  # type: ignore[assignment]
