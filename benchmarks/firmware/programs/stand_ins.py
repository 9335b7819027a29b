"""What a board has and an interpreter has not: a network, flash, and noise. They give the same each time."""

import sys
from hashlib import sha256

NOW = 1800000000
_ANSWER = b"HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 0\r\n\r\n"


class Noise:
    """A raw source that passes the health tests, from a hash of a counter: for measuring, and for nothing else."""

    name = "system"
    sample_bits = 8
    entropy_milli = 7000

    def __init__(self) -> None:
        self._drawn = 0

    def ready(self) -> bool:
        return True

    def sample(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            self._drawn += 1
            data += sha256(b"noise" + self._drawn.to_bytes(4, "big")).digest()
        return data[:count]


class Storage:
    """Flash, in memory; what it holds is counted with the rest."""

    counter = None

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}

    def read(self, name: str) -> "bytes | None":
        return self._files.get(name)

    def write(self, name: str, data: bytes) -> None:
        self._files[name] = data

    def append(self, name: str, data: bytes) -> None:
        self._files[name] = self._files.get(name, b"") + data

    def rename(self, old: str, new: str) -> None:
        self._files[new] = self._files.pop(old)

    def remove(self, name: str) -> None:
        del self._files[name]

    def names(self) -> "list[str]":
        return list(self._files)

    def close(self) -> None:
        pass


class _Socket:
    """A connection to a collector that takes everything."""

    def __init__(self, *_: object) -> None:
        self._left = _ANSWER

    def settimeout(self, seconds: int) -> None:
        pass

    def connect(self, address: object) -> None:
        pass

    def write(self, data: bytes) -> int:
        return len(data)

    def read(self, count: int) -> bytes:
        data, self._left = self._left[:count], self._left[count:]
        return data

    def close(self) -> None:
        pass


class _Network:
    """In place of the module ``socket``."""

    SOCK_STREAM = 1
    socket = _Socket

    @staticmethod
    def getaddrinfo(host: str, port: int, *_: object) -> "list[tuple[object, ...]]":
        return [(2, 1, 6, "", (host, port))]


sys.modules["socket"] = _Network  # type: ignore[assignment]
