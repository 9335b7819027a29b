"""Optimized unary encoding (Wang, Blocki, Li, Jha, USENIX Security 2017, section 4.3): one bit a value.

The holder's bit is a fair coin; every other bit is 1 with probability q = threshold / 2**precision.
"""

from hubbub_client.records import pack
from hubbub_client.sampling import bernoulli_lanes, check_flip, lanes_bytes, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Metric
    from hubbub_client.sampling import ByteSource


def domain_of(parameters: "dict[str, int]") -> int:
    """How many values a plan must list; 0 where any is taken. Raises ValueError for impossible integers."""
    check_flip(parameters["threshold"], parameters["precision"])
    if parameters["domain"] < 2:
        raise ValueError("fewer than two values")
    return parameters["domain"]


def worst_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """p (1 - q) / ((1 - p) q) with p = 1/2: two bits differ between two values."""
    threshold = parameters["threshold"]
    return (1 << parameters["precision"]) - threshold, threshold


class Encoder:
    """Encodes one value of a closed domain into a vector of as many bits as there are values."""

    def __init__(self, metric: "Metric", secret: bytes) -> None:  # noqa: ARG002 - one signature for every mechanism
        p = metric.parameters
        self._metric = metric
        self._domain = p["domain"]
        self._threshold = p["threshold"]
        self._precision = p["precision"]
        self._fair_at = lanes_bytes(p["domain"], p["precision"])
        self.random_bytes = self._fair_at + lanes_bytes(p["domain"], 1)

    def encode(self, data: bytes, source: "ByteSource") -> bytes:
        """The record of one report."""
        mine = 1 << self._metric.index_of(data)
        noise = read(source, self.random_bytes)
        others = bernoulli_lanes(noise, 0, self._domain, self._threshold, self._precision)
        fair = bernoulli_lanes(noise, self._fair_at, self._domain, 1, 1)
        # Every lane of both words is drawn whoever is asked, and the mask picks one of the two.
        return pack(self._metric.fields, [others ^ ((others ^ fair) & mine)])
