"""Opting out and in again: what waits is wiped, what was spent is not."""

from hubbub_client.device_state import bind, known_ledger, known_secret, new_secret, wipe
from hubbub_client.errors import StateError
from hubbub_client.ledger import Ledger
from hubbub_client.ledger_file import NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.sampling import ByteSource
    from hubbub_client.storage import Storage


def is_off(storage: "Storage") -> bool:
    """Whether this device opted out; a wipe that was interrupted is then completed. Raises StateError and OSError."""
    ledger = known_ledger(storage)
    if ledger is None or ledger.enabled:
        return False
    wipe(storage)
    return True


def opt_out(storage: "Storage") -> None:
    """Stores that the device is off, then removes its secret, its pending reports and its log. Raises OSError.

    Where the ledger is damaged, lost, rolled back or not of this secret, what was spent is unknown, and the wipe would
    remove what shows it; the ledger is then made unreadable, so that the device stays off for good.
    """
    try:
        ledger = known_ledger(storage) or Ledger(storage)
        if ledger.enabled:
            known_secret(storage, ledger)
        ledger.enabled = False
        ledger.save()
    except StateError:
        storage.write(NAME, b"unknown")
    wipe(storage)


def opt_in(storage: "Storage", source: "ByteSource", device: "bytes | None") -> None:
    """Takes a device that is off on again, with a new secret and what was spent before. Raises as open_state.

    The secret is stored first: one that is found while the device is off belongs to nothing, and is wiped. All
    permanent noise is new with it, so every value is charged as new.
    """
    ledger = known_ledger(storage)
    if ledger is None or ledger.enabled:
        return
    wipe(storage)
    ledger.secret = ledger.device = ""
    bind(ledger, new_secret(storage, source), device)
    ledger.forget_tags()
    ledger.enabled = True
    ledger.save()
