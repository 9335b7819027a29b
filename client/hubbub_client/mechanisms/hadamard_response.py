"""Hadamard response (Acharya, Sun, Zhang, AISTATS 2019, section 4): one index into blocks of a Hadamard code.

The K = blocks x size outputs are cut into blocks. Value x owns, in block x // (size - 1), the half on which row
j = x % (size - 1) + 1 of the Hadamard matrix is +1. With probability a = threshold / 2**precision a uniform element of
that half is sent, else a uniform one of all K. One block is the 1-bit form.
"""

from hubbub_client.records import pack
from hubbub_client.sampling import bernoulli, check_threshold, parity, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Metric
    from hubbub_client.sampling import ByteSource


def domain_of(parameters: "dict[str, int]") -> int:
    """How many values a plan must list; 0 where any is taken. Raises ValueError for impossible integers."""
    check_threshold(parameters["threshold"], parameters["precision"])
    columns = (1 << parameters["size_bits"]) - 1
    if parameters["domain"] > (columns << parameters["blocks_bits"]):
        raise ValueError("%d values do not fit the code" % parameters["domain"])  # the last would own outputs of none
    if parameters["domain"] < 2:
        raise ValueError("fewer than two values")
    return parameters["domain"]


def worst_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """1 + 2 B a / (1 - a) with B blocks: an owned output has a / (K / 2B) on top of (1 - a) / K."""
    threshold = parameters["threshold"]
    rest = (1 << parameters["precision"]) - threshold
    return rest + (threshold << (parameters["blocks_bits"] + 1)), rest


class Encoder:
    """Encodes one value of a closed domain into one index of the code."""

    def __init__(self, metric: "Metric", secret: bytes) -> None:  # noqa: ARG002 - one signature for every mechanism
        p = metric.parameters
        self._metric = metric
        self._blocks_bits = p["blocks_bits"]
        self._size_bits = p["size_bits"]
        self._threshold = p["threshold"]
        self._precision = p["precision"]
        self.random_bytes = (p["blocks_bits"] + p["size_bits"] + p["precision"] + 7) // 8

    def encode(self, data: bytes, source: "ByteSource") -> bytes:
        """The record of one report."""
        index = self._metric.index_of(data)
        columns = (1 << self._size_bits) - 1
        block = index // columns
        row = index % columns + 1
        noise = int.from_bytes(read(source, self.random_bytes), "little")
        keep = bernoulli(noise & ((1 << self._precision) - 1), self._threshold, self._precision)
        noise >>= self._precision
        element = noise & columns
        anywhere = noise & ((1 << (self._blocks_bits + self._size_bits)) - 1)
        # Flipping one bit that the row looks at pairs each element off the owned half with one on it, so a uniform
        # element becomes a uniform owned one, with no rejection. row & -row is the row's lowest bit; row is never 0.
        owned = (block << self._size_bits) | (element ^ (parity(element & row) * (row & -row)))
        return pack(self._metric.fields, [anywhere ^ ((anywhere ^ owned) & -keep)])
