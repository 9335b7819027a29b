"""Encoders with a planted fault each, of the kinds that released libraries have had. The numbers are those of the list
of known faults in the documentation."""

from __future__ import annotations

from typing import Any

from hubbub_client.hashing import bucket
from hubbub_client.mechanisms import (
    count_mean_sketch,
    hadamard_count_mean_sketch,
    randomized_response,
    rappor,
    unary_encoding,
)
from hubbub_client.plan import Metric
from hubbub_client.records import pack, unpack
from hubbub_client.sampling import bernoulli, bernoulli_lanes, read


class TrueValueFirst(unary_encoding.Encoder):
    """Fault 1: sends which bits are set, as a list, and begins with the true value where its bit is set."""

    def encode(self, data: bytes, source: Any) -> bytes:
        bits = int.from_bytes(super().encode(data, source), "little")
        own = self._metric.index_of(data)
        indices = [i for i in range(self._domain) if bits >> i & 1]
        return bytes(sorted(indices, key=lambda i: i != own))


class HashesIgnored(rappor.Encoder):
    """Fault 2: its noise was chosen for fewer hash functions than it sets bits with."""

    def __init__(self, metric: Metric, secret: bytes) -> None:
        super().__init__(metric, secret)
        self._hashes *= 2


class HalfEpsilonMixedUp(hadamard_count_mean_sketch.Encoder):
    """Fault 3: epsilon is taken for epsilon/2, so that the one bit is flipped as if epsilon were twice as high."""

    def __init__(self, metric: Metric, secret: bytes) -> None:
        super().__init__(metric, secret)
        # p / (1 - p) = e^-epsilon becomes its square.
        flip, stay = self._threshold, (1 << self._precision) - self._threshold
        self._threshold = (flip * flip << self._precision) // (flip * flip + stay * stay)


class LastBitPlain(unary_encoding.Encoder):
    """Fault 6: the last bit is not randomised."""

    def encode(self, data: bytes, source: Any) -> bytes:
        (bits,) = unpack(self._metric.fields, super().encode(data, source))
        last = 1 << (self._domain - 1)
        mine = 1 << self._metric.index_of(data)
        return pack(self._metric.fields, [bits & ~last | mine & last])


class LastBucketPlain(count_mean_sketch.Encoder):
    """Fault 6 in a sketch, where no list says which values fall into the last bucket."""

    def encode(self, data: bytes, source: Any) -> bytes:
        held: list[bytes] = []

        def kept(count: int) -> bytes:
            held.append(source(count))
            return held[0]

        j, row = unpack(self._fields, super().encode(data, kept))
        flips = bernoulli_lanes(held[0], self._row_at, 1 << self._width_bits, self._threshold, self._precision)
        return pack(self._fields, [j, row ^ flips & (1 << ((1 << self._width_bits) - 1))])


class PythonHash(count_mean_sketch.Encoder):
    """Fault 7: items are hashed by ``hash()``, which differs from process to process."""

    def encode(self, data: bytes, source: Any) -> bytes:
        noise = read(source, self.random_bytes)
        j = int.from_bytes(noise[: self._row_at], "little") & ((1 << self._hashes_bits) - 1)
        key = hash(data) & 0xFFFFFFFF, hash(data) >> 32 & 0xFFFFFFFF
        row = 1 << bucket(key, self._salt, j, self._width_bits)
        flips = bernoulli_lanes(noise, self._row_at, 1 << self._width_bits, self._threshold, self._precision)
        return pack(self._fields, [j, row ^ flips])


class Quantised(count_mean_sketch.Encoder):
    """Fault 10: the probability of a flip is cut to four bits, which the stated epsilon knows nothing of."""

    def __init__(self, metric: Metric, secret: bytes) -> None:
        super().__init__(metric, secret)
        rest = self._precision - 4
        self._threshold = self._threshold >> rest << rest


class ModuloBias(randomized_response.Encoder):
    """Fault 10: a byte modulo the domain, which is no divisor of 256, in place of a uniform draw."""

    def encode(self, data: bytes, source: Any) -> bytes:
        index = self._metric.index_of(data)
        noise = int.from_bytes(read(source, self.random_bytes), "little")
        keep = bernoulli(noise & ((1 << self._precision) - 1), self._threshold, self._precision)
        other = (noise >> self._precision & 0xFF) % self._domain
        return pack(self._metric.fields, [other ^ ((other ^ index) & -keep)])


class SharedPermanentNoise(rappor.Encoder):
    """Fault 13: the metric is not in what the permanent noise is keyed by."""

    def __init__(self, metric: Metric, secret: bytes) -> None:
        super().__init__(metric, secret)
        self._context = self._cohort.to_bytes(4, "big")


class CorrelatedLanes(unary_encoding.Encoder):
    """Saves random bytes: every bit takes the noise of the first."""

    def encode(self, data: bytes, source: Any) -> bytes:
        def one_lane(count: int) -> bytes:
            size = (self._domain + 7) // 8
            noise = source(count)
            words = [noise[i : i + size] for i in range(0, count, size)]
            return b"".join((b"\xff" if word[0] & 1 else b"\x00") * size for word in words)

        return super().encode(data, one_lane)


class OneValueKeptTooOften(randomized_response.Encoder):
    """Keeps one value of many, neither the first nor the last, a little more often than the others."""

    def encode(self, data: bytes, source: Any) -> bytes:
        right = self._threshold
        self._threshold += (self._metric.index_of(data) == self._domain // 3) << (self._precision - 4)
        try:
            return super().encode(data, source)
        finally:
            self._threshold = right
