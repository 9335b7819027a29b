"""RAPPOR: a Bloom filter under permanent and instantaneous randomized response.

Source: Erlingsson, Pihur, Korolova, "RAPPOR", CCS 2014, section 2.

The filter of the device's cohort is noised twice. The permanent noise comes from the device secret, so the same value
always meets the same noise, and nothing is stored; the instantaneous noise is new in every report. ``hashes`` of 0 is
basic RAPPOR (one bit a value); ``irr_precision`` of 0 is one-time RAPPOR, whose only noise is new in every report.
"""

from hubbub_client.hashing import bucket, item_key
from hubbub_client.prf import expand
from hubbub_client.records import pack
from hubbub_client.sampling import bernoulli_lanes, check_flip, check_threshold, lanes_bytes, read, uniform_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Metric
    from hubbub_client.sampling import ByteSource

_COHORT_BYTES = 12
_MOST_COHORTS = 1 << 16


def domain_of(parameters: "dict[str, int]") -> int:
    """How many values a plan must list; 0 where any is taken. Raises ValueError for impossible integers."""
    check_flip(parameters["prr_threshold"], parameters["prr_precision"])
    if parameters["irr_precision"]:
        check_threshold(parameters["irr_q"], parameters["irr_precision"])
        check_threshold(parameters["irr_p"], parameters["irr_precision"])
        if parameters["irr_p"] >= parameters["irr_q"]:
            raise ValueError("p is not below q")  # worst_ratio is written for this side
    if not 1 <= parameters["cohorts"] <= _MOST_COHORTS:
        raise ValueError("%d cohorts" % parameters["cohorts"])  # a cohort is sent in the clear, and for good
    if not parameters["hashes"]:
        if parameters["bits"] < 2:
            raise ValueError("fewer than two values")
        return parameters["bits"]
    if parameters["bits"] != 1 << parameters["bits_bits"]:
        raise ValueError("a filter of %d bits" % parameters["bits"])  # a bucket past the last bit would have no noise
    return 0


def worst_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """(q* (1 - p*) / (p* (1 - q*)))**h: two values set h bits each, so at most 2 h bits differ.

    q* and p* are the probabilities that a report shows 1 where the filter holds 1 and 0. Section 3 of the paper,
    theorem 1 (one-time) and theorem 2.
    """
    flip = parameters["prr_threshold"]
    stay = (1 << parameters["prr_precision"]) - flip
    total = stay + flip
    one, zero = stay, flip
    if parameters["irr_precision"]:
        q, p = parameters["irr_q"], parameters["irr_p"]
        total <<= parameters["irr_precision"]
        one, zero = stay * q + flip * p, flip * q + stay * p
    hashes = parameters["hashes"] or 1
    return (one * (total - zero)) ** hashes, (zero * (total - one)) ** hashes


def ratio_after(parameters: "dict[str, int]", reports: int) -> "tuple[int, int] | None":
    """e^epsilon of ``reports`` (at least 1) reports of ONE value, exactly; None for one-time RAPPOR.

    The permanent response is shared by all of them, so they are not independent. With a = 1 - f/2, t reports of a
    filter bit that is 1 show s ones, in one given order, with probability a q^s (1-q)^(t-s) + (1-a) p^s (1-p)^(t-s);
    for a bit that is 0, a and 1 - a change places. Their quotient rises with (q/p)^s ((1-q)/(1-p))^(t-s), and that
    with s: the worst output of a bit that falls is all ones, and of a bit that rises all zeros. Two values differ in
    at most h bits of each kind. Section 3 of the paper gives t = 1 (theorem 2) and the limit (theorem 1).
    """
    if not parameters["irr_precision"]:
        return None
    total = 1 << parameters["irr_precision"]
    q, p = parameters["irr_q"], parameters["irr_p"]
    ones = _shared(parameters, q**reports, p**reports)
    zeros = _shared(parameters, (total - p) ** reports, (total - q) ** reports)
    hashes = parameters["hashes"] or 1
    return (ones[0] * zeros[0]) ** hashes, (ones[1] * zeros[1]) ** hashes


def permanent_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """e^eps_inf, which no number of reports of one value exceeds: ((1 - f/2) / (f/2))**(2 h). Theorem 1."""
    flip = parameters["prr_threshold"]
    stay = (1 << parameters["prr_precision"]) - flip
    bits = 2 * (parameters["hashes"] or 1)
    return stay**bits, flip**bits


def _shared(parameters: "dict[str, int]", likely: int, unlikely: int) -> "tuple[int, int]":
    """The ratio of an output that is ``likely`` under one permanent bit, ``unlikely`` under the other."""
    flip = parameters["prr_threshold"]
    stay = (1 << parameters["prr_precision"]) - flip
    return stay * likely + flip * unlikely, flip * likely + stay * unlikely


def cohort_of(metric: "Metric", secret: bytes) -> int:
    """The cohort of the device that holds ``secret``, for good: nothing is stored, and two metrics share no cohort."""
    uniform = int.from_bytes(expand(secret, b"hubbub rappor cohort", metric.fingerprint, _COHORT_BYTES), "little")
    return uniform_below(uniform, metric.parameters["cohorts"], 8 * _COHORT_BYTES)


class Encoder:
    """Encodes a value into the device's cohort and a noisy Bloom filter (or one-hot vector)."""

    def __init__(self, metric: "Metric", secret: bytes) -> None:
        p = metric.parameters
        self._metric = metric
        self._secret = secret
        self._bits = p["bits"]
        self._bits_bits = p["bits_bits"]
        self._hashes = p["hashes"]
        self._salt = p["salt"]
        self._prr = (p["prr_threshold"], p["prr_precision"])
        self._irr = (p["irr_q"], p["irr_p"], p["irr_precision"])
        self._cohort = cohort_of(metric, secret)
        # What tells one permanent noise from another, besides the value: the metric (its fingerprint) and the cohort.
        self._context = metric.fingerprint + self._cohort.to_bytes(4, "big")
        self._prr_bytes = lanes_bytes(p["bits"], p["prr_precision"])
        self.random_bytes = lanes_bytes(p["bits"], p["irr_precision"]) if p["irr_precision"] else self._prr_bytes

    def permanent_key(self, data: bytes) -> bytes:
        """What the permanent noise is keyed by, besides metric and cohort: the value itself."""
        return data

    def encode(self, data: bytes, source: "ByteSource") -> bytes:
        """The record of one report."""
        held = self._filter(data)
        noise = read(source, self.random_bytes)
        threshold, precision = self._prr
        q, p, irr_precision = self._irr
        if not irr_precision:  # public: a parameter of the plan
            sent = held ^ bernoulli_lanes(noise, 0, self._bits, threshold, precision)
        else:
            permanent_noise = expand(self._secret, b"hubbub rappor prr", self._context + data, self._prr_bytes)
            permanent = held ^ bernoulli_lanes(permanent_noise, 0, self._bits, threshold, precision)
            # Both thresholds read the same words: each lane is used by one of the two only.
            ones = bernoulli_lanes(noise, 0, self._bits, q, irr_precision)
            zeros = bernoulli_lanes(noise, 0, self._bits, p, irr_precision)
            sent = zeros ^ ((zeros ^ ones) & permanent)
        return pack(self._metric.fields, [self._cohort, sent])

    def _filter(self, data: bytes) -> int:
        if not self._hashes:  # public: basic RAPPOR
            return 1 << self._metric.index_of(data)
        key = item_key(data, self._salt)
        held = 0
        for i in range(self._hashes):
            held |= 1 << bucket(key, self._salt, self._cohort * self._hashes + i, self._bits_bits)
        return held
