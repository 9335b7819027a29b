"""A simulated flash of 4096-byte blocks for MicroPython's own LittleFS. Every program and erasure is kept, in order.

Programs may only clear bits, as in NOR flash: one that would set a bit is a fault of the file system, and raises.
"""

BLOCK = 4096


class Flash:
    """``blocks`` blocks, erased, or the bytes ``data``. ``log`` holds (block, offset, bytes) or (block, None, None)."""

    def __init__(self, blocks: int, data: "bytes | None" = None) -> None:
        self.data = bytearray(b"\xff" * (blocks * BLOCK) if data is None else data)
        self.log: list[tuple[int, int | None, bytes | None]] = []
        self.keeps = True
        self.programs = 0
        self.erasures = 0
        self.erased = [0] * (len(self.data) // BLOCK)

    def readblocks(self, block: int, buffer: bytearray, offset: int = 0) -> None:
        at = block * BLOCK + offset
        buffer[:] = self.data[at : at + len(buffer)]

    def writeblocks(self, block: int, buffer: bytes, offset: int = 0) -> None:
        self.programs += 1
        if self.keeps:
            self.log.append((block, offset, bytes(buffer)))
        self.program(block, offset, buffer)

    def program(self, block: int, offset: int, buffer: bytes) -> None:
        at = block * BLOCK + offset
        if bytes(self.data[at : at + len(buffer)]) != b"\xff" * len(buffer):
            raise AssertionError("programmed without an erasure")
        self.data[at : at + len(buffer)] = buffer

    def erase(self, block: int, size: int = BLOCK) -> None:
        self.data[block * BLOCK : block * BLOCK + size] = b"\xff" * size

    def ioctl(self, operation: int, argument: int) -> "int | None":
        if operation == 4:
            return len(self.data) // BLOCK
        if operation == 5:
            return BLOCK
        if operation == 6:
            self.erasures += 1
            self.erased[argument] += 1
            if self.keeps:
                self.log.append((argument, None, None))
            self.erase(argument)
            return 0
        return 0 if operation == 3 else None


def redo(flash: Flash, entry: "tuple[int, int | None, bytes | None]", half: bool = False) -> None:
    """Does one program or erasure of a log again, or the first half of it."""
    block, offset, data = entry
    if offset is None or data is None:
        flash.erase(block, BLOCK // 2 if half else BLOCK)
    else:
        flash.program(block, offset, data[: len(data) // 2] if half else data)
