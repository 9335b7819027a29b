"""Whom a board trusts: the certificate authorities it was given, and nobody else."""

from binascii import a2b_base64

from hubbub_client.transport import TransportError

try:
    import ssl
except ImportError:  # a build without TLS
    ssl = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ssl import SSLContext

_BEGIN = b"-----BEGIN CERTIFICATE-----"
_END = b"-----END CERTIFICATE-----"


def certificates(authorities: bytes) -> "list[bytes]":
    """The certificates of a file's content, PEM (one or more) or DER (one), as DER. Raises TransportError.

    Taken apart here, since not every build of MicroPython reads PEM.
    """
    if _BEGIN not in authorities:
        if authorities[:1] != b"\x30":  # a DER certificate is a SEQUENCE
            raise TransportError("ca: this is no certificate, neither PEM nor DER; give the collector's CA file")
        return [authorities]
    found = []
    at = authorities.find(_BEGIN)
    while at >= 0:
        end = authorities.find(_END, at)
        if end < 0:
            raise TransportError("ca: a PEM certificate is cut off; copy the file again")
        try:
            found.append(a2b_base64(authorities[at + len(_BEGIN) : end]))
        except ValueError:
            raise TransportError("ca: a PEM certificate is not base64; copy the file again") from None
        at = authorities.find(_BEGIN, end)
    return found


def verifying_context(authorities: "bytes | None") -> "SSLContext":
    """A TLS context that accepts only a server whose certificate one of ``authorities`` stands behind.

    Raises TransportError without one, for one that cannot be read, and on a build that could not check it. The name is
    checked because wrap_socket is given ``server_hostname``; validity dates only where the build does so, see
    docs/transports.md.
    """
    if not authorities:
        raise TransportError("ca: https needs the certificate of the collector's authority; nothing is sent unchecked")
    if not hasattr(ssl, "SSLContext") or not hasattr(ssl, "CERT_REQUIRED"):
        raise TransportError("this build of the interpreter cannot check a certificate, so nothing is sent over TLS")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.verify_mode = ssl.CERT_REQUIRED
    for certificate in certificates(authorities):
        try:
            context.load_verify_locations(cadata=certificate)
        except (OSError, ValueError) as error:
            raise TransportError("ca: a certificate cannot be read (%s)" % type(error).__name__) from None
    return context
