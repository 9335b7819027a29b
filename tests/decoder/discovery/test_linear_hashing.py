"""One transform gives the support of every item, and the twins of the client's functions are its twins."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.mechanisms.prefix_extending_method import linear
from hubbub_client.xxh32 import xxh32
from hubbub_decoder.discovery import many_xxh32
from hubbub_decoder.discovery.linear_hashing import characters, linear_buckets, products, support_of_items

SHAPES = [(1, 2), (1, 5), (2, 2), (2, 4), (3, 2), (3, 3), (4, 2), (5, 2), (6, 2), (7, 2), (8, 2)]


@pytest.mark.parametrize(("bits", "dimension"), SHAPES)
def test_the_support_of_every_item_is_the_sum_over_functions(bits: int, dimension: int) -> None:
    """The transform gives what adding up the cell of the item's bucket under each function gives, for each family."""
    rng = np.random.default_rng(bits * 10 + dimension)
    functions, size = 1 << (bits * (dimension - 1)), 1 << bits
    counts = rng.integers(0, 1000, (3, functions, size)).astype(np.uint16)
    support = support_of_items(counts, bits, dimension)
    assert support.shape == (3, functions * size)
    every = np.arange(functions)
    for item in rng.integers(0, functions * size, 64).tolist():
        at = np.array([linear(item, f, bits, dimension) for f in range(functions)])
        assert support[:, item].tolist() == counts[:, every, at].sum(axis=1).tolist()


@given(shape=st.sampled_from(SHAPES), seed=st.integers(0, 1 << 32))
def test_many_buckets_are_the_client_s(shape: tuple[int, int], seed: int) -> None:
    """The vectorised function gives the bucket that a device computes."""
    bits, dimension = shape
    rng = np.random.default_rng(seed)
    item = rng.integers(0, 1 << (bits * dimension), 20)
    function = rng.integers(0, 1 << (bits * (dimension - 1)), 20)
    found = linear_buckets(item, function, bits, dimension)
    assert found.tolist() == [
        linear(x, f, bits, dimension) for x, f in zip(item.tolist(), function.tolist(), strict=True)
    ]


@pytest.mark.parametrize("bits", range(1, 9))
def test_a_character_is_a_trace(bits: int) -> None:
    """parity(mask(c) & y) adds up over sums of c and of y, and depends on their product alone."""
    mask, table = characters(bits), products(bits)
    value = np.bitwise_count(mask[:, np.newaxis] & np.arange(1 << bits)) % 2  # [c, y]
    assert np.array_equal(value, value[1][table])
    assert value[1].sum() == 1 << (bits - 1)  # it is not 0 everywhere
    assert len(set(mask.tolist())) == 1 << bits


@pytest.mark.parametrize("length", range(1, 40))
def test_many_hashes_are_the_client_s(length: int) -> None:
    """XXH32 of many strings of one length is that of each, for lengths with and without whole stripes and words."""
    data = random.Random(length).randbytes(length * 8)
    rows = np.frombuffer(data, np.uint8).reshape(8, length)
    for seed in (0, 1, 0x9E3779B1, 0xFFFFFFFF):
        assert many_xxh32.xxh32(rows, seed).tolist() == [xxh32(bytes(row), seed) for row in rows]
