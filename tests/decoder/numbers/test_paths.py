"""The weights of all buckets at once are those that the fit gives one by one, and so are their variances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub_decoder.numbers.levels import Level
from hubbub_decoder.numbers.moments import WeightMoments, third_moment, variance
from hubbub_decoder.numbers.paths import path_moments
from hubbub_decoder.numbers.tree import Tree

NAMES = ("w", "ww", "www", "fw", "fww", "most")


def drawn_levels(rng: np.random.Generator, nodes: list[int], likely: np.ndarray) -> list[Level]:
    return [
        Level(
            int(rng.integers(0, 50)), likely.reshape(count, -1).sum(axis=1), own, other, own_other, other_other, third
        )
        for count in nodes
        for own, other, own_other, other_other, third in [rng.uniform(-0.1, 3, 5).tolist()]
    ]


@given(st.lists(st.integers(1, 2), min_size=1, max_size=4), st.integers(0, 1 << 32), st.booleans())
@settings(max_examples=15)
def test_all_at_once_is_one_by_one(bits: list[int], seed: int, prefix: bool) -> None:
    """For every bucket, alone or with all below it: sums, squares, cubes, products with the shares, and the largest."""
    rng = np.random.default_rng(seed)
    children = [1 << each for each in bits]
    nodes = np.cumprod(children).tolist()
    likely = rng.dirichlet(np.full(nodes[-1], 0.3))
    levels = drawn_levels(rng, nodes, likely)
    tree = Tree.of(children, [level.noise for level in levels])
    below = np.concatenate([[0], np.cumsum(likely)])
    together = path_moments(tree, levels, np.arange(nodes[-1]), below, prefix=prefix)
    errors, thirds = [], []
    for bucket in range(nodes[-1]):
        asked = np.arange(nodes[-1]) < bucket if prefix else np.arange(nodes[-1]) == bucket
        weights = tree.weights(asked.astype(np.float64))
        one = [WeightMoments.of(weight, level.share) for weight, level in zip(weights, levels, strict=True)]
        for all_of, single in zip(together, one, strict=True):
            found = [getattr(all_of, name)[bucket] for name in NAMES]
            assert found == pytest.approx([float(getattr(single, name)) for name in NAMES], abs=1e-9)
        errors.append(float(variance(levels, one, np.asarray(likely[asked].sum()))))
        thirds.append(float(third_moment(levels, one)))
    share = below[:-1] if prefix else likely
    assert variance(levels, together, share) == pytest.approx(errors, abs=1e-9)
    assert third_moment(levels, together) == pytest.approx(thirds, abs=1e-9)
