"""The exact output distribution of the real encoders, in rational numbers, by driving them with all random inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any
from unittest import mock

from hubbub_client.exponential import MAX_NANO
from hubbub_client.plan import SCHEMA, Metric, Plan, definition_fingerprint, mechanism
from hubbub_registry.calibration import Calibrated
from hubbub_simulations.audit.ratios import worst_of_distributions

Distribution = dict[bytes, Fraction]
VALUES = [f"v{i}" for i in range(1 << 10)]


def device_metric(kind: str, parameters: Mapping[str, int], fields: list[list[Any]], domain: int = 0) -> Metric:
    """A metric as a device holds it, made from bare integers, with the largest epsilon bound a plan can carry."""
    entry: dict[str, Any] = {
        "name": "m",
        "mechanism": kind,
        "parameters": dict(parameters),
        "fields": fields,
        "period": 86400,
        "reports_per_period": 1,
        "epsilon_nano": MAX_NANO,
        "declared_nano": MAX_NANO,
    }
    if domain:
        entry["values"] = VALUES[:domain]
    entry["fingerprint"] = definition_fingerprint("test", entry).hex()
    entry["expires"] = 1 << 40
    return Plan({"schema": SCHEMA, "namespace": "test", "metrics": [entry]}).metric("m")


def calibrated_metric(kind: str, calibrated: Calibrated, domain: int = 0) -> Metric:
    """The same from what a calibration gave."""
    return device_metric(kind, calibrated.parameters, [[f.name, f.bits, f.domain] for f in calibrated.fields], domain)


def encoder_of(metric: Metric) -> Any:
    """The client's own encoder."""
    return mechanism(metric.mechanism).Encoder(metric, b"s" * 32)


def words(sizes: list[int]) -> Iterator[bytes]:
    """All inputs made of fields of these many random bits, each in bytes of its own (little-endian)."""
    for number in range(1 << sum(sizes)):
        parts = []
        for bits in sizes:
            parts.append((number & ((1 << bits) - 1)).to_bytes((bits + 7) // 8, "little"))
            number >>= bits
        yield b"".join(parts)


def enumerate_bytes(encoder: Any, value: bytes, inputs: Iterator[bytes]) -> Distribution:
    """The distribution of the record of ``value`` where the source gives each of ``inputs`` equally often."""
    counts: Counter[bytes] = Counter(encoder.encode(value, lambda _count, data=data: data) for data in inputs)
    total = sum(counts.values())
    return {record: Fraction(count, total) for record, count in counts.items()}


def enumerate_rappor(metric: Metric, value: bytes, permanent: list[bytes], instantaneous: list[bytes]) -> Distribution:
    """The same for RAPPOR's two noises, with the pseudorandom function in place of a uniform one."""
    encoder = encoder_of(metric)
    counts: Counter[bytes] = Counter()
    for noise in permanent:
        with mock.patch("hubbub_client.mechanisms.rappor.expand", lambda *_, noise=noise: noise):
            for data in instantaneous:
                counts[encoder.encode(value, lambda _count, data=data: data)] += 1
    return {record: Fraction(count, len(permanent) * len(instantaneous)) for record, count in counts.items()}


def worst_ratio(distributions: list[Distribution]) -> Fraction:
    """The largest ratio of an output's probabilities between two values; every output must be possible for both."""
    worst = worst_of_distributions({b"%d" % number: each for number, each in enumerate(distributions)})
    assert worst.ratio is not None, "an output that one value can give and another cannot: epsilon is infinite"
    return worst.ratio


def lane_marginals(encode: Callable[[bytes], int], lanes: int, precision: int) -> list[Fraction]:
    """P(bit = 1) of each lane, exactly, in 2**precision runs: every word gives all lanes the same random bit.

    Sound because a lane reads its own bits only (tested in test_sampling), so running all lanes in step runs each
    through all of its inputs.
    """
    size = (lanes + 7) // 8
    ones = [0] * lanes
    for number in range(1 << precision):
        data = b"".join((b"\xff" if (number >> i) & 1 else b"\x00") * size for i in range(precision))
        bits = encode(data)
        for lane in range(lanes):
            ones[lane] += (bits >> lane) & 1
    return [Fraction(count, 1 << precision) for count in ones]
