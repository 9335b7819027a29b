"""What a mechanism is chosen for: how many reports are decoded together, what runs it, how large a record may be."""

from __future__ import annotations

from dataclasses import dataclass

from hubbub_client.errors import HubbubError

DEFAULT_REPORTS = 100_000
MOST_REPORTS = 10**12
# A Bluetooth advertisement. A board that speaks HTTP or MQTT can send more, and then says so with --bytes.
BOARD_BYTES = 31
# A value of a closed domain takes some hundred bytes of a board's heap of 64 KB or so.
BOARD_VALUES = 256


class AdviceError(HubbubError):
    """A condition that is none."""


@dataclass(frozen=True)
class Conditions:
    """``reports`` are decoded together; ``most_bytes`` is how large a record may be, None for any size."""

    reports: int = DEFAULT_REPORTS
    board: bool = False
    most_bytes: int | None = None

    @property
    def record_limit(self) -> int | None:
        """The largest record in bytes, None where there is no limit."""
        return BOARD_BYTES if self.most_bytes is None and self.board else self.most_bytes


def read_reports(text: str) -> int:
    """``--reports``. Raises AdviceError."""
    return _integer("--reports", text, MOST_REPORTS, "how many reports are decoded together, such as 100000")


def read_bytes(text: str) -> int:
    """``--bytes``. Raises AdviceError."""
    return _integer("--bytes", text, 1 << 20, "how many bytes a record may take, such as 11")


def _integer(option: str, text: str, most: int, what: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > len(str(most)) or not 1 <= int(text) <= most:
        raise AdviceError(f"{option}: {text[:40]!r} is no integer from 1 to {most}; write {what}")
    return int(text)
