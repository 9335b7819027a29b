"""What a board remembers of its earlier boots: a seed, how many there were, and what they began with.

``entropy-boots``
    The number of the newest boot and, for each of the last 16, 8 bytes of a digest of its first noise: of the noise
    alone, since a seed and a counter that change would make any two beginnings look different.
``entropy-seed``
    The number of the boot that wrote it, and the seed for the next one.

Both are written before anything is given out, the first one first; so it is ahead by one after a crash in between.
"""

from hashlib import sha256

from hubbub_firmware.entropy.refusal import EntropyRefusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.storage import Storage

BOOTS = "entropy-boots"
SEED = "entropy-seed"
REMEMBERED = 16
_FORMAT = b"\x01"
_NUMBER_BYTES = 4
_DIGEST_BYTES = 8
_CHECK_BYTES = 16


class EarlierBoots:
    """What is stored. ``number`` of the last boot that began to give out bytes, 0 where none did; ``seed``, empty where
    there is none; ``troubles`` that were found and mended, as trouble.REASONS.

    A lost or damaged file is mended: the fresh noise suffices by itself. State that was put back is not: what puts a
    storage back, such as a snapshot of a machine, may put its noise back as well. Raises EntropyRefusal then; OSError.
    """

    def __init__(self, storage: "Storage") -> None:
        self._storage = storage
        self._counter = getattr(storage, "boot_counter", None)
        self.troubles: list[str] = []
        begun, digests = self._parts(BOOTS)
        completed, self.seed = self._parts(SEED)
        self._digests = [digests[i : i + _DIGEST_BYTES] for i in range(0, len(digests), _DIGEST_BYTES)]
        counted: int = 0 if self._counter is None else self._counter.read()
        # A first boot that was cut short leaves its beginning and no seed, and nothing is lost.
        cut_short = begun == 1 and not counted
        if not self.troubles and (begun or completed or counted) and not ((begun and completed) or cut_short):
            self.troubles.append("state-damaged")
        if self.troubles:
            self.number = max(begun, completed, counted)
        elif completed <= begun <= completed + 1 and completed >= counted:
            self.number = completed
        else:
            raise EntropyRefusal(
                "state-rolled-back",
                "the seed or the record of boots is older than the last boot, so the noise may be old as well; remove "
                "%s and %s, if the board was not copied" % (SEED, BOOTS),
            )

    def check_new(self, noise: bytes) -> None:
        """Raises EntropyRefusal where one of the last boots began with the same noise."""
        if _digest(noise) in self._digests:
            raise EntropyRefusal(
                "entropy-repeat", "the board began with the noise of an earlier boot: its source repeats itself"
            )

    def begin(self, noise: bytes, seed: bytes) -> None:
        """Stores this boot's beginning, then the seed for the next boot, and reads both back.

        Raises OSError, and EntropyRefusal where the storage does not keep what it was given.
        """
        number = (self.number + 1).to_bytes(_NUMBER_BYTES, "big")
        self._put(BOOTS, number + b"".join(self._digests[1 - REMEMBERED :]) + _digest(noise))
        self._put(SEED, number + seed)
        if self._counter is not None:
            self._counter.advance(self.number + 1)

    def _parts(self, name: str) -> "tuple[int, bytes]":
        """(number, what follows it); (0, nothing) where there is no file, or a damaged one, which is counted."""
        data = self._storage.read(name)
        if data is None:
            return 0, b""
        body = data[:-_CHECK_BYTES]
        if data[-_CHECK_BYTES:] != _check(name, body) or not body.startswith(_FORMAT):
            self.troubles.append("state-damaged")
            return 0, b""
        at = 1 + _NUMBER_BYTES
        return int.from_bytes(body[1:at], "big"), body[at:]

    def _put(self, name: str, content: bytes) -> None:
        data = _FORMAT + content
        data += _check(name, data)
        self._storage.write(name, data)
        if self._storage.read(name) != data:
            raise EntropyRefusal("storage", "the storage does not keep what is written to it")


def _digest(noise: bytes) -> bytes:
    return sha256(b"hubbub boot" + noise).digest()[:_DIGEST_BYTES]


def _check(name: str, body: bytes) -> bytes:
    return sha256(name.encode() + body).digest()[:_CHECK_BYTES]
