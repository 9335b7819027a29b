"""The shuffle of a part."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np

from hubbub_collector.seal.permute import permute


def keys(*values: int) -> bytes:
    """What a source of random bytes gives for these keys."""
    return np.array(values, np.uint64).tobytes()


def test_each_order_of_the_keys_gives_an_order_of_its_own() -> None:
    """Over all 24 rankings of four keys each order of four records comes out once: uniform keys, uniform order."""
    records = np.arange(8, dtype=np.uint8).reshape(4, 2)
    seen = Counter(
        permute(records, lambda size, ranking=ranking: keys(*ranking)).tobytes()  # type: ignore[misc]
        for ranking in itertools.permutations((3, 1 << 40, 5, (1 << 64) - 1))
    )
    assert set(seen.values()) == {1}
    assert len(seen) == 24


def test_equal_keys_are_drawn_again() -> None:
    """Where two keys are equal, all are drawn again: a tie would keep the order of arrival."""
    draws = iter([keys(1, 2, 1), keys(7, 7, 7), keys(9, 8, 7)])
    records = np.array([[1], [2], [3]], np.uint8)
    assert permute(records, lambda size: next(draws)).tolist() == [[3], [2], [1]]
    assert next(draws, None) is None


def test_records_stay_whole() -> None:
    """The permuted rows are the rows that went in, each as often."""
    rows = np.random.default_rng(5).integers(0, 3, (1000, 3), np.uint8)
    after = permute(rows)
    assert Counter(map(bytes, after)) == Counter(map(bytes, rows))
    assert after.shape == rows.shape


def test_one_record_and_none_are_fine() -> None:
    """The smallest inputs are permuted as well."""
    assert permute(np.zeros((1, 4), np.uint8)).shape == (1, 4)
    assert permute(np.zeros((0, 4), np.uint8)).shape == (0, 4)
