"""The other way round from hubbub_client.upload: an upload body of this client's own making, taken apart."""

from hubbub_client.transport import TransportError
from hubbub_client.upload import ID_BYTES

_BIN = {0xC4: 1, 0xC5: 2, 0xC6: 4}
_UNSIGNED = {0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8}
_ARRAY = {0xDC: 2, 0xDD: 4}


def read_upload(body: bytes) -> "tuple[bytes, list[tuple[bytes, int, bytes]]]":
    """The upload's id and its batches of ``(fingerprint, period, records)``. Raises TransportError for anything else.

    msgpack, of the one shape that docs/wire.md fixes; boards have no msgpack package.
    """
    reader = _Reader(body)
    if reader.array() != 3 or reader.unsigned() != 1:
        raise _damaged()
    upload_id = reader.binary()
    batches = []
    for _ in range(reader.array()):
        if reader.array() != 3:
            raise _damaged()
        fingerprint = reader.binary()
        period = reader.unsigned()
        batches.append((fingerprint, period, reader.binary()))
    if len(upload_id) != ID_BYTES or reader.take(1):
        raise _damaged()
    return upload_id, batches


class _Reader:
    def __init__(self, body: bytes) -> None:
        self._body = body
        self._at = 0

    def take(self, count: int) -> bytes:
        data = self._body[self._at : self._at + count]
        self._at += count
        return data

    def array(self) -> int:
        kind = self._byte()
        return kind & 0x0F if kind >> 4 == 0x9 else self._number(_ARRAY, kind)

    def unsigned(self) -> int:
        kind = self._byte()
        return kind if kind < 0x80 else self._number(_UNSIGNED, kind)

    def binary(self) -> bytes:
        count = self._number(_BIN, self._byte())
        data = self.take(count)
        if len(data) != count:
            raise _damaged()
        return data

    def _number(self, sizes: "dict[int, int]", kind: int) -> int:
        if kind not in sizes:
            raise _damaged()
        data = self.take(sizes[kind])
        if len(data) != sizes[kind]:
            raise _damaged()
        return int.from_bytes(data, "big")

    def _byte(self) -> int:
        data = self.take(1)
        if not data:
            raise _damaged()
        return data[0]


def _damaged() -> TransportError:
    return TransportError("an upload that this client did not make; frames can carry no other")
