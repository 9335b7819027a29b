"""google/rappor's regression grid: one small cell, and the bound that stated errors are held against."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import optimize

from hubbub_decoder import partial
from hubbub_decoder.mechanisms.rappor import bit_rates
from hubbub_decoder.rappor.bloom import candidate_bits
from hubbub_decoder.rappor.observed import BitRates
from hubbub_simulations.mechanisms import encode
from hubbub_simulations.rappor_bound import bound, counts_bound
from hubbub_simulations.rappor_grid import DISTRIBUTIONS, Cell, Run, _draw, shares
from hubbub_simulations.rappor_limit import Told, told_total_variation
from hubbub_simulations.rappor_peer import Peer, _constrained


def test_populations() -> None:
    """The five distributions: shares that add up to 1, in the proportions of google/rappor's generator."""
    for distribution in DISTRIBUTIONS:
        assert shares(distribution, 100).sum() == pytest.approx(1)
    assert shares("zipf1", 100)[0] / shares("zipf1", 100)[9] == pytest.approx(10)
    assert shares("zipf1.5", 100)[0] / shares("zipf1.5", 100)[3] == pytest.approx(8)
    assert shares("exp", 100)[0] / shares("exp", 100)[20] == pytest.approx(np.e)
    assert int(shares("gauss", 100).argmax()) == 49
    assert shares("gauss", 60)[29] / shares("gauss", 60)[39] == pytest.approx(np.exp(0.5))


def test_one_cell() -> None:
    """In one small cell errors are within 3 % of the bound, intervals cover, and consistent counts beat clipping."""
    run = Run.of(cell := Cell("exp", 30_000, 16), seed=1)
    limit = bound(run.metric, cell.candidates, run.holders, run.records)
    # The bound is from a sample of the reports' scores: 0.2 % too large.
    assert 1 < np.mean(run.std_error / limit) < 1.03
    # No weights would make more of bit counts.
    best = counts_bound(run.metric, cell.candidates, run.holders)
    assert np.mean(run.std_error / best) == pytest.approx(1, abs=0.004)
    assert run.std_error / best == pytest.approx(1, abs=0.03)
    assert np.sqrt(np.mean((run.errors / limit) ** 2)) == pytest.approx(1, abs=5 * 0.065)
    assert run.covered.mean() > 0.95 - 5 * 0.02
    clipped = np.maximum(run.estimates.count[run.order], 0)
    assert run.total_variation < 0.8 * float(np.abs(clipped - run.holders).sum()) / 2 / run.estimates.n


def test_the_bound_by_enumeration() -> None:
    """The bound is the inverse information of a report, summed over all reports that can be sent."""
    cell = Cell("zipf1", 60_000, 4, cohorts=2, p=0.2, q=0.8, f=0.2, values=3, false=1)
    run = Run.of(cell, seed=2)
    values = cell.candidates
    one, zero = (float(rate) for rate in bit_rates(run.metric))
    filters = candidate_bits(run.metric, values).toarray().reshape(2, 4, 4)
    share = run.holders / run.holders.sum()
    information, of_counts = np.zeros((4, 4)), np.zeros((4, 4))
    moments = np.zeros((2, 4, 4))
    for cohort, vector in itertools.product(range(2), itertools.product((0, 1), repeat=4)):
        rates = np.where(filters[cohort] == 1, one, zero)
        chance = np.prod(np.where(np.array(vector)[:, np.newaxis] == 1, rates, 1 - rates), axis=0)
        rest = 0.0  # a value in no list: two hash functions, each with a bit of four
        for first, second in itertools.product(range(4), repeat=2):
            of_bits = np.where([i in (first, second) for i in range(4)], one, zero)
            rest += float(np.prod(np.where(np.array(vector) == 1, of_bits, 1 - of_bits))) / 16
        score = chance - rest
        information += 0.5 * np.outer(score, score) / float(chance @ share)
        moments[cohort] += float(chance @ share) * np.outer(vector, vector)
    for cohort, product in enumerate(moments):
        mean = np.diag(product)  # of a bit, which is its own square
        slope = (one - zero) * (filters[cohort] - (1 - (3 / 4) ** 2))
        of_counts += 0.5 * slope.T @ np.linalg.inv(product - np.outer(mean, mean)) @ slope
    expected, least = (
        np.sqrt(60_000 * (np.diag(np.linalg.inv(each)) - share * (1 - share))) for each in (information, of_counts)
    )
    assert bound(run.metric, values, run.holders, run.records) == pytest.approx(expected, rel=0.03)
    assert counts_bound(run.metric, values, run.holders) == pytest.approx(least)
    assert (least > expected).all()


def test_large_cells_have_the_same_law() -> None:
    """Bit counts that are drawn have the mean and variance of those of encoded reports, bit by bit."""
    cell = Cell("zipf1", 4_000, 8, cohorts=4, values=5, false=1)
    metric = cell.metric(7)
    source = np.random.default_rng(3)
    holders = np.array([1500, 1000, 700, 500, 300, 0])
    index = np.repeat(np.arange(6), holders)
    items = [value.encode() for value in cell.candidates]
    states = [partial(metric, encode(metric, items, index, source)) for _ in range(150)]
    encoded = np.array([state.arrays["sums"] for state in states], float)
    drawn = np.array([_draw(metric, cell, holders, source).arrays["sums"] for _ in range(150)], float)
    spread = encoded.std(axis=0) * np.sqrt(2 / 150)
    assert (np.abs(encoded.mean(axis=0) - drawn.mean(axis=0)) < 6 * spread).all()
    assert drawn.var(axis=0).mean() == pytest.approx(encoded.var(axis=0).mean(), rel=0.2)


def test_the_peer_solves_its_least_squares() -> None:
    """Its shares obey every constraint, and only those that hold just so keep the sum of squares from falling."""
    source = np.random.default_rng(4)
    design = (source.random((24, 6)) < 0.3).astype(float)
    observed = design @ np.array([0.5, 0.3, 0.2, 0.1, 0, 0]) + 0.05 * source.normal(size=24)
    spread = np.full(24, 0.005)
    found = _constrained(design, observed, spread)
    slopes = np.vstack([np.eye(6), -np.ones(6), -design])
    room = slopes @ found + np.concatenate([np.zeros(6), [1.0], np.clip(observed + 3 * spread, 0.01, 1)])
    assert room.min() > -1e-9
    tight = room < 1e-9
    assert tight[:6].any()
    assert tight[7:].any()
    # The conditions of Karush, Kuhn and Tucker.
    gradient = design.T @ (design @ found - observed)
    assert optimize.nnls(slopes[tight].T, gradient)[1] < 1e-9
    assert np.linalg.norm(gradient) > 0.01


def test_nearer_than_the_peer_on_equal_runs() -> None:
    """In one cell consistent counts are a tenth nearer than the peer's, which unbiased ones are not."""
    cell, ours, theirs, unbiased = Cell("zipf1", 1_000_000, 16), [], [], []
    for seed in range(4):
        run = Run.of(cell, seed)
        one, zero = (float(rate) for rate in bit_rates(run.metric))
        sums, reports = (run.state.arrays[name].astype(float) for name in ("sums", "reports"))
        design = candidate_bits(run.metric, cell.candidates).toarray()
        peer = Peer.of(design, sums, reports, BitRates(one, zero, 0.0), np.random.default_rng(seed))
        assert (peer.share[~peer.listed] == 0).all()
        assert peer.listed[:5].all()
        ours.append(run.total_variation)
        theirs.append(np.abs(peer.share - run.holders / run.holders.sum()).sum() / 2)
        unbiased.append(np.abs(run.errors).sum() / 2 / run.holders.sum())
    # 11 standard errors of the difference.
    assert np.mean(ours) < 0.9 * np.mean(theirs) < np.mean(unbiased)
    with pytest.raises(ValueError, match="a lasso would come first"):
        Peer.of(np.ones((8, 7)), sums, reports, BitRates(0.7, 0.5, 0.0), np.random.default_rng(1))


def test_the_limit_of_priors() -> None:
    """What is told is the distribution of all shares; it brings consistent counts nearer, and not much nearer."""
    shares = np.concatenate([[0.4, 0.2, 0.2, 0.1, 0.1], np.zeros(5)])
    prior = Told(shares, shares, np.full(10, 1e-4))
    prior.fit(shares, shares, 1)
    mass = prior._told * np.diff(prior._edges)
    assert prior._mixture[0] == 0.5
    assert mass.sum() == pytest.approx(0.5)
    assert mass[(prior._edges[:-1] > 0.14) & (prior._edges[1:] < 0.29)].sum() == pytest.approx(0.2, abs=0.02)
    cell = Cell("gauss", 100_000, 16)
    found = [Run.of(cell, seed) for seed in range(6)]
    own = np.mean([run.total_variation for run in found])
    told = np.mean([told_total_variation(cell, run) for run in found])
    assert 0.85 * own < told < own
