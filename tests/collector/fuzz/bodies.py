"""Bodies in msgpack, from what a generator of JSON makes."""

from __future__ import annotations

import time
from typing import Any

import msgpack
from schemathesis.core import NOT_SET

_SECONDS = 86_400


def as_msgpack(value: Any, known: list[bytes]) -> Any:
    """What schemathesis made for the body, in msgpack: strings are bins. Of those that may be a fingerprint half become
    one of ``known``, with a period of these days: so records are looked at as well.
    """
    if value is NOT_SET:
        return value

    def convert(part: Any) -> Any:
        if isinstance(part, str):
            return part.encode("latin-1", "replace")
        if isinstance(part, list):
            items = [convert(one) for one in part]
            if len(items) == 3 and isinstance(items[0], bytes) and len(items[0]) == 8 and items[0][0] % 2:
                items[0] = known[items[0][1] % len(known)]
                if type(items[1]) is int:
                    items[1] = int(time.time()) // _SECONDS - items[1] % 60
            return items
        if isinstance(part, dict):
            return {convert(key): convert(one) for key, one in part.items()}
        return part if not isinstance(part, int) or -(1 << 63) <= part < 1 << 64 else float(part % (1 << 64))

    return msgpack.packb(convert(value))
