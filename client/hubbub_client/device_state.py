"""What a device remembers besides its reports: its secret and its ledger. Made at first use, never made twice.

Each check here tells one way in which the ledger could be another than the last one written; docs/ledger.md lists what
they find, and what they cannot.
"""

from hashlib import sha256

from hubbub_client.errors import OtherDeviceError, RolledBackError, StateError
from hubbub_client.ledger import Ledger
from hubbub_client.prf import expand
from hubbub_client.report_files import newest_promise, newest_serial, report_files
from hubbub_client.sampling import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.sampling import ByteSource
    from hubbub_client.storage import Storage

SECRET = "secret"  # noqa: S105 - the name of the file
SECRET_BYTES = 32
_CHECK = 8
_BINDING_BYTES = 8


def known_ledger(storage: "Storage") -> "Ledger | None":
    """The ledger, where it is the last one written; None at first use.

    Raises StateError where it is damaged, or lost after first use, RolledBackError where it is older than a report it
    paid for, or than the storage's counter; and OSError.
    """
    ledger = Ledger.load(storage)
    counter = getattr(storage, "counter", None)
    counted: int = 0 if counter is None else counter.read()
    if ledger is None:
        if counted or storage.read(SECRET) is not None or report_files(storage):
            raise StateError("state: the ledger is lost after first use, so nothing more is reported")
    elif ledger.generation < max(newest_serial(storage), newest_promise(storage), counted):
        raise RolledBackError(
            "state: the ledger is older than what it paid for, so what was spent is unknown and nothing more is "
            "reported; put the newest ledger back"
        )
    return ledger


def open_state(storage: "Storage", source: "ByteSource", device: "bytes | None") -> "tuple[bytes, Ledger]":
    """The device's secret and its ledger; no secret, and what was left of a wipe wiped, where the device is off.

    At first use an empty ledger is stored, then a new secret, then the ledger that is bound to it, so that whatever is
    found without its other half was lost and not interrupted. Raises as known_ledger, StateError where the secret is
    damaged, lost or another one, OtherDeviceError, and EntropyError.
    """
    ledger = known_ledger(storage)
    if ledger is None:
        ledger = Ledger(storage)
        ledger.save()
    if not ledger.enabled:
        wipe(storage)
        return b"", ledger
    secret = known_secret(storage, ledger) or new_secret(storage, source)
    bound = ledger.secret, ledger.device
    bind(ledger, secret, device)
    if bound != (ledger.secret, ledger.device):  # at once: a ledger that is bound to nothing goes with any secret
        ledger.save()
    return secret, ledger


def known_secret(storage: "Storage", ledger: Ledger) -> "bytes | None":
    """The secret of a device that is on; None at first use.

    Raises StateError where it is damaged, or not the one that the ledger is bound to; and OSError.
    """
    stored = storage.read(SECRET)
    if stored is None:
        if ledger.secret:
            raise StateError("state: the secret is lost after first use, so nothing more is reported")
        return None
    secret = stored[:SECRET_BYTES]
    if len(secret) != SECRET_BYTES or stored[SECRET_BYTES:] != _check(secret):
        raise StateError("state: the secret is damaged, so nothing more is reported")
    if ledger.secret not in ("", _binding(secret)):
        raise StateError("state: secret and ledger are not of one device, so nothing more is reported")
    return secret


def new_secret(storage: "Storage", source: "ByteSource") -> bytes:
    """A new device secret, stored. Raises EntropyError and OSError."""
    secret = read(source, SECRET_BYTES)
    storage.write(SECRET, secret + _check(secret))
    return secret


def bind(ledger: Ledger, secret: bytes, device: "bytes | None") -> None:
    """Binds a ledger that is not yet bound to the secret and, where one is given, to the device's identity.

    The next save stores it. Raises OtherDeviceError where it is bound to another device, or to one and none is given.
    """
    ledger.secret = _binding(secret)
    identity = "" if device is None else expand(secret, b"hubbub ledger device", device, _BINDING_BYTES).hex()
    if ledger.device not in ("", identity):
        raise OtherDeviceError(
            "state: it was made on another device, or with another identity of this one, so nothing is reported; give "
            "each device a state of its own"
        )
    ledger.device = identity


def wipe(storage: "Storage") -> None:
    """Removes the secret, what waits and what was sent. Raises OSError."""
    for name in report_files(storage):
        storage.remove(name)
    if storage.read(SECRET) is not None:
        storage.remove(SECRET)


def _binding(secret: bytes) -> str:
    return expand(secret, b"hubbub ledger secret", b"", _BINDING_BYTES).hex()


def _check(secret: bytes) -> bytes:
    return sha256(b"hubbub secret" + secret).digest()[:_CHECK]
