"""The weights of all buckets at once are those that the fit gives one by one, and so are their variances."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub_decoder.numbers.law import Law
from hubbub_decoder.numbers.levels import Level
from hubbub_decoder.numbers.moments import WeightMoments, variance
from hubbub_decoder.numbers.paths import path_moments
from hubbub_decoder.numbers.tree import Tree

NAMES = ("w", "ww", "www", "fw", "fww", "fwww", "least", "greatest")


def drawn_levels(rng: np.random.Generator, nodes: list[int], likely: np.ndarray) -> list[Level]:
    levels = []
    for count in nodes:
        own, other, own_other, other_other, cube, own_square, own_cube, lump = rng.uniform(-0.1, 3, 8).tolist()
        n, share = int(rng.integers(0, 50)), likely.reshape(count, -1).sum(axis=1)
        levels.append(Level(n, share, own, other, own_other, other_other, cube, None, own_square, own_cube, lump))
    return levels


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
    errors = []
    for bucket in range(nodes[-1]):
        asked = np.arange(nodes[-1]) < bucket if prefix else np.arange(nodes[-1]) == bucket
        weights = tree.weights(asked.astype(np.float64))
        one = [WeightMoments.of(weight, level.share) for weight, level in zip(weights, levels, strict=True)]
        for all_of, single in zip(together, one, strict=True):
            found = [getattr(all_of, name)[bucket] for name in NAMES]
            assert found == pytest.approx([float(getattr(single, name)) for name in NAMES], abs=1e-9)
        errors.append(float(variance(levels, one, np.asarray(likely[asked].sum()))))
    share = below[:-1] if prefix else likely
    assert variance(levels, together, share) == pytest.approx(errors, abs=1e-9)


@given(st.lists(st.integers(1, 2), min_size=1, max_size=3), st.integers(0, 1 << 32), st.booleans())
@settings(max_examples=10)
def test_laws_of_all_buckets_are_those_of_each(bits: list[int], seed: int, all_in_one: bool) -> None:
    """Where the values are in a bucket, and where they are spread as all others, tell the same law at once and one by
    one; also of a bucket that everybody holds, with the others taken to be spread evenly."""
    rng = np.random.default_rng(seed)
    children = [1 << each for each in bits]
    nodes = np.cumprod(children).tolist()
    count = nodes[-1]
    likely = np.eye(count)[0] if all_in_one else rng.dirichlet(np.full(count, 0.3))
    levels = drawn_levels(rng, nodes, likely)
    tree = Tree.of(children, [level.noise for level in levels])
    weights = path_moments(tree, levels, np.arange(count), np.concatenate([[0], np.cumsum(likely)]), prefix=False)
    together = Law.of(
        levels,
        weights,
        [each.inside().report(level) for each, level in zip(weights, levels, strict=True)],
        [each.outside(likely, level.nodes, count).report(level) for each, level in zip(weights, levels, strict=True)],
        likely,
    )
    for bucket in range(count):
        own, others = np.eye(count)[bucket], np.where(np.arange(count) == bucket, 0, likely)
        others = others / others.sum() if likely[bucket] < 1 else (1 - own) / (count - 1)
        each = [
            [WeightMoments.of(weight, spread.reshape(level.nodes, -1).sum(axis=1)) for spread in (own, others)]
            for weight, level in zip(tree.weights(own), levels, strict=True)
        ]
        inside, outside = ([two[i].report(level) for two, level in zip(each, levels, strict=True)] for i in (0, 1))
        one = Law.of(levels, [two[0] for two in each], inside, outside, np.asarray(likely[bucket]))
        for field in fields(Law):
            assert getattr(together, field.name)[bucket] == pytest.approx(float(getattr(one, field.name)), abs=1e-9)
