"""Lists of values: in a registry, or in a UTF-8 file with one a line."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import Path

from hubbub_client.values import MAX_VALUE_BYTES
from hubbub_registry.table import shown

# A message names this many of a list's faults; a file saved in the wrong way has one on every line.
_NAMED = 3


class ListError(ValueError):
    """A list of values that cannot be used: ``what`` is wrong and the ``remedy``."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}")
        self.what = what
        self.remedy = remedy


def read_list(path: Path) -> tuple[str, ...]:
    """The values of a file, one a line, NFC-normalised; blank lines are passed over. Raises ListError.

    Lines end as on any system. Nothing else is stripped: a space at the end of a line is part of the value.
    """
    try:
        text = path.read_bytes().replace(b"\r\n", b"\n").replace(b"\r", b"\n").decode("utf-8-sig")
    except FileNotFoundError:
        raise ListError(f"there is no file {path}", "write the file, or correct its name") from None
    except OSError as error:
        raise ListError(f"{path} cannot be read ({error.strerror})", "make it a readable file") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ListError(f"{path} is not UTF-8 at line {line}", "save it as UTF-8") from None
    except ValueError:
        raise ListError(f"{str(path)!r} cannot be a file name", "correct it") from None
    lines = enumerate(text.split("\n"), start=1)
    return _tidy([(f"line {number}", line) for number, line in lines if line.strip()], f"{path}: ")


def tidy(values: Iterable[object]) -> tuple[str, ...]:
    """The values NFC-normalised, each once. Raises ListError for one that is not text, too long, or there twice."""
    return _tidy([(f"value number {number}", value) for number, value in enumerate(values, start=1)])


def _tidy(placed: list[tuple[str, object]], source: str = "") -> tuple[str, ...]:
    seen: dict[str, str] = {}
    wrong: list[str] = []
    for place, value in placed:
        if not isinstance(value, str):
            wrong.append(f"{place} is {shown(value)}, not a text in quotes")
            continue
        normal = unicodedata.normalize("NFC", value)
        if any("\ud800" <= character <= "\udfff" for character in normal):
            wrong.append(f"{place}, {shown(normal)}, holds half of a character (a lone surrogate), which is no text")
        elif len(normal.encode()) > MAX_VALUE_BYTES:
            wrong.append(f"{place} takes more than {MAX_VALUE_BYTES} bytes of UTF-8")
        elif normal in seen:
            wrong.append(f"{place}, {shown(normal)}, repeats {seen[normal]}")
        else:
            seen[normal] = place
    if wrong:
        more = f", and {len(wrong) - _NAMED} more" if len(wrong) > _NAMED else ""
        raise ListError(source + ", ".join(wrong[:_NAMED]) + more, "correct or remove them")
    return tuple(seen)
