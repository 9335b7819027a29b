"""Constrained inference against the dense least-squares problem that it solves in one pass up and one down."""

from __future__ import annotations

from itertools import accumulate
from operator import mul

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.numbers.nonnegative import nonnegative
from hubbub_decoder.numbers.tree import Tree

SHAPES = st.lists(st.integers(2, 4), min_size=1, max_size=4)
NOISES = st.floats(0.01, 100)


def dense(children: list[int], noise: list[float], shares: list[FloatArray]) -> FloatArray:
    """Generalised least squares for the buckets, written out: all sums add up, and the root is 1."""
    nodes = list(accumulate(children, mul))
    design = np.vstack([np.kron(np.eye(count), np.ones(nodes[-1] // count)) for count in nodes])
    scale = np.repeat(1 / np.sqrt(noise), nodes)
    even = np.full(nodes[-1], 1 / nodes[-1])
    # Whatever adds up to 0 can be added to even shares.
    free = np.linalg.qr(np.eye(nodes[-1]) - 1 / nodes[-1])[0][:, : nodes[-1] - 1]
    rows = design @ free * scale[:, np.newaxis]
    right = (np.concatenate(shares) - design @ even) * scale
    return np.asarray(even + free @ np.linalg.lstsq(rows, right, rcond=None)[0])


@given(SHAPES, st.data())
def test_the_fit_is_generalised_least_squares(children: list[int], data: st.DataObject) -> None:
    """Whatever the shape, the levels' variances and shares: the buckets are those of the dense problem."""
    noise = data.draw(st.lists(NOISES, min_size=len(children), max_size=len(children)))
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    shares = [rng.normal(size=count) for count in accumulate(children, mul)]
    fitted = Tree.of(children, noise).fit(shares)
    assert fitted[-1] == pytest.approx(dense(children, noise, shares), abs=1e-6)


@given(SHAPES, st.data())
def test_all_levels_agree(children: list[int], data: st.DataObject) -> None:
    """Every node's share is the sum of its children's, and the first level adds up to 1."""
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    shares = [rng.normal(size=count) for count in accumulate(children, mul)]
    fitted = Tree.of(children, [1.0] * len(children)).fit(shares)
    assert fitted[0].sum() == pytest.approx(1)
    for above, below, count in zip(fitted, fitted[1:], children[1:], strict=False):
        assert below.reshape(-1, count).sum(axis=1) == pytest.approx(above)


@given(SHAPES, st.data())
def test_weights_are_the_fit_transposed(children: list[int], data: st.DataObject) -> None:
    """An answer is the sum of each level's shares times the weights, and what it is where all shares are even."""
    noise = data.draw(st.lists(NOISES, min_size=len(children), max_size=len(children)))
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    tree = Tree.of(children, noise)
    shares = [rng.normal(size=count) for count in accumulate(children, mul)]
    asked = rng.normal(size=len(shares[-1]))
    weights = tree.weights(asked)
    total = sum(float(weight @ share) for weight, share in zip(weights, shares, strict=True))
    assert tree.fit(shares)[-1] @ asked == pytest.approx(total + asked.mean(), abs=1e-9)
    for weight in weights:
        assert weight.sum() == pytest.approx(0, abs=1e-9)


def test_a_level_that_is_known_exactly_decides() -> None:
    """As a level's variance goes to 0 its shares become the fit's, and one without information is not listened to."""
    shares = [np.array([0.3, 0.7]), np.array([0.5, 0.1, 0.1, 0.5])]
    assert Tree.of([2, 2], [1e-12, 1]).fit(shares)[0] == pytest.approx([0.3, 0.7])
    assert Tree.of([2, 2], [1e12, 1]).fit(shares)[0] == pytest.approx([0.5, 0.5])
    assert Tree.of([2, 2], [1, 1e-12]).fit(shares)[1] == pytest.approx([0.45, 0.05, 0.05, 0.45])


@given(SHAPES, st.data())
def test_shares_that_are_not_negative_agree_too(children: list[int], data: st.DataObject) -> None:
    """None is below 0, all add up to 1, and shares that were so before are left as they are."""
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    shares = [rng.normal(size=count) for count in accumulate(children, mul)]
    likely = nonnegative(Tree.of(children, [1.0] * len(children)).fit(shares))
    assert (likely >= 0).all()
    assert likely.sum() == pytest.approx(1)
    levels = [likely.reshape(count, -1).sum(axis=1) for count in accumulate(children, mul)]
    assert nonnegative(levels) == pytest.approx(likely, abs=1e-12)


def test_a_part_that_nobody_is_in_stays_empty() -> None:
    """Where a node's share is below 0 its buckets get nothing, whatever they showed, and the rest is what it was."""
    fitted = [np.array([-0.2, 1.2]), np.array([0.6, -0.8, 0.3, 0.9])]
    assert nonnegative(fitted) == pytest.approx([0, 0, 0.2, 0.8])
