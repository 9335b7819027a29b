"""Hadamard count mean sketch (Apple, "Learning with privacy at scale", 2017, algorithm 3, client side).

A uniform hash number j, a uniform Hadamard row l, and one bit: the entry of row l at the value's bucket, flipped with
probability threshold / 2**precision. Bit 1 stands for the entry -1.
"""

from hubbub_client.hashing import bucket, item_key
from hubbub_client.records import pack
from hubbub_client.sampling import bernoulli, check_flip, parity, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Metric
    from hubbub_client.sampling import ByteSource


def domain_of(parameters: "dict[str, int]") -> int:
    """How many values a plan must list; 0 where any is taken. Raises ValueError for impossible integers."""
    check_flip(parameters["threshold"], parameters["precision"])
    return 0


def worst_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """(1 - p) / p: j and l do not depend on the value, and one bit can differ."""
    threshold = parameters["threshold"]
    return (1 << parameters["precision"]) - threshold, threshold


class Encoder:
    """Encodes any value into a hash number, a Hadamard row and one noisy bit."""

    def __init__(self, metric: "Metric", secret: bytes) -> None:  # noqa: ARG002 - one signature for every mechanism
        p = metric.parameters
        self._fields = metric.fields
        self._salt = p["salt"]
        self._hashes_bits = p["hashes_bits"]
        self._width_bits = p["width_bits"]
        self._threshold = p["threshold"]
        self._precision = p["precision"]
        self.random_bytes = (p["hashes_bits"] + p["width_bits"] + p["precision"] + 7) // 8

    def encode(self, data: bytes, source: "ByteSource") -> bytes:
        """The record of one report."""
        noise = int.from_bytes(read(source, self.random_bytes), "little")
        flip = bernoulli(noise & ((1 << self._precision) - 1), self._threshold, self._precision)
        noise >>= self._precision
        row = noise & ((1 << self._width_bits) - 1)
        noise >>= self._width_bits
        j = noise & ((1 << self._hashes_bits) - 1)
        entry = parity(row & bucket(item_key(data, self._salt), self._salt, j, self._width_bits))
        return pack(self._fields, [j, row, entry ^ flip])
