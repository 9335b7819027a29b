"""An HTTP answer, read in a fixed amount of memory: its status, and the two headers that a client needs."""

from hubbub_client.http_date import unix_time_of
from hubbub_client.transport import Answer, TransportError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_firmware.transports.connection import Connection

# A header beyond the first of these is skipped, not kept; an answer with more header than the second is no answer.
_LINE_KEPT = 128
_HEADER_BYTES = 16384
_TEXT_LENGTH = 200
_INFORMATIONAL = 4


class Head:
    """``status``; ``retry_after`` in seconds or None; ``date``, the server's Unix time, or None; the body's ``length``
    as far as it is stated, or None; whether the body is ``chunked``."""

    def __init__(self, status: int) -> None:
        self.status = status
        self.retry_after: int | None = None
        self.date: int | None = None
        self.length: int | None = None
        self.chunked = False


def read_answer(connection: "Connection") -> "tuple[Answer, int | None]":
    """The answer on a connection and the server's ``Date``. Raises TransportError where it is none, and OSError.

    The status counts once the header has ended: a body that is cut short takes nothing back.
    """
    for _ in range(_INFORMATIONAL):
        head = _read_head(connection)
        if head.status >= 200:
            return Answer(head.status, head.retry_after, _read_text(connection, head)), head.date
    raise TransportError("an answer that never ends; is there a collector at this address?")


def _read_head(connection: "Connection") -> Head:
    left = _HEADER_BYTES
    line, left = _read_line(connection, left)
    head = Head(_status_of(line))
    retry_after = ""
    while True:
        line, left = _read_line(connection, left)
        if not line:
            break
        name, _, value = line.partition(":")
        name, value = name.lower(), value.strip()
        if name == "date":
            head.date = unix_time_of(value)
        elif name == "retry-after":
            retry_after = value
        elif name == "content-length":
            head.length = _seconds(value)
        elif name == "transfer-encoding":
            head.chunked = True
    head.retry_after = _seconds(retry_after)
    date = unix_time_of(retry_after)
    if date is not None and head.date is not None:
        head.retry_after = max(0, date - head.date)  # by the server's own clock, since a board may have none
    return head


def _read_line(connection: "Connection", left: int) -> "tuple[str, int]":
    """The start of a line without its end, and how many bytes of header may still come.

    Byte by byte, since a board's ``read`` waits for all the bytes it asked for.
    """
    line = bytearray()
    while True:
        byte = connection.read_exactly(1)
        left -= 1
        if left < 0:
            raise TransportError("an answer with an endless header; is there a collector at this address?")
        if byte == b"\n":
            break
        if len(line) < _LINE_KEPT:
            line.append(byte[0])
    return _printable(line), left


def _status_of(line: str) -> int:
    parts = line.split(" ")
    if parts[0] not in ("HTTP/1.1", "HTTP/1.0") or len(parts) < 2 or len(parts[1]) != 3 or not _digits(parts[1]):
        raise TransportError("what answers does not speak HTTP/1.1; is there a collector at this address?")
    status = int(parts[1])
    if status < 100:
        raise TransportError("an answer with status %d; is there a collector at this address?" % status)
    return status


def _read_text(connection: "Connection", head: Head) -> str:
    """The start of the body, printable; empty where it does not come."""
    text = b""
    try:
        if head.chunked:
            _read_line(connection, _LINE_KEPT)  # the first chunk's length
        most = _TEXT_LENGTH if head.length is None else min(head.length, _TEXT_LENGTH)
        while len(text) < most:
            byte = connection.read(1)
            if not byte:
                break
            text += byte
    except (OSError, TransportError):
        pass  # the status has come, and it is what counts
    return _printable(text)


def _printable(data: "bytes | bytearray") -> str:
    """Text of what came. Not letter by letter: a board keeps each one that it meets by itself."""
    return bytes([byte if 32 <= byte < 127 else 32 for byte in data]).decode().strip()


def _digits(text: str) -> bool:
    return bool(text) and not [byte for byte in text.encode() if not 0x30 <= byte <= 0x39]


def _seconds(text: str) -> "int | None":
    return int(text) if _digits(text) and len(text) < 10 else None
