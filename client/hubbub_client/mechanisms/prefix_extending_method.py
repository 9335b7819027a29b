"""Prefix extending method (Wang, Li, Jha, "Locally differentially private heavy hitter identification", TDSC 2019).

A report speaks of one part of the value: its beginning, of one of ``levels`` lengths, or all of it. Which part is drawn
anew for each report and sent, so a report is one report of local hashing, with all of epsilon, whatever part it is of.
A decoder finds the frequent beginnings, level by level, up to the strings they lead to.

The hash functions are linear, so that one transform gives the support of every item (Carter, Wegman 1979, proposition
8, is the family): a part is hashed to an item of ``dimension`` coordinates of ``width_bits`` bits each, and function f
sends item x to x[0] + f[0] x[1] + f[1] x[2] + ... in the field of 2**width_bits elements.
"""

from hubbub_client.hashing import bucket, item_key
from hubbub_client.mechanisms import local_hashing
from hubbub_client.records import pack
from hubbub_client.sampling import bernoulli, check_threshold, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Metric
    from hubbub_client.sampling import ByteSource

# Stands behind the end of a string in a beginning that is longer: no UTF-8 text has this byte.
PAD = b"\xff"
# The fields' polynomials, of degree 1, 2, ... (Lidl, Niederreiter, "Finite fields", table C): each irreducible.
POLYNOMIALS = (0b11, 0b111, 0b1011, 0b10011, 0b100101, 0b1000011, 0b10000011, 0b100011011)
MOST_ITEM_BITS = 24
MOST_BYTES = 64
MOST_SLOTS = 256


def domain_of(parameters: "dict[str, int]") -> int:
    """How many values a plan must list; 0 where any is taken. Raises ValueError for impossible integers."""
    check_threshold(parameters["threshold"], parameters["precision"])
    bits, dimension = parameters["width_bits"], parameters["dimension"]
    if not 1 <= bits <= len(POLYNOMIALS) or dimension < 2 or bits * dimension > MOST_ITEM_BITS:
        raise ValueError("items of %d coordinates of %d bits" % (dimension, bits))
    if not 1 <= parameters["levels"] < 1 << parameters["slots_bits"] <= MOST_SLOTS:
        raise ValueError("%d levels leave no slot for the whole string" % parameters["levels"])
    if parameters["first"] < 1 or parameters["step"] < 1 or lengths(parameters)[-1] > MOST_BYTES:
        raise ValueError("beginnings of %d bytes" % lengths(parameters)[-1])
    return 0


def worst_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """That of local hashing: which part a report is of does not depend on the value, and each has the same noise."""
    return local_hashing.worst_ratio(parameters)


def lengths(parameters: "dict[str, int]") -> "list[int]":
    """How many bytes the beginning has at each level."""
    return [parameters["first"] + level * parameters["step"] for level in range(parameters["levels"])]


def part_of(slot: int, parameters: "dict[str, int]") -> int:
    """Which part a report in a slot is of: a level, or all of it at number ``levels``; as even as slots allow."""
    return slot * (parameters["levels"] + 1) >> parameters["slots_bits"]


def times(a: int, b: int, bits: int) -> int:
    """The product of two elements of the field of 2**bits, in steps that depend on ``bits`` alone."""
    polynomial = POLYNOMIALS[bits - 1]
    product = 0
    for i in range(bits):
        product ^= a & -((b >> i) & 1)
        a <<= 1
        a ^= polynomial & -(a >> bits)
    return product


def linear(item: int, function: int, bits: int, dimension: int) -> int:
    """The bucket of an item under a hash function: both hold their coordinates from the lowest bit up."""
    mask = (1 << bits) - 1
    result = item & mask
    for i in range(1, dimension):
        result ^= times((function >> (bits * (i - 1))) & mask, (item >> (bits * i)) & mask, bits)
    return result


class Encoder:
    """Encodes any value into the number of a part of it, a hash function's, and a noisy bucket."""

    def __init__(self, metric: "Metric", secret: bytes) -> None:  # noqa: ARG002 - one signature for every mechanism
        p = metric.parameters
        self._p = p
        self._fields = metric.fields
        self._ends: list[tuple[int, int | None]] = [(length, length) for length in lengths(p)]
        self._ends.append((0, None))  # all of it: nothing is added, and nothing cut off
        self._function_bits = p["width_bits"] * (p["dimension"] - 1)
        bits = p["precision"] + p["width_bits"] + p["slots_bits"] + p["families_bits"] + self._function_bits
        self.random_bytes = (bits + 7) // 8

    def encode(self, data: bytes, source: "ByteSource") -> bytes:
        """The record of one report."""
        p = self._p
        noise = int.from_bytes(read(source, self.random_bytes), "little")
        keep = bernoulli(noise & ((1 << p["precision"]) - 1), p["threshold"], p["precision"])
        noise >>= p["precision"]
        anywhere = noise & ((1 << p["width_bits"]) - 1)
        noise >>= p["width_bits"]
        slot = noise & ((1 << p["slots_bits"]) - 1)
        noise >>= p["slots_bits"]
        family = noise & ((1 << p["families_bits"]) - 1)
        noise >>= p["families_bits"]
        function = noise & ((1 << self._function_bits) - 1)
        part = part_of(slot, p)
        added, end = self._ends[part]
        # Each part has families of its own, so that what meets in one meets in no other.
        index = (part << p["families_bits"]) + family
        key = item_key((data + PAD * added)[:end], p["salt"])
        item = bucket(key, p["salt"], index, p["width_bits"] * p["dimension"])
        own = linear(item, function, p["width_bits"], p["dimension"])
        return pack(self._fields, [slot, family, function, anywhere ^ ((anywhere ^ own) & -keep)])
