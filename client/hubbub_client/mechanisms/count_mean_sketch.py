"""Count mean sketch (Apple, "Learning with privacy at scale", 2017, algorithm 1, client side).

A uniform hash number j, and the one-hot vector of the value's bucket under it with every bit flipped with probability
threshold / 2**precision.
"""

from hubbub_client.hashing import bucket, item_key
from hubbub_client.records import pack
from hubbub_client.sampling import bernoulli_lanes, check_flip, lanes_bytes, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Metric
    from hubbub_client.sampling import ByteSource


def domain_of(parameters: "dict[str, int]") -> int:
    """How many values a plan must list; 0 where any is taken. Raises ValueError for impossible integers."""
    check_flip(parameters["threshold"], parameters["precision"])
    return 0


def worst_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """((1 - p) / p)**2: j does not depend on the value, and two bits differ between two buckets."""
    threshold = parameters["threshold"]
    return ((1 << parameters["precision"]) - threshold) ** 2, threshold**2


class Encoder:
    """Encodes any value into a hash number and a noisy row of the sketch."""

    def __init__(self, metric: "Metric", secret: bytes) -> None:  # noqa: ARG002 - one signature for every mechanism
        p = metric.parameters
        self._fields = metric.fields
        self._salt = p["salt"]
        self._hashes_bits = p["hashes_bits"]
        self._width_bits = p["width_bits"]
        self._threshold = p["threshold"]
        self._precision = p["precision"]
        self._row_at = (p["hashes_bits"] + 7) // 8
        self.random_bytes = self._row_at + lanes_bytes(1 << p["width_bits"], p["precision"])

    def encode(self, data: bytes, source: "ByteSource") -> bytes:
        """The record of one report."""
        noise = read(source, self.random_bytes)
        j = int.from_bytes(noise[: self._row_at], "little") & ((1 << self._hashes_bits) - 1)
        row = 1 << bucket(item_key(data, self._salt), self._salt, j, self._width_bits)
        flips = bernoulli_lanes(noise, self._row_at, 1 << self._width_bits, self._threshold, self._precision)
        return pack(self._fields, [j, row ^ flips])
