"""Short names: first those that every MicroPython has in flash, which take no memory; then ``A``, ``B``, ..."""

from __future__ import annotations

import itertools
import string
from collections.abc import Iterator

# Names of its modules math, struct, uctypes, micropython and io, and of members of its types. No builtin is among them,
# no member of an error, and not ``const``, which its compiler takes for a call of its own.
# tests/firmware/bundle/test_letters.py asks the interpreter for each.
_IN_FLASH = """
sin cos tan exp log sqrt acos asin atan atan2 fabs fmod ceil floor trunc modf frexp ldexp copysign degrees radians
isinf isnan isfinite sort find index insert extend reverse lower upper isalpha islower isspace isupper lstrip rstrip
rsplit rindex rfind center splitlines setdefault popitem fromkeys discard union issubset issuperset isdisjoint
difference intersection symmetric_difference difference_update intersection_update symmetric_difference_update
calcsize pack_into unpack_from seek tell readinto ptr8 ptr16 ptr32 uint UINT8 INT8 UINT16 INT16 UINT32 INT32 UINT64
INT64 FLOAT32 FLOAT64 VOID PTR BF_POS BF_LEN NATIVE LITTLE_ENDIAN BIG_ENDIAN BFUINT8 BFINT8 BFUINT16 BFINT16 BFUINT32
BFINT32 SHORT INT LONG USHORT UINT ULONG LONGLONG ULONGLONG addressof sizeof bytes_at bytearray_at namedtuple
heap_lock heap_unlock opt_level kbd_intr mem_info stack_use
"""
IN_FLASH = tuple(_IN_FLASH.split())
_LONGEST = 2


def letters() -> Iterator[str]:
    """All of them, each once."""
    yield from IN_FLASH
    for length in range(1, _LONGEST + 1):
        for name in itertools.product(string.ascii_uppercase, repeat=length):
            yield "".join(name)
