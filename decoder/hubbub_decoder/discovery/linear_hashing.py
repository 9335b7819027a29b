"""The support of every item at once, under linear hash functions: one fast transform for all candidates.

Items, functions and the field are those of ``hubbub_client.mechanisms.prefix_extending_method``.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from hubbub_client.mechanisms.prefix_extending_method import times
from hubbub_decoder.counting.state import IntArray
from hubbub_decoder.counting.walsh import walsh_hadamard

Integers = npt.NDArray[np.int64]


@cache
def products(bits: int) -> Integers:
    """The multiplication table of the field of 2**bits elements; shape (2**bits, 2**bits)."""
    size = 1 << bits
    return np.array([[times(a, b, bits) for b in range(size)] for a in range(size)], np.int64)


@cache
def characters(bits: int) -> Integers:
    """For each element c the mask m with parity(m & y) = trace(c y) for every y; shape (2**bits,).

    The trace is y + y**2 + y**4 + ..., which is 0 or 1; bit i of the mask is the trace of c times element 1 << i.
    """
    table, size = products(bits), 1 << bits
    power = np.arange(size)
    trace = np.zeros(size, np.int64)
    for _ in range(bits):
        trace ^= power
        power = table[power, power]
    basis = 1 << np.arange(bits)
    return np.asarray((trace[table[:, basis]] * basis).sum(axis=1), np.int64)


@cache
def places(bits: int, dimension: int) -> npt.NDArray[np.int32]:
    """Where function f lies in the transform of character c: the masks of c times its coordinates; shape (c, f)."""
    masked = characters(bits)[products(bits)]  # [c, coordinate]
    at = np.zeros((1 << bits, 1), np.int64)
    for i in range(dimension - 1):  # the later a coordinate, the higher its bits
        at = (at[:, np.newaxis, :] | (masked << (bits * i))[:, :, np.newaxis]).reshape(1 << bits, -1)
    return at.astype(np.int32)


def support_of_items(counts: IntArray, bits: int, dimension: int) -> Integers:
    """How many reports of each family support each item: those with its bucket; shape (families, items).

    ``counts`` (families, functions, 2**bits) is how many reports there are of each function and bucket.

    With chi_c(y) = (-1)**trace(c y), the sum of chi_c(u) over all c is 2**bits where u is 0, else 0. So the support of
    the item of coordinates x_0 and x is 2**-bits times the sum over c of chi_c(x_0) sum over f of chi_c(<f, x>) M_c(f),
    where M_c(f) is the sum over buckets y of chi_c(y) counts[f, y]. Each sum is a Walsh-Hadamard transform, with c f in
    the place of f: all items cost as much as a few.
    """
    families, functions, size = counts.shape
    at = characters(bits)
    by_bucket = np.ascontiguousarray(counts.transpose(2, 0, 1), np.int64).reshape(size, -1)
    by_character = walsh_hadamard(by_bucket)[at].reshape(size, families, functions)
    moved = np.zeros((functions, size, families), np.int64)
    for c in range(1, size):
        moved[places(bits, dimension)[c], c] = by_character[c].T
    moved[0, 0] = by_character[0].sum(axis=1)  # of the trivial character, all functions lie in one place
    spread = walsh_hadamard(moved.reshape(functions, -1)).reshape(functions, size, families)  # [x, c, family]
    ordered = np.empty((size, functions, families), np.int64)
    ordered[at] = spread.transpose(1, 0, 2)
    support = walsh_hadamard(ordered.reshape(size, -1)).reshape(size, functions, families)  # [x_0, x, family]
    # An item's lowest bits are x_0.
    return np.ascontiguousarray(support.transpose(2, 1, 0)).reshape(families, -1) >> bits


def linear_buckets(item: Integers, function: Integers, bits: int, dimension: int) -> Integers:
    """The bucket of each item under the function beside it; all of shape (n,)."""
    table, mask = products(bits), (1 << bits) - 1
    bucket = item & mask
    for i in range(1, dimension):
        bucket = bucket ^ table[(function >> (bits * (i - 1))) & mask, (item >> (bits * i)) & mask]
    return np.asarray(bucket, np.int64)
