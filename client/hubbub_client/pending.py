"""Reports on their way: appended to an open file, closed by a rename, and sent from there, never changed again.

``open-<number>-<id>`` and ``upload-<number>-<id>``: the number tells the oldest, and stays on the device; the id is
the upload's, drawn when the file is begun, so that every attempt to send it, after whatever crash, carries the same id
and the same reports.
"""

from hubbub_client.frames import OVERHEAD, frame, parse
from hubbub_client.sampling import read
from hubbub_client.upload import ID_BYTES, batches_of, build

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.sampling import ByteSource
    from hubbub_client.storage import Storage

OPEN = "open-"
CLOSED = "upload-"
# A file is closed when it has this share of the limit, so that the oldest upload is a small loss.
_SHARE = 16


def is_pending(name: str) -> bool:
    """Whether a stored name is that of a file of reports; anything else in the same place is left alone."""
    parts = name.split("-")
    if len(parts) != 3 or parts[0] + "-" not in (OPEN, CLOSED) or not parts[1].isdigit():
        return False
    return len(parts[2]) == 2 * ID_BYTES and not [digit for digit in parts[2] if digit not in "0123456789abcdef"]


class Pending:
    """The reports that wait in ``storage``, in at most ``limit`` bytes.

    ``counts["dropped"]`` goes up by the reports of each upload that gives way to newer ones. Every method may raise
    OSError; what is on storage is then not known for sure, and the object is to be made anew.
    """

    def __init__(self, storage: "Storage", limit: int, source: "ByteSource", counts: "dict[str, int]") -> None:
        self._storage = storage
        self._limit = limit
        self._source = source
        self._counts = counts
        self._current: str | None = None
        self._sending: str | None = None
        self._files: dict[str, tuple[int, int]] = {}  # name -> bytes, reports
        for name in storage.names():
            if is_pending(name):
                data = storage.read(name) or b""
                reports, whole = parse(data)
                self._files[name] = (len(data), len(reports))
                # One with a torn tail takes no more: what came after the tear would be lost.
                if name.startswith(OPEN) and whole:
                    self._current = name

    def make_room(self, record_bytes: int) -> bool:
        """Sees to it that one more report fits; False where it does not even once all other uploads are dropped."""
        needed = OVERHEAD + record_bytes
        if self._current is not None and self._files[self._current][0] + needed > self._limit // _SHARE:
            self._close(self._current)
        while sum([size for size, _ in self._files.values()]) + needed > self._limit:
            closed = [name for name in self.uploads() if name != self._sending]
            if not closed:
                return False
            reports = self._files[closed[0]][1]
            self.remove(closed[0])
            self._counts["dropped"] = self._counts.get("dropped", 0) + reports
        return True

    def append(self, fingerprint: bytes, period: int, record: bytes) -> None:
        """Adds one report, durably."""
        name = self._current
        if name is None:
            numbers = [int(known.split("-")[1]) for known in self._files]
            name = "%s%08d-%s" % (OPEN, max(numbers or [0]) + 1, read(self._source, ID_BYTES).hex())
        # Whatever interrupts the append, a file that may have a torn tail takes no more.
        self._current = None
        data = frame(fingerprint, period, record)
        size, reports = self._files.get(name, (0, 0))
        self._storage.append(name, data)
        self._files[name] = (size + len(data), reports + 1)
        self._current = name

    def close(self) -> None:
        """Closes what is open: from here on it can be sent, and takes no more reports."""
        for name in list(self._files):
            if name.startswith(OPEN):
                self._close(name)

    def uploads(self) -> "list[str]":
        """The closed uploads, oldest first."""
        return sorted([name for name in self._files if name.startswith(CLOSED)])

    def take(self, name: str) -> "tuple[bytes, int, bool]":
        """The body of an upload that is about to be sent, its reports, and whether its file was whole.

        The upload is not dropped before ``give_back`` or ``remove``.
        """
        self._sending = name
        reports, whole = parse(self._storage.read(name) or b"")
        return build(bytes.fromhex(name.split("-")[2]), batches_of(reports)), len(reports), whole

    def give_back(self) -> None:
        """The upload that was taken stays."""
        self._sending = None

    def remove(self, name: str) -> None:
        """Removes an upload, unless it is gone."""
        if name not in self._files:
            return
        self._storage.remove(name)
        del self._files[name]
        if self._sending == name:
            self._sending = None

    def count(self) -> int:
        """How many reports wait."""
        return sum([reports for _, reports in self._files.values()])

    def _close(self, name: str) -> None:
        closed = CLOSED + name[len(OPEN) :]
        if name == self._current:
            self._current = None
        self._storage.rename(name, closed)
        self._files[closed] = self._files.pop(name)
