"""k-ary randomized response (Warner 1965; Kairouz, Oh, Viswanath 2014): the value, or a uniform one in its place.

With probability a = threshold / 2**precision the true value is sent, else a uniform draw from all of the values.
"""

from hubbub_client.records import pack
from hubbub_client.sampling import bernoulli, check_threshold, read, uniform_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Metric
    from hubbub_client.sampling import ByteSource


def domain_of(parameters: "dict[str, int]") -> int:
    """How many values a plan must list; 0 where any is taken. Raises ValueError for impossible integers."""
    check_threshold(parameters["threshold"], parameters["precision"])
    if parameters["domain"] < 2:
        raise ValueError("fewer than two values")
    return parameters["domain"]


def worst_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """1 + a / ((1 - a) u), where u is the probability of the rarest uniform draw."""
    total = 1 << parameters["uniform_bits"]
    threshold = parameters["threshold"]
    rest = ((1 << parameters["precision"]) - threshold) * (total // parameters["domain"])
    return rest + threshold * total, rest


class Encoder:
    """Encodes one value of a closed domain into its index, or another."""

    def __init__(self, metric: "Metric", secret: bytes) -> None:  # noqa: ARG002 - one signature for every mechanism
        p = metric.parameters
        self._metric = metric
        self._domain = p["domain"]
        self._uniform_bits = p["uniform_bits"]
        self._threshold = p["threshold"]
        self._precision = p["precision"]
        self.random_bytes = (p["uniform_bits"] + p["precision"] + 7) // 8

    def encode(self, data: bytes, source: "ByteSource") -> bytes:
        """The record of one report."""
        index = self._metric.index_of(data)
        noise = int.from_bytes(read(source, self.random_bytes), "little")
        keep = bernoulli(noise & ((1 << self._precision) - 1), self._threshold, self._precision)
        uniform = (noise >> self._precision) & ((1 << self._uniform_bits) - 1)
        other = uniform_below(uniform, self._domain, self._uniform_bits)
        # A choice without a branch: -keep is all ones or all zeros.
        return pack(self._metric.fields, [other ^ ((other ^ index) & -keep)])
