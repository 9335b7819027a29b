"""Deployed settings that were published load as they are, and give the epsilon that was published."""

from fractions import Fraction
from pathlib import Path

import pytest

from hubbub_client.records import width

from tests.registries import metric_of

APPLE = [
    ("emoji", "count-mean-sketch", 65536, 1024, 4),
    ("health", "count-mean-sketch", 65536, 256, 2),
    ("autoplay", "count-mean-sketch", 65536, 1024, 8),
    ("domains", "hadamard-count-mean-sketch", 1024, 32768, 4),
]


@pytest.mark.parametrize(("name", "mechanism", "hashes", "buckets", "epsilon"), APPLE)
def test_apple(tmp_path: Path, name: str, mechanism: str, hashes: int, buckets: int, epsilon: int) -> None:
    """Apple's four published settings load, at no more than the published epsilon and at least 99.9 % of it."""
    metric = metric_of(tmp_path, mechanism, hashes=hashes, width=buckets, epsilon=epsilon)
    assert epsilon * Fraction(999, 1000) <= metric.exact_epsilon <= epsilon
    bits = 16 + buckets if mechanism == "count-mean-sketch" else 10 + 15 + 1
    assert metric.device.record_bytes == width(metric.device.fields) == -(-bits // 8)
