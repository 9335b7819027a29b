"""Which buckets a d-bit-flip device reports on, and which of them holds a value: exactly, through every draw."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from pathlib import Path
from unittest import mock

import pytest

from hubbub_client.mechanisms import d_bit_flip
from hubbub_client.plan import Metric

from tests.client.distribution import device_metric
from tests.registries import metric_of

SECRET = b"s" * 32


def flips(buckets: int, bits: int, draw_bits: int) -> Metric:
    width = (buckets - 1).bit_length()
    parameters = {
        "low": 0, "below_zero": 0, "span": buckets - 1, "buckets": buckets, "bits": bits, "draw_bits": draw_bits,
        "threshold": 1, "precision": 2, "perturbation": 0, "perturbation_bits": 0,
    }  # fmt: skip
    fields = [[f"bucket_{i}", width, 0 if buckets == 1 << width else buckets] for i in range(bits)]
    return device_metric("d-bit-flip", parameters, [*fields, ["bits", bits, 0]])


@pytest.mark.parametrize(("buckets", "bits", "draw_bits"), [(5, 3, 66), (4, 2, 8), (6, 2, 71), (3, 3, 72), (7, 1, 65)])
def test_every_set_of_buckets_is_as_likely(buckets: int, bits: int, draw_bits: int) -> None:
    """Over all draws each set comes equally often, from disjoint bytes of one pseudorandom stream, in rising order."""
    metric = flips(buckets, bits, draw_bits)
    size = (draw_bits + 7) // 8
    seen: Counter[tuple[int, ...]] = Counter()
    for draws in product(*[range(buckets - i) for i in range(bits)]):
        # The lowest and the highest number of random bits that stand for each draw; what is beyond them is noise.
        for high in (False, True):
            stream = b""
            for i, draw in enumerate(draws):
                among = buckets - i
                least = -(-(draw << draw_bits) // among)
                number = -(-((draw + 1) << draw_bits) // among) - 1 if high else least
                stream += (number | (1 << (8 * size)) - (1 << draw_bits)).to_bytes(size, "little")
            with mock.patch.object(d_bit_flip, "expand", return_value=stream) as expand:
                found = d_bit_flip.buckets_of(metric, SECRET)
            assert expand.call_args.args == (SECRET, b"hubbub flip buckets", metric.fingerprint, bits * size)
            assert found == sorted(set(found))
            seen[tuple(found)] += 1
    assert set(seen) == set(combinations(range(buckets), bits))
    assert len(set(seen.values())) == 1


@pytest.mark.parametrize(("buckets", "bits"), [(5, 5), (7, 3), (600, 40)])
def test_a_value_is_found_in_the_bucket_that_holds_it(tmp_path: Path, buckets: int, bits: int) -> None:
    """The place of a value among the device's buckets is that of its own bucket, or one past the last, for all."""
    metric = metric_of(tmp_path, "d-bit-flip", low=-10, high=589, buckets=buckets, bits=bits, epsilon=2).device
    encoder = d_bit_flip.Encoder(metric, SECRET)
    mine = d_bit_flip.buckets_of(metric, SECRET)
    for value in range(-10, 590):
        bucket = (value + 10) * buckets // 600
        place = int.from_bytes(encoder.permanent_key(str(value).encode()), "big")
        assert place == (mine.index(bucket) if bucket in mine else bits)
