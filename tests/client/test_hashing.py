from __future__ import annotations

import subprocess
import sys
from collections import Counter

import xxhash
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client import hashing
from hubbub_client.xxh32 import xxh32


@given(st.binary(max_size=100), st.integers(0, (1 << 32) - 1))
def test_the_plain_xxh32_is_xxhash(data: bytes, seed: int) -> None:
    """The integer XXH32 that boards run gives what the xxhash package gives."""
    assert xxh32(data, seed) == xxhash.xxh32_intdigest(data, seed)


def test_splitmix64_gives_the_published_stream() -> None:
    """The stream of seed 1234567 is the reference implementation's."""
    expected = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    assert [hashing.splitmix64(1234567, i) for i in range(5)] == expected


@given(st.binary(max_size=32), st.integers(0, (1 << 64) - 1), st.integers(0, 1 << 20), st.integers(0, 20))
def test_a_bucket_lies_below_its_width(data: bytes, salt: int, index: int, bits: int) -> None:
    """A bucket is always one of ``2**bits``, and a narrower table's bucket is the wider one's leading bits."""
    key = hashing.item_key(data, salt)
    assert 0 <= hashing.bucket(key, salt, index, bits) < (1 << bits)
    assert hashing.bucket(key, salt, index, bits) == hashing.bucket(key, salt, index, bits + 1) >> 1


def test_two_values_collide_as_often_as_a_universal_family_lets_them() -> None:
    """Over 65,536 hash functions two values share a bucket of 16 in 1/16 +- 6 standard errors (false alarm 2e-9)."""
    a, b = hashing.item_key(b"apple", 7), hashing.item_key(b"pear", 7)
    hits = sum(hashing.bucket(a, 7, j, 4) == hashing.bucket(b, 7, j, 4) for j in range(65536))
    assert abs(hits - 4096) < 6 * (65536 * 15 / 256) ** 0.5


def test_a_value_spreads_evenly_over_the_hash_functions() -> None:
    """Over 65,536 hash functions a value falls into each of 16 buckets within 6 standard errors of evenly (3e-8)."""
    key = hashing.item_key(b"apple", 7)
    counts = Counter(hashing.bucket(key, 7, j, 4) for j in range(65536))
    assert all(abs(counts[bucket] - 4096) < 6 * (65536 * 15 / 256) ** 0.5 for bucket in range(16))


def test_another_process_hashes_alike() -> None:
    """A new process, with another seed for Python's own hash(), puts a value into the same bucket (fault 7)."""
    code = "from hubbub_client.hashing import *; print(bucket(item_key('né'.encode(), 99), 99, 3, 16))"
    printed = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert printed == {f"{hashing.bucket(hashing.item_key('né'.encode(), 99), 99, 3, 16)}\n"}
