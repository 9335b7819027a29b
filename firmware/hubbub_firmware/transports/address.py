"""Where a collector is: a URL, taken apart as far as a board needs it."""

from hubbub_client.transport import TransportError


class Address:
    """``scheme`` ("http" or "https"), ``host``, ``port`` and the ``path`` before ``/v1/reports``."""

    def __init__(self, url: str) -> None:
        self.scheme, _, rest = str(url).partition("://")
        authority, slash, path = rest.partition("/")
        host, colon, port = authority.partition(":")
        if self.scheme not in ("http", "https") or not host or not _plain(url) or (colon and not _is_port(port)):
            raise TransportError(
                "a collector's address is like https://collector.example.org, without ? # or a login, and not %r" % url
            )
        self.host = host
        self.port = int(port) if colon else (443 if self.scheme == "https" else 80)
        self.authority = authority
        self.path = (slash + path).rstrip("/")


def _plain(url: str) -> bool:
    """Printable ASCII that is neither a login, a query nor a fragment, and cannot end a line of a request."""
    # By bytes: a board keeps each letter that it takes out of a text.
    return not [letter for letter in url.encode() if letter in b"?#@[]\\" or not 0x21 <= letter <= 0x7E]


def _is_port(text: str) -> bool:
    return text.isdigit() and len(text) < 6 and 0 < int(text) < 65536
