"""Several collectors, each with a data directory of its own, and one sealed data set of them all.

An upload that was sent to two of them counts once, because the ids of both are kept in one place. So a directory is
sealed into one data set for good: it says into which, and is refused elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from hubbub_collector.durable import write_atomically
from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.lock import exclusive
from hubbub_collector.seal.sorted_store import SortedStore


def check_own(data: DataDirectory) -> None:
    """Raises CollectorError where ``data`` is sealed into another data directory."""
    if data.source.exists():
        raise CollectorError(
            f"{data.root}: its uploads are sealed into another data directory; name that one with --data, and this one "
            "with --from"
        )


def join(held: ExitStack, data: DataDirectory, target: SortedStore, sources: Sequence[DataDirectory]) -> None:
    """Checks that ``sources`` may be sealed into ``data``, notes in each that they are, and locks them in ``held``.

    Raises CollectorError, OSError.
    """
    for source in sources:
        source.check()
        if source.root.resolve() == data.root.resolve():
            raise CollectorError(f"{source.root}: --from names another data directory than --data")
        held.enter_context(exclusive(source.seal_lock, "sealer"))
        if source.sorted_store.exists():
            raise CollectorError(
                f"{source.root}: has been sealed by itself, so that a repeat of what it sealed could not be told; "
                "seal it by itself, or start its collector on a new directory"
            )
        mark = f"{target.identity:016x}\n".encode()
        if not source.source.exists():
            write_atomically(source.source, lambda file, mark=mark: file.write(mark))  # type: ignore[misc]
        elif source.source.read_bytes() != mark:
            raise CollectorError(
                f"{source.root}: its uploads are sealed into another data directory than {data.root}; name that one "
                "with --data"
            )
