"""A socket whose every wait ends by one deadline, for MicroPython's TLS to read and write through.

There a time-out is for one read of the socket, and a TLS handshake is many: a server that sends a byte now and then
would hold a board for hours. CPython counts a handshake as one wait, and needs none of this.
"""

import io
import select
from errno import ETIMEDOUT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_CLOSE = 4  # MicroPython's stream protocol, py/stream.h
_NOT_SUPPORTED = -22  # EINVAL, as an ioctl has it


class DeadlineStream(io.IOBase):
    """Reads and writes ``raw``, a MicroPython socket, while ``left()`` milliseconds are above 0.

    As MicroPython's streams in Python have it, a failure is a negative errno and no exception, which would jump over
    TLS's own code.
    """

    def __init__(self, raw: "Any", left: "Callable[[], int]") -> None:
        raw.setblocking(False)
        self._raw = raw
        self._left = left
        self._poll = select.poll()

    def readinto(self, buffer: "Any") -> int:
        """At least one byte; 0 at the end of the stream."""
        return self._once(self._raw.readinto, buffer, select.POLLIN)

    def write(self, buffer: "Any") -> int:
        """At least one byte."""
        return self._once(self._raw.write, buffer, select.POLLOUT)

    def ioctl(self, request: int, _argument: int) -> int:
        """Closes; everything else is refused."""
        if request != _CLOSE:
            return _NOT_SUPPORTED
        self._raw.close()
        return 0

    def _once(self, move: "Callable[[Any], int | None]", buffer: "Any", event: int) -> int:
        try:
            while True:
                left = self._left()
                if left <= 0:
                    return -ETIMEDOUT
                count = move(buffer)
                if count is not None:
                    return count
                self._poll.register(self._raw, event)
                self._poll.poll(left)
        except OSError as error:
            return -(error.errno or ETIMEDOUT)
