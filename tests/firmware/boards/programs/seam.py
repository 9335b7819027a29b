"""Imports a board and asks for everything that the main loop asks for. Arguments: PATHS BOARD FOLDER SOURCE."""

import json
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

sys.path[:0] = json.loads(sys.argv[1]) + [sys.argv[3]]

from tests.firmware.boards.programs.hardware import Interface, Uart, Vfs, VfsFat, install, touched  # noqa: E402
from tests.firmware.storage.fake_nvs import FakeNvs  # noqa: E402

name, source = sys.argv[2], sys.argv[4]
spaces: "list[str]" = []


class Nvs(FakeNvs):
    def __init__(self, namespace: str) -> None:
        touched.append("nvs")
        spaces.append(namespace)
        FakeNvs.__init__(self)


install(Nvs)

from hubbub_client.errors import StateError  # noqa: E402
from hubbub_firmware.entropy.trust import check_trust  # noqa: E402

board: "Any" = __import__("board")
assert name == board.NAME
assert touched == [], "importing it touches the hardware"

raw = board.raw_source()
assert raw.name == source
assert 1 <= raw.sample_bits <= 8 and 0 < raw.entropy_milli <= 1000 * raw.sample_bits
check_trust(raw, board.PLATFORM, (1, 29, 0))
assert board.device() == b"\x01\x02\x03\x04\x05\x06\x07\x08"

if name == "stm32":
    board.statvfs = lambda path: (512,)
    try:
        board.storage()
    except StateError as error:
        assert "sector" in str(error)
    else:
        raise AssertionError("a flash that loses whole sectors is taken")
    board.statvfs = lambda path: (4096,)
storage = board.storage()
assert storage.journal
if name.startswith("esp32"):
    assert spaces == ["hubbub"]
    assert raw.ready() and Interface.is_active and Interface.power == Interface.PM_NONE
    storage.write("ledger", b"x")
    assert storage.read("ledger") == b"x" and storage.names() == ["ledger"]
    assert board.PENDING_BYTES < 5 * 126 * 32 // 2
else:
    Vfs.kind = VfsFat
    try:
        board.storage()
    except StateError as error:
        assert "LittleFS" in str(error)
    else:
        raise AssertionError("FAT is taken")

settings = {"ssid": "net", "passphrase": "secret", "timeout": 3}


def refused(word: str) -> None:
    """Connecting fails with an OSError that has ``word`` in its text and no name of a network."""
    try:
        board.connect(settings)
    except OSError as error:
        assert word in str(error) and "net" not in str(error).split() and "secret" not in str(error), error
    else:
        raise AssertionError("it connected")


if name == "nrf52840":
    board.connect(settings)
    board.send_frame(b"\x00\xff\x10")
    assert Uart.lines == [b"00ff10\n"]
    Uart.takes = 3
    try:
        board.send_frame(b"\x00\xff\x10")
    except OSError:
        pass
    else:
        raise AssertionError("half a frame is taken for one")
else:
    request = True if name == "stm32" else ("net", "secret")
    board.connect(settings)
    assert Interface.asked == [request] and Interface.is_active
    board.connect(settings)
    assert Interface.asked == [request], "it connects again"
    Interface.looks, Interface.asked = -1, []
    settings["timeout"] = 0
    refused("no connection within 0 s, status 1")
    if name == "stm32":
        own = Interface()
        own.isconnected = lambda: True  # type: ignore[method-assign]
        board.use(own)
        board.connect(settings)
    else:
        assert Interface.asked == [request, "disconnect"]
        Interface.looks, Interface.asked, settings["passphrase"] = 2, [], ""
        board.connect(settings)
        assert Interface.asked == [("net", None)], "an open network"
        Interface.looks, settings["ssid"] = -1, ""
        refused("ssid")
print("ok")
