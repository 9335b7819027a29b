"""State in the non-volatile storage of an ESP32, whose keys have 15 characters and whose sets are atomic one by one.

A file has a slot. Its label, the key ``n<slot>``, holds a version (4 bytes) and its name; its content lies in segments,
the keys ``<slot>.<0, 1, ...>``, as many as follow one another. So an append is one new segment, a rename one new label,
and a short file is replaced by one set; a longer one is written into a free slot and then labelled. Where a power cut
leaves two labels with one name the higher version holds. Segments without a label are what a cut left: no file, and
removed, the last one first, so that none is ever taken for a part of the slot's next file.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from hubbub_client.storage import Counter

    class Nvs(Protocol):
        """What is used of ``esp32.NVS``."""

        def set_blob(self, key: str, value: bytes) -> None: ...  # noqa: D102
        def get_blob(self, key: str, buffer: bytearray) -> int: ...  # noqa: D102
        def erase_key(self, key: str) -> None: ...  # noqa: D102
        def commit(self) -> None: ...  # noqa: D102


SLOTS = 64
SEGMENT_BYTES = 1024
_VERSION_BYTES = 4
_NO_ENTRY = 2  # ENOENT
_NO_SPACE = 28  # ENOSPC, which MicroPython's errno does not name
# ESP-IDF's nvs.h; MicroPython raises OSError with the negative of them.
_NOT_FOUND = -0x1102
_FULL = (-0x1105, -0x110D)  # NOT_ENOUGH_SPACE, NO_FREE_PAGES


class _File:
    def __init__(self, slot: int, version: int, segments: int) -> None:
        self.slot = slot
        self.version = version
        self.segments = segments


class NvsStorage:
    """State in ``nvs``, an ``esp32.NVS`` of a namespace of its own. Reports are joined with what they cost: journal.py.

    At most ``SLOTS`` files. Raises OSError(ENOSPC) where the partition or the slots are full, and OSError as ESP-IDF
    gives it; everything is then read again before it is next used.
    """

    journal = True

    def __init__(self, nvs: "Nvs", counter: "Counter | None" = None) -> None:
        self.counter = counter
        self._nvs = nvs
        self._buffer = bytearray(SEGMENT_BYTES)
        self._files: dict[str, _File] | None = None

    def read(self, name: str) -> "bytes | None":
        """The bytes of a file, or None."""
        file = self._open().get(name)
        if file is None:
            return None
        return b"".join([self._get(_segment(file.slot, at)) or b"" for at in range(file.segments)])

    def write(self, name: str, data: bytes) -> None:
        """Replaces a file, atomically and durably."""
        file = self._open().get(name)
        if file is not None and file.segments <= 1 and 0 < len(data) <= SEGMENT_BYTES:
            self._set(_segment(file.slot, 0), data)
            file.segments = 1
        else:
            self._create(name, data)

    def append(self, name: str, data: bytes) -> None:
        """Adds to the end of a file, durably: one set for each ``SEGMENT_BYTES``, one more where the file is new."""
        file = self._open().get(name)
        if file is None:
            self._create(name, data)
        else:
            self._fill(file, data)

    def rename(self, old: str, new: str) -> None:
        """Gives a file another name, atomically and durably."""
        files = self._open()
        if old not in files:
            raise OSError(_NO_ENTRY, "there is no " + old)
        file, over = files[old], files.get(new)
        self._label(file, new)
        del files[old]
        files[new] = file
        if over is not None and over is not file:
            self._drop(over)

    def remove(self, name: str) -> None:
        """Deletes a file."""
        files = self._open()
        if name not in files:
            raise OSError(_NO_ENTRY, "there is no " + name)
        self._drop(files.pop(name))

    def names(self) -> "list[str]":
        """All names."""
        return list(self._open())

    def close(self) -> None:
        """Reads everything again if it is used again."""
        self._files = None

    def _open(self) -> "dict[str, _File]":
        if self._files is None:
            files: dict[str, _File] = {}
            for slot in range(SLOTS):
                label = self._get("n%x" % slot)
                if label is None:
                    self._reclaim(slot)
                    continue
                name = label[_VERSION_BYTES:].decode()
                file = _File(slot, int.from_bytes(label[:_VERSION_BYTES], "big"), self._count(slot))
                other = files.get(name)
                if other is None or other.version < file.version:
                    files[name], file = file, other  # type: ignore[assignment]
                if file is not None:
                    self._drop(file)
            self._files = files
        return self._files

    def _create(self, name: str, data: bytes) -> None:
        files = self._open()
        taken = [file.slot for file in files.values()]
        free = [slot for slot in range(SLOTS) if slot not in taken]
        if not free:
            raise OSError(_NO_SPACE, "there are as many files as there are slots")
        self._reclaim(free[0])
        file, over = _File(free[0], 0, 0), files.get(name)
        self._fill(file, data)
        self._label(file, name)
        files[name] = file
        if over is not None:
            self._drop(over)

    def _fill(self, file: _File, data: bytes) -> None:
        for start in range(0, len(data), SEGMENT_BYTES):
            self._set(_segment(file.slot, file.segments), data[start : start + SEGMENT_BYTES])
            file.segments += 1

    def _label(self, file: _File, name: str) -> None:
        version = 1 + max([0] + [other.version for other in self._open().values()])
        self._set("n%x" % file.slot, version.to_bytes(_VERSION_BYTES, "big") + name.encode())
        file.version = version

    def _drop(self, file: _File) -> None:
        self._erase("n%x" % file.slot)
        self._reclaim(file.slot)

    def _reclaim(self, slot: int) -> None:
        for at in reversed(range(self._count(slot))):
            self._erase(_segment(slot, at))

    def _count(self, slot: int) -> int:
        at = 0
        while self._get(_segment(slot, at)) is not None:
            at += 1
        return at

    def _get(self, key: str) -> "bytes | None":
        try:
            return bytes(self._buffer[: self._nvs.get_blob(key, self._buffer)])
        except OSError as error:
            if error.errno == _NOT_FOUND:
                return None
            raise

    def _set(self, key: str, value: bytes) -> None:
        try:
            self._nvs.set_blob(key, value)
            self._nvs.commit()
        except OSError as error:
            self._files = None
            if error.errno in _FULL:
                raise OSError(_NO_SPACE, "the NVS partition is full") from None
            raise

    def _erase(self, key: str) -> None:
        try:
            self._nvs.erase_key(key)
            self._nvs.commit()
        except OSError:
            self._files = None
            raise


def _segment(slot: int, at: int) -> str:
    return "%x.%x" % (slot, at)
