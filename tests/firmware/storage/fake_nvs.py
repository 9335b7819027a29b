"""ESP-IDF's non-volatile storage as a model whose power can be cut: what was set and not committed may be there or not.

Runs on both interpreters. The space is counted as ESP-IDF counts it: entries of 32 bytes, 126 in a page of 4096, one
page kept free; a blob takes an entry for its index, one for its head, and its bytes, twice while it is replaced.
"""

NOT_FOUND = -0x1102
KEY_TOO_LONG = -0x1109
VALUE_TOO_LONG = -0x110E
INVALID_LENGTH = -0x110C
NOT_ENOUGH_SPACE = -0x1105
PAGE_ENTRIES = 126
MOST_BYTES = 4000


class PowerCut(BaseException):
    """The device dies here."""


def entries_of(value: bytes) -> int:
    return 2 + (len(value) + 31) // 32


class FakeNvs:
    """A namespace in a partition of ``pages``. Power is cut before operation number ``cut``; 0 is never.

    ``kept`` says what becomes of sets and erasures that were not committed: all are kept, none, or every second one.
    ``written`` counts entries.
    """

    def __init__(
        self, pages: int = 6, cut: int = 0, kept: str = "none", left: "dict[str, bytes] | None" = None
    ) -> None:
        self._space = (pages - 1) * PAGE_ENTRIES
        self._cut = cut
        self._kept = kept
        self._left = {} if left is None else left
        self._now = dict(self._left)
        self._waiting: list[tuple[str, bytes | None]] = []
        self.operations = 0
        self.sets = 0
        self.written = 0
        self.taken = 0  # entries of others: Wi-Fi's settings and calibration

    @property
    def left(self) -> "dict[str, bytes]":
        """What survives."""
        return dict(self._left)

    def used(self) -> int:
        return self.taken + sum([entries_of(value) for value in self._now.values()])

    def set_blob(self, key: str, value: bytes) -> None:
        self._step()
        if not 0 < len(key) <= 15:
            raise OSError(KEY_TOO_LONG, "ESP_ERR_NVS_KEY_TOO_LONG")
        if not 0 < len(value) <= MOST_BYTES:
            raise OSError(VALUE_TOO_LONG, "ESP_ERR_NVS_VALUE_TOO_LONG")
        if self.used() + entries_of(value) > self._space:
            raise OSError(NOT_ENOUGH_SPACE, "ESP_ERR_NVS_NOT_ENOUGH_SPACE")
        self.sets += 1
        self.written += entries_of(value)
        self._now[key] = bytes(value)
        self._waiting.append((key, bytes(value)))

    def get_blob(self, key: str, buffer: bytearray) -> int:
        if key not in self._now:
            raise OSError(NOT_FOUND, "ESP_ERR_NVS_NOT_FOUND")
        value = self._now[key]
        if len(value) > len(buffer):
            raise OSError(INVALID_LENGTH, "ESP_ERR_NVS_INVALID_LENGTH")
        buffer[: len(value)] = value
        return len(value)

    def erase_key(self, key: str) -> None:
        self._step()
        if key not in self._now:
            raise OSError(NOT_FOUND, "ESP_ERR_NVS_NOT_FOUND")
        del self._now[key]
        self._waiting.append((key, None))

    def commit(self) -> None:
        self._step()
        self._settle(self._waiting)

    def _settle(self, changes: "list[tuple[str, bytes | None]]") -> None:
        for key, value in changes:
            if value is None:
                self._left.pop(key, None)
            else:
                self._left[key] = value
        self._waiting = []

    def _step(self) -> None:
        self.operations += 1
        if self.operations == self._cut:
            self._settle({"none": [], "all": self._waiting, "some": self._waiting[::2]}[self._kept])
            self._cut = -1
        if self._cut < 0:
            raise PowerCut
