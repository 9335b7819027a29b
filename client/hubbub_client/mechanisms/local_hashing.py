"""Local hashing (Wang, Blocki, Li, Jha, USENIX Security 2017, section 4.4) over a fixed family of hash functions.

A uniform hash number j, and the value's bucket under it with probability a = threshold / 2**precision, else a uniform
bucket. With about e^epsilon + 1 buckets it is optimized local hashing (OLH); there every device has a seed of its own,
here the 2**hashes_bits seeds are those of a family that a decoder can go through.
"""

from hubbub_client.hashing import bucket, item_key
from hubbub_client.records import pack
from hubbub_client.sampling import bernoulli, check_threshold, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Metric
    from hubbub_client.sampling import ByteSource


def domain_of(parameters: "dict[str, int]") -> int:
    """How many values a plan must list; 0 where any is taken. Raises ValueError for impossible integers."""
    check_threshold(parameters["threshold"], parameters["precision"])
    return 0


def worst_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """1 + a g / (1 - a) with g buckets: j does not depend on the value, and its bucket has a on top of (1 - a) / g."""
    threshold = parameters["threshold"]
    rest = (1 << parameters["precision"]) - threshold
    return rest + (threshold << parameters["width_bits"]), rest


class Encoder:
    """Encodes any value into a hash number and a noisy bucket."""

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
        keep = bernoulli(noise & ((1 << self._precision) - 1), self._threshold, self._precision)
        noise >>= self._precision
        anywhere = noise & ((1 << self._width_bits) - 1)
        noise >>= self._width_bits
        j = noise & ((1 << self._hashes_bits) - 1)
        own = bucket(item_key(data, self._salt), self._salt, j, self._width_bits)
        return pack(self._fields, [j, anywhere ^ ((anywhere ^ own) & -keep)])
