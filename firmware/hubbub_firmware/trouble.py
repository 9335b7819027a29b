"""What went wrong on a board, counted where a power cut does not reach it, until the operator has been told.

A count says that something happened and how often. It depends on no recorded value, so it may leave the device.
"""

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.storage import Storage

NAME = "troubles"
# A frame sends a reason as its place in this list: new ones go to the end.
REASONS = ("entropy", "entropy-repeat", "state-damaged", "state-rolled-back", "storage", "clock")
MOST = 0xFFFFFFFF  # what a frame has room for


class Troubles:
    """The counts of one device, read anew each time: several objects over one storage count as one.

    No method raises for a storage that fails: what could not be stored is kept until the next boot.
    """

    def __init__(self, storage: "Storage") -> None:
        self._storage = storage
        self._unstored: dict[str, int] = {}

    def count(self, reason: str, number: int = 1) -> None:
        """Adds to the count of one of REASONS, and stores it. Raises ValueError for another reason."""
        if reason not in REASONS:
            raise ValueError("%s is no trouble that is counted; use one of %s" % (reason, ", ".join(REASONS)))
        self._unstored[reason] = self._unstored.get(reason, 0) + number
        self._store(self.counts())

    def counts(self) -> "dict[str, int]":
        """Reason -> how often, of what the operator has not been told. A copy."""
        try:
            counts = _parsed(self._storage.read(NAME))
        except OSError:
            counts = {"storage": 1}
        for reason in self._unstored:
            counts[reason] = min(counts.get(reason, 0) + self._unstored[reason], MOST)
        return counts

    def settle(self, told: "dict[str, int]") -> None:
        """Takes off what the operator has been told: counts that an earlier ``counts`` gave."""
        counts = self.counts()
        for reason in told:
            if reason in counts:
                left = counts.pop(reason) - told[reason]
                if left > 0:
                    counts[reason] = left
        self._store(counts)

    def _store(self, counts: "dict[str, int]") -> None:
        try:
            self._storage.write(NAME, json.dumps(counts).encode())
            self._unstored = {}
        except OSError:
            self._unstored["storage"] = self._unstored.get("storage", 0) + 1


def _parsed(data: "bytes | None") -> "dict[str, int]":
    """The stored counts; a damaged file becomes one count of damage, which the operator then sees."""
    if data is None:
        return {}
    try:
        counts = json.loads(data.decode())
        if isinstance(counts, dict) and all(
            [reason in REASONS and type(counts[reason]) is int and 0 < counts[reason] <= MOST for reason in counts]
        ):
            return counts
    except ValueError:  # UnicodeError is one, too
        pass
    return {"state-damaged": 1}
