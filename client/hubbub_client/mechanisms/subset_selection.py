"""Subset selection (Ye, Barg, IEEE Trans. Inf. Theory 2018; Wang et al., 2016): a random set of ``size`` values.

With probability a = threshold / 2**precision the set holds the device's value, and is else uniform. It is sent as one
bit for each value of the domain, since a list would have an order, and an order could tell which value came first.
"""

from hubbub_client.records import pack
from hubbub_client.sampling import bernoulli, check_threshold, read, uniform_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Metric
    from hubbub_client.sampling import ByteSource

# A report costs as many draws as the set has values, some quarter of the domain at epsilon 1.
MOST_VALUES = 1024


def _rarest(parameters: "dict[str, int]") -> int:
    """Of the 2**draw_bits inputs of a draw, those that give its rarest result, at least."""
    return (1 << parameters["draw_bits"]) // (parameters["domain"] - 1)


def domain_of(parameters: "dict[str, int]") -> int:
    """How many values a plan must list; 0 where any is taken. Raises ValueError for impossible integers."""
    check_threshold(parameters["threshold"], parameters["precision"])
    domain, size = parameters["domain"], parameters["size"]
    if not 1 <= size < domain <= MOST_VALUES:
        raise ValueError("a set of %d among %d values" % (size, domain))
    if parameters["threshold"] * domain < size << parameters["precision"]:
        raise ValueError("the device's value is in its set less often than another")  # which tells as much
    if _rarest(parameters) <= size:
        raise ValueError("too few random bits for a draw")
    return domain


def worst_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """a (d - w) / ((1 - a) w) for w of d values, times L / (L - w) for the bias of the w draws.

    A set that holds the value has a / C(d - 1, w - 1), one that does not (1 - a) / C(d - 1, w). Each result of a draw
    stands for r or r + 1 inputs with r at least L, so two sets of the other values are apart by (1 + 1 / L)**w at most,
    which is below L / (L - w). So this lies above the largest ratio of any one set, by less than w / (L - w) of it.
    """
    domain, size, threshold = parameters["domain"], parameters["size"], parameters["threshold"]
    rest = (1 << parameters["precision"]) - threshold
    rarest = _rarest(parameters)
    return threshold * (domain - size) * rarest, rest * size * (rarest - size)


class Encoder:
    """Encodes one value of a closed domain into a set of values."""

    def __init__(self, metric: "Metric", secret: bytes) -> None:  # noqa: ARG002 - one signature for every mechanism
        p = metric.parameters
        self._metric = metric
        self._domain = p["domain"]
        self._size = p["size"]
        self._draw_bits = p["draw_bits"]
        self._draw_bytes = (p["draw_bits"] + 7) // 8
        self._threshold = p["threshold"]
        self._precision = p["precision"]
        self._draws_at = (p["precision"] + 7) // 8
        self.random_bytes = self._draws_at + p["size"] * self._draw_bytes

    def encode(self, data: bytes, source: "ByteSource") -> bytes:
        """The record of one report.

        The other values are drawn without replacement, by Floyd's algorithm (Bentley, Floyd, "A sample of brilliance",
        CACM 1987): draw number i is from the first few, and a value that is already in the set gives way to the last of
        them. Leaving out the first draw makes it draw one value less, and the device's own is the one that is missing.
        """
        value = self._metric.index_of(data)
        noise = read(source, self.random_bytes)
        keep = int.from_bytes(noise[: self._draws_at], "little") & ((1 << self._precision) - 1)
        keep = bernoulli(keep, self._threshold, self._precision)
        mask = (1 << self._draw_bits) - 1
        at = self._draws_at
        others = 0  # a bit for each value but the device's own
        put = 1 - keep
        for last in range(self._domain - 1 - self._size, self._domain - 1):
            uniform = int.from_bytes(noise[at : at + self._draw_bytes], "little") & mask
            at += self._draw_bytes
            lane = uniform_below(uniform, last + 1, self._draw_bits)
            lane += (last - lane) * ((others >> lane) & 1)
            others |= put << lane
            put = 1
        below = others & ((1 << value) - 1)
        return pack(self._metric.fields, [below | ((others >> value << 1 | keep) << value)])
