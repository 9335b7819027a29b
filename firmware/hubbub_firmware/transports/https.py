"""Uploads over HTTPS from a board: a socket, TLS that is verified, and a few hundred bytes of memory besides."""

import json
from errno import ECONNRESET

from hubbub_client.transport import Answer, TransportError
from hubbub_firmware.transports.address import Address
from hubbub_firmware.transports.connection import Connection, open_connection
from hubbub_firmware.transports.http_answer import read_answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# The other side has closed the connection: ECONNRESET, and EPIPE, which MicroPython's errno does not name.
_CLOSED = (ECONNRESET, 32)


class HttpsTransport:
    """Posts uploads to the collector at ``url``, whose certificate ``ca`` (PEM or DER, the content) must stand behind.

    ``http://`` is refused unless ``plain`` is True: then nothing is encrypted and nobody is who they say.
    ``timeout`` is in seconds, for connecting, sending and the answer each. ``learn`` is called with the Unix time of
    each answer's ``Date``, such as SlowClock.learn. ``token`` is for a collector that asks for one: give many devices
    the same. ``ntp`` is a server to ask where the board's clock is too far behind to check a certificate. Follows no
    redirect, keeps no cookie, and says nothing of the device. Raises TransportError for an address, a certificate or
    a token that cannot be used.
    """

    def __init__(
        self,
        url: str,
        ca: "bytes | None" = None,
        plain: bool = False,
        timeout: int = 20,
        learn: "Callable[[int], object] | None" = None,
        token: "str | None" = None,
        ntp: str = "",
    ) -> None:
        self._address = Address(url)
        if self._address.scheme == "http" and not plain:
            raise TransportError(
                "http:// is neither encrypted nor checked; use https:// with a ca, or say plain = True in the settings"
            )
        if self._address.scheme == "http" and ca is not None:
            raise TransportError("ca: a certificate checks nothing over http://; use https://")
        self._context = None
        if self._address.scheme == "https":
            from hubbub_firmware.transports.certificates import verifying_context  # and TLS, only where it is used

            self._context = verifying_context(ca)
        if token is not None and (not token or [letter for letter in token if not "!" <= letter <= "~"]):
            raise TransportError("token: a token is what hubbub token issue printed, without spaces")
        self._timeout = timeout
        self._learn = learn
        self._token = token
        self._ntp = ntp

    def send(self, body: bytes) -> Answer:
        """Posts one upload. Raises TransportError where no answer came."""
        return self._ask("POST", "/v1/reports", "application/msgpack", body)

    def send_troubles(self, counts: "dict[str, int]") -> Answer:
        """Posts how often each trouble happened. Raises TransportError where no answer came."""
        return self._ask("POST", "/v1/troubles", "application/json", json.dumps(counts).encode())

    def ask_time(self) -> Answer:
        """Asks for nothing but the answer's ``Date``, which goes to ``learn``. Raises TransportError."""
        return self._ask("GET", "/healthz", "", b"")

    def _ask(self, method: str, path: str, media_type: str, body: bytes) -> Answer:
        where = self._address
        request = "%s %s%s HTTP/1.1\r\nHost: %s\r\n" % (method, where.path, path, where.authority)
        request += "User-Agent: hubbub\r\nAccept-Encoding: identity\r\nConnection: close\r\n"
        if self._token is not None:
            request += "Authorization: Bearer %s\r\n" % self._token
        if method == "POST":
            request += "Content-Type: %s\r\nContent-Length: %d\r\n" % (media_type, len(body))
        try:
            connection = open_connection(where.host, where.port, self._context, self._timeout, self._ntp)
            try:
                answer, date = _exchange(connection, (request + "\r\n").encode(), body)
            finally:
                connection.close()
        except (OSError, ValueError) as error:
            raise TransportError("no answer from %s (%s: %s)" % (where.host, type(error).__name__, error)) from None
        if date is not None and self._learn is not None:
            self._learn(date)
        return answer


def _exchange(connection: Connection, request: bytes, body: bytes) -> "tuple[Answer, int | None]":
    """Sends a request and reads the answer; also where the server answers, and closes, before it has read it all."""
    connection.restart()
    try:
        connection.write(request)
        connection.write(body)
    except OSError as error:
        if error.errno not in _CLOSED:
            raise
    connection.restart()
    return read_answer(connection)
