"""What the intake needs of a store, and the store that it has: SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from hubbub_collector.quarantine import Quarantined
from hubbub_collector.sqlite_store import SqliteStore

__all__ = ["Quarantined", "SqliteStore", "Store"]


class Store(Protocol):
    """What the writer needs of a store. One thread at a time may use it."""

    def commit(self, bodies: Sequence[bytes], quarantined: Sequence[Quarantined]) -> None:
        """Stores all of it, or none and raises StoreError. Returns only once it is on stable storage.

        With nothing to store it still writes durably: the way to find out whether a full disk has room again.
        """

    def used_bytes(self) -> int:
        """The space that is taken, without what sealing has freed inside the file. Raises StoreError."""

    def quarantined_bytes(self) -> int:
        """The bytes that the quarantine counts for, less what the sealer has taken out meanwhile. Raises StoreError."""

    def closed(self) -> int:
        """The Unix time by which periods must not have ended for their uploads to be taken, whatever the clock says and
        however late they may come: upload ids may be forgotten for those that had. Raises StoreError.
        """

    def close(self) -> None:
        """Closes the store. What was committed stays."""
