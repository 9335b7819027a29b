"""Lists of values: in a registry, or in a UTF-8 file with one a line."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import Path

from hubbub_client.values import MAX_VALUE_BYTES


class ListError(ValueError):
    """A list of values that cannot be used: ``what`` is wrong and the ``remedy``."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what = what
        self.remedy = remedy


def read_list(path: Path) -> tuple[str, ...]:
    """The values of a file, one a line, NFC-normalised; blank lines are passed over. Raises ListError."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ListError(f"there is no file {path}", "write the file, or correct its name") from None
    except OSError as error:
        raise ListError(f"{path} cannot be read ({error.strerror})", "make it a readable file") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ListError(f"{path} is not UTF-8 at line {line}", "save it as UTF-8") from None
    return tidy(line.removesuffix("\r") for line in text.split("\n") if line.strip())


def tidy(values: Iterable[object]) -> tuple[str, ...]:
    """The values NFC-normalised, each once. Raises ListError for one that is not text, too long, or there twice."""
    seen: dict[str, int] = {}
    for place, value in enumerate(values, start=1):
        if not isinstance(value, str):
            raise ListError(f"value number {place} is {value!r}, not a text", "put it in quotes")
        normal = unicodedata.normalize("NFC", value)
        if len(normal.encode()) > MAX_VALUE_BYTES:
            raise ListError(f"value number {place} takes more than {MAX_VALUE_BYTES} bytes", "shorten it")
        if normal in seen:
            raise ListError(
                f"value number {place}, {normal!r}, is number {seen[normal]} again", "remove one of the two"
            )
        seen[normal] = place
    return tuple(seen)
