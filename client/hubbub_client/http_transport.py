"""Uploads over HTTP, on hosts."""

from hubbub_client.clock import unix_time
from hubbub_client.http_date import unix_time_of
from hubbub_client.transport import Answer, TransportError

try:
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import HTTPRedirectHandler, Request, build_opener

    class _NoRedirect(HTTPRedirectHandler):
        # A redirected POST becomes a GET, whose 200 would pass for a delivery, and may go to a stranger.
        def redirect_request(self, *_: "Any") -> None:
            return None

    _HOST = True
except ImportError:  # a board
    _HOST = False

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ANSWER_BYTES = 4096
_TEXT_LENGTH = 200


class HttpTransport:
    """Posts uploads to a collector: ``HttpTransport("https://collector.example.org")``.

    Uses the system's proxies and certificate authorities, and checks certificates. Follows no redirect, keeps no
    cookie, and says nothing of the device: the User-Agent is ``hubbub``. ``timeout`` is in seconds, for each wait on
    the network. ``token`` is for a collector that asks for one, which tells its edge who sends: give many devices the
    same. ``path`` is another one for a shuffler (sealing/transport.py). Raises TransportError for a URL that is no http
    or https address, for what can be no token, and on a board.
    """

    def __init__(self, url: str, timeout: int = 30, token: "str | None" = None, path: str = "/v1/reports") -> None:
        if not _HOST:
            raise TransportError("HttpTransport needs CPython; give the Reporter the board's own transport")
        scheme, _, rest = str(url).partition("://")
        host = rest.split("/")[0]
        if scheme not in ("http", "https") or not host or "@" in host or "?" in url or "#" in url or " " in url:
            raise TransportError("a collector's address is like https://collector.example.org, without ? # or a login")
        if token is not None and (not token or not all("!" <= letter <= "~" for letter in token)):
            raise TransportError("a token is what hubbub token issue printed, without spaces")
        self.url = url.rstrip("/") + path
        self._token = token
        self._timeout = timeout
        self._opener = build_opener(_NoRedirect)

    def send(self, body: bytes) -> Answer:
        """Posts one upload. Raises TransportError where no answer came."""
        headers = {"Content-Type": "application/msgpack", "User-Agent": "hubbub"}
        if self._token is not None:
            headers["Authorization"] = "Bearer " + self._token
        try:
            request = Request(self.url, body, headers, method="POST")  # noqa: S310 - http or https, checked above
            try:
                response = self._opener.open(request, timeout=self._timeout)
            except HTTPError as error:
                response = error  # an answer too
            with response:
                return _read(response)
        except (OSError, HTTPException, ValueError, OverflowError) as error:
            reason = getattr(error, "reason", None) or error
            raise TransportError("no answer from %s (%s: %s)" % (self.url, type(reason).__name__, reason)) from None


def _read(response: "Any") -> Answer:
    try:
        text = response.read(_ANSWER_BYTES).decode("ascii", "replace")
    except (OSError, HTTPException):
        text = ""  # the status has come, and it is what counts
    shown = "".join([letter if " " <= letter <= "~" else " " for letter in text[:_TEXT_LENGTH]])
    return Answer(response.status, _seconds(response.headers.get("Retry-After")), shown.strip())


def _seconds(header: "str | None") -> "int | None":
    """A Retry-After header (RFC 9110, section 10.2.3) in seconds from now; None where there is none to be read."""
    if header is None:
        return None
    if header.isdigit() and header.isascii() and len(header) < 10:
        return int(header)
    date = unix_time_of(header)
    return None if date is None else max(0, date - unix_time())
