"""d bits for a histogram (Ding, Kulkarni, Yekhanin, "Collecting telemetry data privately", NIPS 2017, section 4).

The range is cut into ``buckets`` parts. A device draws ``bits`` different ones once and for all, whatever its value,
and says of each whether its value lies there: a bit that is flipped once for good and, with output perturbation, once
more in every report. Nothing is stored: buckets and permanent flips come from the device's secret.

The permanent flips depend on which of the device's buckets holds the value, or on that none does. So a value that moves
between buckets that the device does not report on changes nothing at all.
"""

from hubbub_client.integer_range import offset_in_range
from hubbub_client.permanent_bit import bit_ratio, check_flips, permanent_bit_ratio
from hubbub_client.prf import expand
from hubbub_client.records import pack
from hubbub_client.sampling import bernoulli_lanes, lanes_bytes, read, uniform_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Metric
    from hubbub_client.sampling import ByteSource


def domain_of(parameters: "dict[str, int]") -> int:
    """0: a plan lists no values. Raises ValueError for impossible integers."""
    check_flips(parameters)
    if not 1 <= parameters["bits"] <= parameters["buckets"] <= parameters["span"] + 1:
        raise ValueError("%d bits of %d buckets" % (parameters["bits"], parameters["buckets"]))
    return 0


def _differing(parameters: "dict[str, int]") -> int:
    """Two values differ in two of a device's bits where both lie in its buckets; with one bit, in that one."""
    return 2 if parameters["bits"] > 1 else 1


def worst_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """That of one report; the buckets in it depend on no value."""
    return ratio_after(parameters, 1)


def ratio_after(parameters: "dict[str, int]", reports: int) -> "tuple[int, int]":
    """e^epsilon of ``reports`` reports of one value, exactly: bits are independent, and one that falls is at its worst
    all ones, one that rises all zeros, each with the same ratio."""
    numerator, denominator = bit_ratio(parameters, reports)
    return numerator ** _differing(parameters), denominator ** _differing(parameters)


def permanent_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """e^epsilon that no number of reports of one value exceeds."""
    numerator, denominator = permanent_bit_ratio(parameters)
    return numerator ** _differing(parameters), denominator ** _differing(parameters)


def buckets_of(metric: "Metric", secret: bytes) -> "list[int]":
    """The buckets of the device that holds ``secret``, for good, in ascending order: uniform without replacement.

    Draw number i is uniform over the buckets that are left, counted past those already drawn. The buckets depend on no
    value, so the bias of a draw (below 2**-64 of it) costs no privacy.
    """
    p = metric.parameters
    draw_bytes = (p["draw_bits"] + 7) // 8
    drawn = expand(secret, b"hubbub flip buckets", metric.fingerprint, p["bits"] * draw_bytes)
    buckets: list[int] = []
    for i in range(p["bits"]):
        uniform = int.from_bytes(drawn[i * draw_bytes : (i + 1) * draw_bytes], "little") & ((1 << p["draw_bits"]) - 1)
        bucket = uniform_below(uniform, p["buckets"] - i, p["draw_bits"])
        for taken in buckets:
            bucket += bucket >= taken
        buckets = sorted(buckets + [bucket])
    return buckets


class Encoder:
    """Encodes an integer of the range into the device's buckets and a noisy bit for each."""

    def __init__(self, metric: "Metric", secret: bytes) -> None:
        p = metric.parameters
        self._metric = metric
        self._secret = secret
        self._all_buckets = p["buckets"]
        self._span = p["span"]
        self._bits = p["bits"]
        self._flip = (p["threshold"], p["precision"])
        self._perturbation = (p["perturbation"], p["perturbation_bits"])
        self._buckets = buckets_of(metric, secret)
        self._permanent_bytes = lanes_bytes(p["bits"], p["precision"])
        self.random_bytes = lanes_bytes(p["bits"], p["perturbation_bits"])

    def permanent_key(self, data: bytes) -> bytes:
        """What the permanent noise of a value depends on: the place of its bucket. Raises RejectedValueError."""
        return self._place(data).to_bytes(4, "big")

    def encode(self, data: bytes, source: "ByteSource") -> bytes:
        """The record of one report."""
        place = self._place(data)
        context = self._metric.fingerprint + place.to_bytes(4, "big")
        permanent = expand(self._secret, b"hubbub flip bits", context, self._permanent_bytes)
        threshold, precision = self._flip
        held = (1 << place) & ((1 << self._bits) - 1)  # no bit at all for the place past the last
        bits = held ^ bernoulli_lanes(permanent, 0, self._bits, threshold, precision)
        threshold, precision = self._perturbation
        bits ^= bernoulli_lanes(read(source, self.random_bytes), 0, self._bits, threshold, precision)
        return pack(self._metric.fields, self._buckets + [bits])

    def _place(self, data: bytes) -> int:
        """Which of the device's buckets holds the value, from 0; ``bits`` where none does."""
        bucket = offset_in_range(self._metric, data) * self._all_buckets // (self._span + 1)
        place = self._bits
        for i in range(self._bits):
            # A choice without a branch: True is 1, and -1 is all ones.
            place ^= (place ^ i) & -(self._buckets[i] == bucket)
        return place
