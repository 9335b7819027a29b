"""The files that hold reports, and what each one's name says: ``<fate>-<number>-<id>``.

The number tells the oldest, and stays on the device; the id is the upload's. A file changes its fate by a rename and
never its content, so what the log shows as sent is byte for byte what was sent. Where the ledger is in these files (see
journal.py) a closed one's number is the serial of its last report, so that a file which lost some is noticed.
"""

from hubbub_client.frames import parse
from hubbub_client.upload import ID_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from hubbub_client.frames import Report

    class Readable(Protocol):
        """What reading takes of a storage."""

        def read(self, name: str) -> "bytes | None": ...  # noqa: D102
        def names(self) -> list[str]: ...  # noqa: D102


OPEN = "open"
CLOSED = "upload"
DROPPED = "dropped"
PENDING = (OPEN, CLOSED)
SETTLED = ("sent", "refused", DROPPED)  # the first two are verdicts of delivery.py


def fate_of(name: str) -> "str | None":
    """The fate in the name of a file of reports, one of PENDING or SETTLED; None for a stranger's file."""
    parts = name.split("-")
    if len(parts) != 3 or parts[0] not in PENDING + SETTLED or not parts[1].isdigit():
        return None
    # By bytes: a board keeps each letter that it takes out of a text.
    if len(parts[2]) != 2 * ID_BYTES or [digit for digit in parts[2].encode() if digit not in b"0123456789abcdef"]:
        return None
    return parts[0]


def with_fate(name: str, fate: str) -> str:
    """The name of the same file once it has another fate."""
    return fate + "-" + name.partition("-")[2]


def with_number(name: str, number: int) -> str:
    """The name of the same file once it has another number."""
    parts = name.split("-")
    return "%s-%08d-%s" % (parts[0], number, parts[2])


def number_of(name: str) -> int:
    """The place of a file of reports in the order in which they were begun."""
    return int(name.split("-")[1])


def report_files(storage: "Readable") -> "list[str]":
    """All files of reports, whatever their fate, oldest first. Raises OSError."""
    return sorted([name for name in storage.names() if fate_of(name)], key=number_of)


def newest_serial(storage: "Readable") -> int:
    """The serial of the newest report there is, 0 where there is none. Raises OSError.

    Reports are only ever added to the newest file, so one file is read, or a few where the newest are torn.
    """
    for name in reversed(report_files(storage)):
        reports = parse(storage.read(name) or b"")[0]
        if reports:
            return reports[-1].serial
    return 0


def newest_promise(storage: "Readable") -> int:
    """The highest number of a file that may have been sent: the ledger has paid for as many reports, or for more.

    A number is never above the serial of the file's last report. Raises OSError.
    """
    return max([0] + [number_of(name) for name in report_files(storage) if fate_of(name) != OPEN])


def read_log(storage: "Readable") -> "list[tuple[str, Report]]":
    """Every report that is kept, oldest first, with its state: pending, sent, refused or dropped. Raises OSError."""
    log: list[tuple[str, Report]] = []
    for name in report_files(storage):
        fate = fate_of(name) or ""
        state = "pending" if fate in PENDING else fate
        log += [(state, report) for report in parse(storage.read(name) or b"")[0]]
    return log
