"""Looks at the heap in the middle of things: at each import, draw of noise, hash, and use of storage and network.

To be imported before anything that is measured, after the stand-ins. ``highest[0]`` is the most that was in use, after
a collection, at any of these moments.
"""

import builtins
import gc
import hashlib
import sys

import stand_ins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

allocated = getattr(gc, "mem_alloc")  # noqa: B009 - CPython, whose type checker reads this, has none
highest = [0]
_import = builtins.__import__
_sha256 = hashlib.sha256


def _look() -> None:
    gc.collect()
    used = allocated()
    if used > highest[0]:
        highest[0] = used


def _imported(*arguments: "Any") -> "Any":
    module = _import(*arguments)
    _look()
    return module


def _hashed(*data: bytes) -> "Any":
    _look()
    return _sha256(*data)


def _watched(kind: "Any", name: str) -> None:
    method = getattr(kind, name)

    def watch(*arguments: "Any") -> "Any":
        _look()
        result = method(*arguments)
        _look()
        return result

    setattr(kind, name, watch)


class _Hashes:
    """In place of the module ``hashlib``."""

    sha256 = staticmethod(_hashed)


class _Socket(stand_ins._Socket):
    def connect(self, _: object) -> None:
        _look()

    def write(self, data: bytes) -> int:
        _look()
        return len(data)

    def read(self, count: int) -> bytes:
        _look()
        return super().read(count)


builtins.__import__ = _imported  # type: ignore[assignment]
sys.modules["hashlib"] = _Hashes  # type: ignore[assignment]
stand_ins._Network.socket = _Socket
_watched(stand_ins.Noise, "sample")
for _name in ("read", "write", "append", "rename"):
    _watched(stand_ins.Storage, _name)
