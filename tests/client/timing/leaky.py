"""Encoders that tell something of the value or of the noise by what they do, rather than by what they send."""

from __future__ import annotations

from typing import Any

from hubbub_client.mechanisms import count_mean_sketch, randomized_response, unary_encoding
from hubbub_client.records import pack
from hubbub_client.sampling import read, uniform_below


class BranchOnNoise(randomized_response.Encoder):
    """Draws another value only where the truth is not kept."""

    def encode(self, data: bytes, source: Any) -> bytes:
        sent = self._metric.index_of(data)
        noise = int.from_bytes(read(source, self.random_bytes), "little")
        if noise & ((1 << self._precision) - 1) >= self._threshold:
            uniform = (noise >> self._precision) & ((1 << self._uniform_bits) - 1)
            sent = uniform_below(uniform, self._domain, self._uniform_bits)
        return pack(self._metric.fields, [sent])


class BranchOnValue(unary_encoding.Encoder):
    """Takes a shorter way for the first value."""

    def encode(self, data: bytes, source: Any) -> bytes:
        record = super().encode(data, source)
        return record if self._metric.index_of(data) == 0 else bytes(bytearray(record))


class LoopOverOnes(count_mean_sketch.Encoder):
    """Walks over the bits that are set in its noise."""

    def encode(self, data: bytes, source: Any) -> bytes:
        record = super().encode(data, source)
        left = int.from_bytes(record, "little")
        while left:
            left &= left - 1
        return record


class Rejection(randomized_response.Encoder):
    """Draws until a draw is below the domain."""

    def encode(self, data: bytes, source: Any) -> bytes:
        while source(1)[0] >= self._domain:
            pass
        return super().encode(data, source)
