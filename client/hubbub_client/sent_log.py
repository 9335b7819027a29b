"""What became of reports that wait no more: their files, renamed, for the device's owner to read. Bounded."""

from hubbub_client.report_files import SETTLED, fate_of, number_of, with_fate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.storage import Storage

MOST_FILES = 64


class SentLog:
    """Settled files in at most ``limit`` bytes and ``MOST_FILES`` files; the oldest go first, the newest one stays.

    Every method may raise OSError; the object is then to be made anew.
    """

    def __init__(self, storage: "Storage", limit: int) -> None:
        self._storage = storage
        self._limit = limit
        self._sizes: dict[str, int] = {}
        for name in storage.names():
            if fate_of(name) in SETTLED:
                self._sizes[name] = len(storage.read(name) or b"")

    def take(self, name: str, fate: str, size: int) -> None:
        """Renames the pending file ``name`` of ``size`` bytes to its fate, and forgets the oldest beyond the limit."""
        settled = with_fate(name, fate)
        self._storage.rename(name, settled)
        self._sizes[settled] = size
        oldest_first = sorted(self._sizes, key=number_of)
        while len(oldest_first) > 1 and (
            len(oldest_first) > MOST_FILES or sum(list(self._sizes.values())) > self._limit
        ):
            name = oldest_first.pop(0)
            self._storage.remove(name)
            del self._sizes[name]
