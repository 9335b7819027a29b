"""State in a directory of files: write anew, sync, rename over, sync the directory."""

import os
from errno import ENOENT

from hubbub_client.errors import StateError, StateInUseError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.storage import Counter

try:
    import fcntl

    _LOCKS = True
except ImportError:  # a board, which runs one process, or MicroPython on Unix: docs/ledger.md
    _LOCKS = False

_LOCK = "lock"
_NEW = ".new"
_NO_SPACE = 28  # ENOSPC, which MicroPython's errno does not name
_DESCRIPTORS = hasattr(os, "fsync")

if _DESCRIPTORS:

    def _put(path: str, data: bytes, how: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | how | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        descriptor = os.open(path, flags, 0o600)
        try:
            while data:
                data = data[os.write(descriptor, data) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _sync_directory(path: str) -> None:
        if not hasattr(os, "O_DIRECTORY"):  # Windows: a directory cannot be opened, and renames are journalled
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    _TRUNCATE, _APPEND = os.O_TRUNC, os.O_APPEND
    _rename_over = os.replace
else:  # a board: LittleFS commits a file when it is closed, and renames over atomically; MicroPython on Unix cannot

    def _put(path: str, data: bytes, how: int) -> None:
        with open(path, "ab" if how else "wb") as file:
            if file.write(data) != len(data):
                raise OSError(_NO_SPACE, "the file system is full")
        if hasattr(os, "sync"):
            os.sync()

    def _sync_directory(path: str) -> None:
        """A board's file system has done it."""

    _TRUNCATE, _APPEND = 0, 1
    _rename_over = os.rename


def _exists(path: str) -> bool:
    try:
        os.stat(path)
    except OSError as error:
        if error.errno == ENOENT:
            return False
        raise
    return True


def _make_directory(path: str) -> None:
    """Makes a directory of the owner's, and those above it, durably."""
    if _exists(path):
        return
    above = path.rpartition("/")[0]
    if above:
        _make_directory(above)
    if _DESCRIPTORS:
        os.mkdir(path, 0o700)
    else:
        os.mkdir(path)
    _sync_directory(above or ("/" if path.startswith("/") else "."))


class FileStorage:
    """State in the directory ``path``, which is made (mode 0700) when it is first used. ``counter``: see storage.py.

    The first operation takes a lock on the directory, where the system has such locks; StateInUseError is raised by
    every operation while another process, or another object, holds it, and in a process forked after it was taken.
    Files are readable by their owner only. OSError where the file system refuses; StateError for an empty path.
    """

    def __init__(self, path: str, counter: "Counter | None" = None) -> None:
        self.counter = counter
        self._lock: int | None = None
        self._owner: int | None = None
        self._path = str(path).rstrip("/")
        if not self._path:
            raise StateError("state: the directory has no name; give the client one of its own")

    def read(self, name: str) -> "bytes | None":
        """The bytes of a file, or None."""
        path = self._file(name)
        try:
            with open(path, "rb") as file:
                return file.read()
        except OSError as error:
            if error.errno == ENOENT:
                return None
            raise

    def write(self, name: str, data: bytes) -> None:
        """Replaces a file, atomically and durably."""
        path = self._file(name)
        _put(path + _NEW, data, _TRUNCATE)
        _rename_over(path + _NEW, path)
        _sync_directory(self._path)

    def append(self, name: str, data: bytes) -> None:
        """Adds to the end of a file, durably."""
        path = self._file(name)
        new = not _exists(path)
        _put(path, data, _APPEND)
        if new:
            _sync_directory(self._path)

    def rename(self, old: str, new: str) -> None:
        """Gives a file another name, atomically and durably."""
        _rename_over(self._file(old), self._file(new))
        _sync_directory(self._path)

    def remove(self, name: str) -> None:
        """Deletes a file."""
        os.remove(self._file(name))

    def names(self) -> "list[str]":
        """The files, without the lock and without what a crash left half written."""
        self._own()
        return [name for name in os.listdir(self._path) if name != _LOCK and not name.endswith(_NEW)]

    def close(self) -> None:
        """Gives the directory free. The object may be used again, and then locks it again."""
        if self._lock is not None:
            os.close(self._lock)
        self._lock = self._owner = None

    def __del__(self) -> None:
        self.close()

    def _file(self, name: str) -> str:
        self._own()
        return self._path + "/" + name

    def _own(self) -> None:
        process = os.getpid() if hasattr(os, "getpid") else 1
        if self._owner is None:
            self._take()
            self._owner = process
        elif self._owner != process:
            raise StateInUseError(
                "state %s: it was opened before this process was forked; make a Reporter, with a directory of its own, "
                "in each process" % self._path
            )

    def _take(self) -> None:
        _make_directory(self._path)
        if not _LOCKS:
            return
        descriptor = os.open(self._path + "/" + _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            if not isinstance(error, BlockingIOError):
                raise
            raise StateInUseError(
                "state %s: another process is using it; give each process a directory of its own" % self._path
            ) from None
        self._lock = descriptor
