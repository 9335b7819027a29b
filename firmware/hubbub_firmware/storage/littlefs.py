"""State in a directory on LittleFS, which commits a file when it is closed and renames over another one atomically."""

import os

from hubbub_client.errors import StateError
from hubbub_client.file_storage import FileStorage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.storage import Counter

_LITTLE = ("VfsLfs1", "VfsLfs2")
_NEW = ".new"


class LittleFsStorage(FileStorage):
    """State in the directory ``path``, made when it is first used; reports are joined with what they cost (journal.py).

    Raises StateError where ``path`` lies on another file system: FAT neither survives a power cut nor renames over a
    file. OSError(ENOSPC) from ``write`` and ``append`` where flash is full; what was there before is still there.
    """

    journal = True

    def __init__(self, path: str, counter: "Counter | None" = None) -> None:
        FileStorage.__init__(self, path, counter)
        kind = file_system_of(path)
        if kind is not None and kind not in _LITTLE:
            raise StateError(
                "state %s: it lies on %s, which a power cut can damage; format the flash with LittleFS (docs/boards.md)"
                % (path, kind)
            )

    def write(self, name: str, data: bytes) -> None:
        """Replaces a file, atomically and durably. A part that did not fit is removed, to give its space free."""
        try:
            FileStorage.write(self, name, data)
        except OSError:
            self._forget(name)
            raise

    def _forget(self, name: str) -> None:
        try:
            os.remove(self._path + "/" + name + _NEW)
        except OSError:  # there is none, or it cannot be removed now; the next write takes its place
            pass


def file_system_of(path: str) -> "str | None":
    """The kind of file system that ``path`` is mounted from; None where the interpreter does not tell."""
    try:
        import vfs
    except ImportError:  # CPython, whose file systems FileStorage knows how to sync
        return None
    try:
        mounts = vfs.mount()
    except TypeError:  # before MicroPython 1.25
        return None
    best, kind = "", None
    for system, point in mounts:
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, type(system).__name__
    return kind
