"""What the LittleFS programs share: a mounted flash, a reporter on it, and a collector that remembers."""

import vfs

from hubbub_client import Answer, Plan, Reporter
from hubbub_client.frames import parse
from hubbub_client.report_files import PENDING, fate_of
from hubbub_firmware.storage.littlefs import LittleFsStorage

from tests.firmware.storage.programs.block_device import Flash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

NOW = 1_800_000_000
DAY = 86_400
WHERE = "/flash"


def mount(flash: Flash, kind: str = "VfsLfs2:256", make: bool = False) -> None:
    """Mounts a flash, in the place of the one before. ``kind`` ends with the bytes of a program: 256 as rp2 has it."""
    name, _, bytes_of = kind.partition(":")
    system, size = getattr(vfs, name), int(bytes_of)
    for _, point in vfs.mount():
        if point == WHERE:
            vfs.umount(WHERE)
    if make:
        system.mkfs(flash, progsize=size)
    vfs.mount(system(flash, progsize=size), WHERE)


class Collector:
    """Takes everything; ``bodies`` are (what ``moment()`` gave then, body)."""

    def __init__(self, moment: "Callable[[], int]") -> None:
        self.bodies: list[tuple[int, bytes]] = []
        self._moment = moment

    def send(self, body: bytes) -> Answer:
        self.bodies.append((self._moment(), body))
        return Answer(200)


def reporter_on(
    storage: LittleFsStorage, plan: Plan, collector: Collector, day: int = 0, limit: int = 4096
) -> Reporter:
    return Reporter(
        plan, storage, collector, limit, clock=lambda: NOW + day * DAY, sleep=lambda _: None, device=b"board"
    )


def state() -> LittleFsStorage:
    return LittleFsStorage(WHERE + "/hubbub")


def waiting(storage: LittleFsStorage) -> "list[str]":
    """The records, as hex, that a flush would send."""
    return [
        report.record.hex()
        for name in storage.names()
        if fate_of(name) in PENDING
        for report in parse(storage.read(name) or b"")[0]
    ]
