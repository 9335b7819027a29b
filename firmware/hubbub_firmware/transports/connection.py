"""One TCP or TLS connection, with a time-out on each wait and a deadline over all of them."""

import gc
import socket

from hubbub_client.clock import unix_time
from hubbub_client.transport import TransportError
from hubbub_firmware.ticks import ticks_diff, ticks_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ssl import SSLContext
    from typing import Any

# What mbedTLS and OpenSSL say of a certificate that begins after what the clock shows.
_NOT_YET = ("in the future", "not yet valid")
# Written in pieces, so that no copy of a whole upload is made.
_PIECE = 512


class ClockBehindError(TransportError):
    """The server's certificate begins after what this board's clock shows: most likely the clock was never set."""


def open_connection(host: str, port: int, context: "SSLContext | None", timeout: int, ntp: str = "") -> "Connection":
    """A Connection; where the clock turns out to be behind, once more after asking the server ``ntp``, if any."""
    try:
        return Connection(host, port, context, timeout)
    except ClockBehindError:
        if not ntp:
            raise
        from hubbub_firmware.system_clock import set_from_ntp  # only where it is asked for

        set_from_ntp(ntp)
        return Connection(host, port, context, timeout)


class Connection:
    """A connection to ``host`` and ``port``, over TLS where there is a context; the server's name is checked by it.

    ``timeout`` in seconds is for each wait, and for all until ``restart`` is called, a TLS handshake among them: a
    server that sends a byte now and then does not hold a board for ever. Looking a name up is up to the system, and
    not within it. What fails raises OSError (TLS: a kind of it); a deadline that passes raises TransportError.
    """

    def __init__(self, host: str, port: int, context: "SSLContext | None", timeout: int) -> None:
        self._timeout = timeout
        self.restart()
        found = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)[0]
        raw = socket.socket(found[0], found[1], found[2])
        self._stream: Any = raw
        try:
            raw.settimeout(timeout)
            raw.connect(found[-1])
            if context is not None:
                under: Any = raw
                if hasattr(raw, "readinto"):  # MicroPython's
                    from hubbub_firmware.transports.deadline import DeadlineStream  # only where it is used

                    under = DeadlineStream(raw, self._left)
                gc.collect()  # a board needs 16 KB in one piece for a TLS record
                self._stream = context.wrap_socket(under, server_hostname=host)
        except BaseException as error:
            raw.close()
            if isinstance(error, ValueError) and [text for text in _NOT_YET if text in str(error)]:
                raise ClockBehindError(
                    "the certificate of %s is not valid yet by this board's clock, which shows %d; set the clock, or "
                    "name an ntp server in the settings" % (host, unix_time())
                ) from None
            raise
        # MicroPython has read and write on both kinds, CPython on one of them.
        self._read = getattr(self._stream, "read", None) or self._stream.recv
        self._write = getattr(self._stream, "sendall", None) or self._stream.write

    def restart(self) -> None:
        """Gives what comes next the whole time-out again."""
        self._began = ticks_ms()

    def _left(self) -> int:
        """Milliseconds of the time-out; 0 or less once it is over."""
        passed: int = ticks_diff(ticks_ms(), self._began)
        return 1000 * self._timeout - passed

    def read(self, count: int) -> bytes:
        """At least one byte and at most ``count``; none at the end of the stream. A board waits for all of them."""
        if self._left() <= 0:
            raise TransportError("no answer within %d seconds" % self._timeout)
        data = self._read(count)
        if data is None:  # what MicroPython's sockets give where a wait ran out
            raise TransportError("no answer within %d seconds" % self._timeout)
        return data  # type: ignore[no-any-return]

    def read_exactly(self, count: int) -> bytes:
        """``count`` bytes. Raises TransportError where the stream ends before."""
        data = b""
        while len(data) < count:
            more = self.read(1)  # a board would wait for all, and anew for each
            if not more:
                raise TransportError("the connection was closed in the middle of an answer")
            data += more
        return data

    def write(self, data: bytes) -> None:
        """Sends all of ``data``."""
        view = memoryview(data)
        for at in range(0, len(data), _PIECE):
            if self._left() <= 0:
                raise TransportError("an upload was not taken within %d seconds" % self._timeout)
            piece = view[at : at + _PIECE]
            if self._write(piece) not in (None, len(piece)):  # sendall gives None, write a count
                raise TransportError("the connection took only a part of an upload")

    def close(self) -> None:
        """Closes it, whatever state it is in."""
        try:
            self._stream.close()
        except OSError:
            pass  # it is gone, which is what was wanted
