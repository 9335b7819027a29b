"""What the intake and the sealer need of a store, and the store that is there without asking: SQLite."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Protocol

from hubbub_collector.quarantine import Quarantined
from hubbub_collector.sqlite_store import SqliteStore

__all__ = ["Quarantined", "Source", "SqliteStore", "Store"]


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


class Parked(Protocol):
    """What the sealer needs of a quarantine. Methods raise StoreError."""

    def batches(self, fingerprints: Collection[bytes], damaged: list[str] | None = None) -> Iterator[Quarantined]:
        """The batches with one of ``fingerprints``, by upload. ``damaged`` is told what was left out."""

    def delete(self, keys: Sequence[tuple[bytes, int]]) -> None:
        """Deletes the batches with these upload ids and numbers."""

    def count(self) -> int:
        """How many batches lie here."""


class Source(Protocol):
    """What the sealer needs of a store: its groups, its quarantine, its word to the collectors.

    ``identity`` is of this store alone, and ``path`` is what errors name. Methods raise StoreError.
    """

    @property
    def path(self) -> object: ...  # noqa: D102 - said above

    @property
    def identity(self) -> bytes: ...  # noqa: D102 - said above

    @property
    def quarantine(self) -> Parked: ...  # noqa: D102 - said above

    def last_id(self) -> int:
        """The id of the newest group, 0 where there is none."""

    def ids(self, after: int, up_to: int) -> Iterator[int]:
        """The ids of the groups with ``after < id <= up_to``, in their order."""

    def group(self, id: int) -> bytes | None:
        """The bodies of group ``id``, end to end; None where it is gone. Raises DamagedError too."""

    def checksum(self, id: int) -> int | None:
        """The checksum of group ``id``, None where it is gone."""

    def delete(self, ids: Iterable[int]) -> None:
        """Deletes groups, a few a transaction, so that the intake never waits long."""

    def late(self) -> int:
        """For how many seconds after a period's end its uploads may have been accepted."""

    def close_before(self, time: int) -> None:
        """Sets ``Store.closed``."""

    def close(self) -> None:
        """Closes the store."""
