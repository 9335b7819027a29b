"""msgpack of a stranger: parsed with memory and time in proportion to what came, not to what it declares."""

from __future__ import annotations

from typing import Any

import msgpack

ERRORS = (ValueError, TypeError, OverflowError, msgpack.UnpackException)
"""What ``unpack`` raises."""


def unpack(body: bytes, longest: int) -> Any:
    """The one value in ``body``, made of arrays of at most ``longest`` elements, bins and numbers. Raises ``ERRORS``.

    An array is allocated when its header is read, so headers in one another that are never filled would take 32 KiB for
    three bytes each. So the body is gone through first without making anything: where it is whole, every element that
    it declares is there, and what is allocated stays under about 70 times the body.
    """
    size = max(1, len(body))  # 0 would mean a megabyte
    through = msgpack.Unpacker(max_buffer_size=size, read_size=size)
    through.feed(body)
    through.skip()
    # Nothing here is a string, a map or an extension.
    return msgpack.unpackb(
        body, max_array_len=longest, max_str_len=0, max_map_len=0, max_ext_len=0, strict_map_key=True
    )
