"""Reports on their way: appended to an open file, closed by a rename, and sent from there, never changed again.

``open-<number>-<id>`` and ``upload-<number>-<id>`` (see report_files.py): the id is drawn when the file is begun, so
that every attempt to send it, after whatever crash, carries the same id and the same reports.
"""

from hubbub_client.frames import frame, parse, room_for
from hubbub_client.report_files import (
    CLOSED,
    DROPPED,
    OPEN,
    PENDING,
    fate_of,
    number_of,
    report_files,
    with_fate,
    with_number,
)
from hubbub_client.sampling import read
from hubbub_client.sent_log import SentLog
from hubbub_client.upload import ID_BYTES, batches_of, build

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hubbub_client.frames import Report
    from hubbub_client.sampling import ByteSource
    from hubbub_client.storage import Storage

# A file is closed when it has this share of the limit, so that the oldest upload is a small loss.
_SHARE = 16
# On flash, where bytes are few and each rename is a write, uploads are fewer and larger.
_SHARE_JOINED = 4
# An upload stays well below what a collector takes: 1 MiB, and 4096 batches (docs/wire.md).
_FILE_BYTES = 1 << 19
_FILE_REPORTS = 4096
# The log of what was sent takes this share of it, besides.
_LOG_SHARE = 4


class Pending:
    """The reports that wait in ``storage``, in at most ``limit`` bytes.

    ``counts["dropped"]`` goes up by the reports of each upload that gives way to newer ones. Every method may raise
    OSError; what is on storage is then not known for sure, and the object is to be made anew. ``catch_up`` is called
    before a file is closed, to store what the ledger paid for what is in it (see journal.py).
    """

    def __init__(self, storage: "Storage", limit: int, source: "ByteSource", counts: "dict[str, int]") -> None:
        self._storage = storage
        self._limit = limit
        self._source = source
        self._counts = counts
        self._current: str | None = None
        self._sending: str | None = None
        self._joined: bool = getattr(storage, "journal", False)
        self._files: dict[str, tuple[int, int]] = {}  # name -> bytes, reports
        self._log: SentLog | None = None
        self._serials: dict[str, int] = {}  # open file -> serial of its last report
        self._newest = 0  # the highest number of any file of reports, whatever became of it
        for name in report_files(storage):
            self._newest = number_of(name)
            self._current = None
            if fate_of(name) in PENDING:
                data = storage.read(name) or b""
                reports, whole = parse(data)
                self._files[name] = (len(data), len(reports))
                if reports:
                    self._serials[name] = reports[-1].serial
                # Only the newest takes more (see report_files.py), and only if no tear would hide what comes after it.
                if fate_of(name) == OPEN and whole:
                    self._current = name

    def make_room(self, name: str, record_bytes: int, catch_up: "Callable[[], None]") -> bool:
        """Sees to it that one more report of metric ``name`` fits; False, with nothing dropped, where it cannot."""
        needed = room_for(name, record_bytes, self._joined)
        if needed > self._limit:
            return False
        if self._current is not None:
            size, reports = self._files[self._current]
            share = _SHARE_JOINED if self._joined else _SHARE
            if size + needed > min(self._limit // share, _FILE_BYTES) or reports >= _FILE_REPORTS:
                self._close(self._current, catch_up)
        if self._current is None:
            self.close(catch_up)  # a file with a torn tail: the next report is to follow on what the ledger's file says
        closed = [name for name in self.uploads() if name != self._sending]
        excess = sum([size for size, _ in self._files.values()]) + needed - self._limit
        if excess > sum([self._files[name][0] for name in closed]):
            return False
        while excess > 0:
            size, reports = self._files[closed[0]]
            self.settle(closed.pop(0), DROPPED)
            excess -= size
            self._counts["dropped"] = self._counts.get("dropped", 0) + reports
        return True

    def append(self, report: "Report") -> None:
        """Adds one report, durably."""
        name = self._current
        if name is None:
            self._newest = report.serial if self._joined else self._newest + 1
            name = "%s-%08d-%s" % (OPEN, self._newest, read(self._source, ID_BYTES).hex())
        # Whatever interrupts the append, a file that may have a torn tail takes no more.
        self._current = None
        data = frame(report)
        size, reports = self._files.get(name, (0, 0))
        self._storage.append(name, data)
        self._files[name] = (size + len(data), reports + 1)
        self._serials[name] = report.serial
        self._current = name

    def close(self, catch_up: "Callable[[], None]") -> None:
        """Closes what is open: from here on it can be sent, and takes no more reports."""
        for name in list(self._files):
            if fate_of(name) == OPEN:
                self._close(name, catch_up)

    def uploads(self) -> "list[str]":
        """The closed uploads, oldest first."""
        return sorted([name for name in self._files if fate_of(name) == CLOSED], key=number_of)

    def take(self, name: str) -> "tuple[bytes, int, bool]":
        """The body of an upload that is about to be sent, its reports, and whether its file was whole.

        The upload is not dropped before ``give_back`` or ``settle``.
        """
        self._sending = name
        reports, whole = parse(self._storage.read(name) or b"")
        batches = batches_of([(report.fingerprint, report.period, report.record) for report in reports])
        return build(bytes.fromhex(name.split("-")[2]), batches), len(reports), whole

    def give_back(self) -> None:
        """The upload that was taken stays."""
        self._sending = None

    def settle(self, name: str, fate: str) -> None:
        """Puts an upload that is done with into the log, unless it is gone; one with no whole report is removed.

        ``fate`` is one of report_files.SETTLED. Where the ledger is in these files, one that lost its reports stays,
        too: its number says that they were paid for.
        """
        if name not in self._files:
            return
        size, reports = self._files[name]
        if reports or self._joined:
            if self._log is None:
                self._log = SentLog(self._storage, self._limit // _LOG_SHARE)
            self._log.take(name, fate, size)
        else:
            self._storage.remove(name)
        del self._files[name]
        if self._sending == name:
            self._sending = None

    def count(self) -> int:
        """How many reports wait."""
        return sum([reports for _, reports in self._files.values()])

    def _close(self, name: str, catch_up: "Callable[[], None]") -> None:
        if name == self._current:
            self._current = None
        catch_up()
        closed = with_fate(name, CLOSED)
        serial = self._serials.pop(name, None)
        if self._joined:
            if serial is None:  # nothing whole in it, and so nothing that was paid for
                self._storage.remove(name)
                del self._files[name]
                return
            closed = with_number(closed, serial)
        self._storage.rename(name, closed)
        self._files[closed] = self._files.pop(name)
