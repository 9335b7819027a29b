"""One bit for a mean (Ding, Kulkarni, Yekhanin, "Collecting telemetry data privately", NIPS 2017, sections 2 and 3).

The range is cut by ``points`` grid points. A device rounds its value to one of the two points around it, by an offset
alpha that it draws once and for all; each point is itself rounded, once and for all, to an end of the range; and the
bit that says which end is flipped once for good and, with output perturbation, once more in every report. On average
over devices every step keeps the mean, exactly but for 2**-64 of the range. Nothing is stored: alpha and the bits of
all points come from the device's secret.
"""

from hubbub_client.integer_range import offset_in_range
from hubbub_client.permanent_bit import bit_ratio, check_flips, permanent_bit_ratio
from hubbub_client.prf import expand
from hubbub_client.records import pack
from hubbub_client.sampling import bernoulli, read, uniform_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Metric
    from hubbub_client.sampling import ByteSource


def domain_of(parameters: "dict[str, int]") -> int:
    """0: a plan lists no values. Raises ValueError for impossible integers."""
    check_flips(parameters)
    if parameters["points"] < 2 or parameters["span"] < 1:
        raise ValueError("a range without two ends")
    return 0


def worst_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """That of one report: the two ends of the range are held by bits that are always 1 and always 0."""
    return bit_ratio(parameters, 1)


def ratio_after(parameters: "dict[str, int]", reports: int) -> "tuple[int, int]":
    """e^epsilon of ``reports`` reports of values that a device rounds to one point, exactly."""
    return bit_ratio(parameters, reports)


def permanent_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """e^epsilon that no number of reports of one point exceeds."""
    return permanent_bit_ratio(parameters)


def alpha_of(metric: "Metric", secret: bytes) -> int:
    """The offset in [0, ``span``) by which the device that holds ``secret`` rounds, for good.

    It depends on no value, so the bias of the draw costs no privacy; it moves the mean by less than 2**-64 of a step.
    """
    bits = metric.parameters["alpha_bits"]
    drawn = expand(secret, b"hubbub mean alpha", metric.fingerprint, (bits + 7) // 8)
    return uniform_below(int.from_bytes(drawn, "little") & ((1 << bits) - 1), metric.parameters["span"], bits)


class Encoder:
    """Encodes an integer of the range into one bit."""

    def __init__(self, metric: "Metric", secret: bytes) -> None:
        p = metric.parameters
        self._metric = metric
        self._secret = secret
        self._span = p["span"]
        self._steps = p["points"] - 1
        self._end_bits = p["end_bits"]
        self._flip = (p["threshold"], p["precision"])
        self._perturbation = (p["perturbation"], p["perturbation_bits"])
        self._alpha = alpha_of(metric, secret)
        self._permanent_bytes = (p["end_bits"] + p["precision"] + 7) // 8
        self.random_bytes = (p["perturbation_bits"] + 7) // 8

    def permanent_key(self, data: bytes) -> bytes:
        """What the permanent noise of a value depends on: its point. Raises RejectedValueError."""
        return self._point(data).to_bytes(4, "big")

    def encode(self, data: bytes, source: "ByteSource") -> bytes:
        """The record of one report."""
        bit = self._permanent_bit(self._point(data))
        noise = int.from_bytes(read(source, self.random_bytes), "little")
        perturbation, bits = self._perturbation
        return pack(self._metric.fields, [bit ^ bernoulli(noise & ((1 << bits) - 1), perturbation, bits)])

    def _point(self, data: bytes) -> int:
        # Multiplied by the number of steps, values and points are integers however the range divides.
        return (offset_in_range(self._metric, data) * self._steps + self._alpha) // self._span

    def _permanent_bit(self, point: int) -> int:
        context = self._metric.fingerprint + point.to_bytes(4, "big")
        noise = int.from_bytes(expand(self._secret, b"hubbub mean bit", context, self._permanent_bytes), "little")
        # 0 at the lowest point, 2**end_bits at the highest: their bits are certain before the flip.
        share = (point << self._end_bits) // self._steps
        end = bernoulli(noise & ((1 << self._end_bits) - 1), share, self._end_bits)
        threshold, precision = self._flip
        return end ^ bernoulli((noise >> self._end_bits) & ((1 << precision) - 1), threshold, precision)
