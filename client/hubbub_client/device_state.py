"""What a device remembers besides its uploads: its secret and its spent budget. Made at first use, never made twice."""

from hashlib import sha256

from hubbub_client.budget import Budget
from hubbub_client.errors import StateError
from hubbub_client.pending import is_pending
from hubbub_client.sampling import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.sampling import ByteSource
    from hubbub_client.storage import Storage

SECRET = "secret"  # noqa: S105 - the name of the file
SECRET_BYTES = 32
_CHECK = 8


def open_state(storage: "Storage", source: "ByteSource") -> "tuple[bytes, Budget]":
    """The device's secret and its budget.

    At first use an empty budget is stored, then a new secret, so that whatever is found without its other half was
    lost and not interrupted. Raises StateError where one is damaged or lost, EntropyError, and OSError.
    """
    budget = Budget.load(storage)
    stored = storage.read(SECRET)
    if budget is None:
        if stored is not None or [name for name in storage.names() if is_pending(name)]:
            raise StateError("state: the budget is lost after first use, so nothing more is reported")
        budget = Budget(storage, {})
        budget.save()
    if stored is None:
        if budget.entries:
            raise StateError("state: the secret is lost after first use, so nothing more is reported")
        secret = read(source, SECRET_BYTES)
        storage.write(SECRET, secret + _check(secret))
        return secret, budget
    secret = stored[:SECRET_BYTES]
    if len(secret) != SECRET_BYTES or stored[SECRET_BYTES:] != _check(secret):
        raise StateError("state: the secret is damaged, so nothing more is reported")
    return secret, budget


def _check(secret: bytes) -> bytes:
    return sha256(b"hubbub secret" + secret).digest()[:_CHECK]
