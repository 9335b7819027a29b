"""What an app passes to a Reporter, as it is used. Files and HTTP are loaded only where they are asked for."""

from hubbub_client.errors import EntropyError, StateError
from hubbub_client.sampling import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hubbub_client.sampling import ByteSource
    from hubbub_client.storage import Storage
    from hubbub_client.transport import Transport


def guarded(source: "ByteSource") -> "ByteSource":
    """A source whose every failure is an EntropyError. Not a method: a Reporter in a cycle would keep its lock."""

    def random(count: int) -> bytes:
        try:
            return read(source, count)
        except EntropyError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a source raises, it gave no bytes
            raise EntropyError("the random source failed (%s)" % type(error).__name__) from None

    return random


def storage_of(state: "Any") -> "Storage":
    """A storage as it is, or FileStorage over a directory. Raises StateError where it is neither."""
    if hasattr(state, "names"):
        return state  # type: ignore[no-any-return]
    if not isinstance(state, str) and not hasattr(state, "__fspath__"):
        raise StateError("state: a directory or a storage is needed, not %s" % type(state).__name__)
    from hubbub_client.file_storage import FileStorage

    return FileStorage(state)


def transport_of(transport: "Any") -> "Transport":
    """A transport as it is, or HttpTransport to a URL. Raises TransportError where it is neither."""
    if hasattr(transport, "send"):
        return transport  # type: ignore[no-any-return]
    from hubbub_client.http_transport import HttpTransport

    return HttpTransport(transport)
