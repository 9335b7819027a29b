"""TLS for the listening socket, with a certificate that can be changed while the server runs."""

from __future__ import annotations

import ssl

from hubbub_collector.errors import CollectorError


class Certificate:
    """The certificate chain and key in two PEM files. ``context`` is for the server and stays the same."""

    def __init__(self, chain: str, key: str) -> None:
        """Raises CollectorError where the files are no pair."""
        self._chain = chain
        self._key = key
        self._current = _load(chain, key)
        # Loading a second pair into a context leaves the first in it where the kinds of key differ (RSA, ECDSA), so
        # each pair has a context of its own, and each handshake is handed to the newest.
        self.context = _load(chain, key)
        self.context.sni_callback = self._hand_over

    def reload(self) -> None:
        """Reads the files again, for handshakes from now on. Raises CollectorError, and goes on with the old pair."""
        self._current = _load(self._chain, self._key)

    def _hand_over(self, connection: ssl.SSLObject, name: str | None, context: ssl.SSLContext) -> None:  # noqa: ARG002
        connection.context = self._current


def check_pair(chain: str, key: str) -> None:
    """Raises CollectorError where the files are no certificate chain and its key."""
    _load(chain, key)


def _load(chain: str, key: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(chain, key, _no_password)
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        said = getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)
        raise CollectorError(
            f"{chain}, {key}: are no certificate chain and its key in PEM ({said}); --tls-cert takes the chain with "
            "the server's own certificate first, --tls-key the key that belongs to it, without a password"
        ) from None
    return context


def _no_password() -> bytes:
    raise ValueError("the key has a password")  # OpenSSL would ask the terminal
