"""Readings as JSON lines: ``{"sensor": "a7", "metric": "heat", "value": 215, "time": 1796774400}``."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from hubbub_client.values import MAX_VALUE_BYTES
from hubbub_firmware.curator.errors import ReadingError

KEYS = ("sensor", "metric", "value", "time")
MAX_LINE_BYTES = 4096
# What any clock or sensor can mean; integers past it are damage.
_LARGEST = 1 << 63


@dataclass(frozen=True, repr=False)
class Reading:
    """One reading, unchecked against any registry. It has no ``repr`` of its own, so that none ends in a log."""

    sensor: str
    metric: str
    value: int
    time: int
    """Unix seconds."""


def read_lines(stream: IO[bytes], source: str) -> Iterator[Reading]:
    """The readings of ``stream``; blank lines are passed over. Raises ReadingError, with ``source`` and line."""
    number = 0
    while line := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            raise ReadingError(
                f"{source}, line {number}: it is longer than {MAX_LINE_BYTES} bytes; write a line a reading"
            )
        if line.strip():
            yield _reading(line, f"{source}, line {number}")


def _reading(line: bytes, place: str) -> Reading:
    document = _decoded(line)
    if not isinstance(document, dict):
        raise ReadingError(f"{place}: it is not a JSON object in UTF-8; write one with {', '.join(KEYS)}")
    if set(document) != set(KEYS):
        raise ReadingError(f"{place}: its keys are not {', '.join(KEYS)}; write these four")
    for key in ("sensor", "metric"):
        text = document[key]
        if isinstance(text, str):  # as enrolled names and the registry's are
            text = document[key] = unicodedata.normalize("NFC", text)
        if not isinstance(text, str) or not text or len(text.encode("utf-8", "surrogatepass")) > MAX_VALUE_BYTES:
            raise ReadingError(f"{place}: {key} is not a text of 1 to {MAX_VALUE_BYTES} bytes; correct it")
    for key in ("value", "time"):
        number = document[key]
        if type(number) is not int or abs(number) >= _LARGEST:
            raise ReadingError(f"{place}: {key} is not an integer of 64 bits; write whole steps, without a point")
    return Reading(**document)


def _decoded(line: bytes) -> Any:
    """The line's JSON, or None. A function of its own, because a ValueError holds the text it was raised for."""
    try:
        return json.loads(line, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any] | None:
    document = dict(pairs)
    return document if len(document) == len(pairs) else None  # a key that stands twice
