"""RAPPOR's regression where lists are long, data are odd, or estimates are made consistent."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse, stats

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.errors import CandidateError
from hubbub_decoder.rappor import screened
from hubbub_decoder.rappor.bloom import check_places
from hubbub_decoder.rappor.diagnostics import Variances
from hubbub_decoder.rappor.google import Source
from hubbub_decoder.rappor.observed import BitRates, Observed
from hubbub_decoder.rappor.outcome import estimates_of
from hubbub_decoder.rappor.prior import Falling, _Seen
from hubbub_decoder.rappor.regression import _dispersion, fit
from hubbub_decoder.rappor.screened import Screened
from hubbub_decoder.rappor.shrinkage import shrunk, shrunk_jointly

from tests.decoder.rappor.counts import draw, random_design

RATES = BitRates(one=0.6875, zero=0.5625, background=1 - (7 / 8) ** 2)
LongList = tuple[Observed, sparse.csc_array, npt.NDArray[np.int64], FloatArray, FloatArray]
COHORTS, BITS, MANY = 32, 8, 400  # 224 equations beside the cohorts' levels, so 400 candidates are not determined


def long_list(n: int, seed: int) -> LongList:
    source = np.random.default_rng(seed)
    design = random_design(COHORTS, BITS, 2, MANY, source)
    share = np.concatenate([[0.4, 0.2, 0.1, 0.1, 0.05, 0.05], np.full(100, 0.001), np.zeros(MANY - 106)])
    holders = np.round(n * share).astype(np.int64)
    sums, reports = draw(design, COHORTS, holders, RATES, source)
    return Observed.of(sums, reports, RATES), design, holders, sums, reports


def test_a_long_list_without_noise() -> None:
    """From exactly expected counts, frequent values among more candidates than equations are found, and no others."""
    source = np.random.default_rng(1)
    design = random_design(COHORTS, BITS, 2, MANY, source)
    share = np.concatenate([[0.5, 0.3, 0.2], np.zeros(MANY - 3)])
    reports = np.full(COHORTS, float(1 << 40))
    sums = (reports[0] * (RATES.zero + (RATES.one - RATES.zero) * (design @ share))).reshape(COHORTS, BITS)
    fitted = fit(design, sums, reports, RATES)
    assert fitted.screened
    assert fitted.notes == ()
    assert fitted.count / reports.sum() == pytest.approx(share, abs=1e-6)
    assert fitted.unexplained == pytest.approx(0, abs=1e-6)


def test_a_long_list_is_calibrated() -> None:
    """With more candidates than equations, intervals cover, false ones are controlled, and all errors are finite."""
    covered, frequent, false = [], [], 0
    for seed in range(12):
        _, design, holders, sums, reports = long_list(2_000_000, seed)
        fitted = fit(design, sums, reports, RATES)
        names = [str(i) for i in range(MANY)]
        estimates = estimates_of(fitted, Source("c", Fraction(3)), int(reports.sum()), names)
        truth = holders[[int(value) for value in estimates.value]]
        inside = (estimates.low <= truth) & (truth <= estimates.high)
        covered.append(inside.mean())
        frequent.append(inside[truth > 10_000].mean())
        false += int((estimates.significant(0.05, "holm") & (truth == 0)).sum())
        assert estimates.significant(0.05, "holm")[truth > 10_000].all()
    # 4800 intervals, and 72 of frequent values: five standard errors below 95 %. False ones: at most 0.6 are expected.
    assert 0.93 < np.mean(covered) < 0.97
    assert np.mean(frequent) > 0.95 - 0.13
    assert false <= 6


def test_without_adjusters_errors_are_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adjusting for the frequent values is what makes errors small; without room for that, they say so."""
    observed, design, holders, sums, reports = long_list(20_000_000, 3)
    with_them = fit(design, sums, reports, RATES)
    monkeypatch.setattr(screened, "_MOST", 1)
    without = fit(design, sums, reports, RATES)
    rare = holders < 100
    assert np.median(without.errors.null_variance[rare]) > 4 * np.median(with_them.errors.null_variance[rare])
    (note,) = without.notes
    assert "more candidates are frequent than these reports can tell apart" in note.text([str(i) for i in range(MANY)])
    found = Screened.of(design, observed, 1 / observed.variance(np.full(len(observed.share), RATES.background)))
    assert found.full
    assert len(found.adjusters) == 1


def test_variances_add_up_in_one_unit() -> None:
    """Explained, missing and noise are mean squares of what they name; a value in no list is in ``missing``."""
    source = np.random.default_rng(2)
    design = random_design(64, 16, 2, 40, source)
    rates = BitRates(RATES.one, RATES.zero, 1 - (15 / 16) ** 2)
    holders = np.full(40, 50_000)
    sums, reports = draw(design, 64, holders, rates, source)
    observed = Observed.of(sums, reports, rates)
    whole = fit(design, sums, reports, rates).variances
    signal = design.toarray() @ (holders / holders.sum()) - rates.background
    assert whole.explained == pytest.approx(float(np.mean(signal**2)), rel=0.1)
    assert whole.noise == pytest.approx(float(np.mean(observed.variance(signal + rates.background))), rel=0.01)
    assert abs(whole.missing) < 0.2 * whole.noise
    total = whole.explained + whole.missing + whole.noise
    assert total == pytest.approx(float(np.mean(observed.share**2)))
    half = fit(design[:, :20], sums, reports, rates).variances
    assert half.missing == pytest.approx(whole.explained - half.explained, rel=0.2)
    assert half.missing > whole.explained / 4
    assert isinstance(half, Variances)


@pytest.mark.parametrize("freedom", [6, 392])
def test_chance_is_not_taken_for_unlisted_values(freedom: int) -> None:
    """Residuals of the size of randomisation scale errors in one decode of 1,000, and ones twice as large in all."""
    square = np.random.default_rng(11).normal(size=(10_000, freedom + 10)) ** 2
    square[:, freedom:] = 0  # as many unknowns
    alarms = sum(_dispersion(row, 10) > 1 for row in square)
    # A Poisson variable of mean 10: above 30 once in 1e7.
    assert alarms <= 30
    beyond = square.mean(axis=1) * (freedom + 10) / freedom > 1 + np.sqrt(2 / freedom)
    assert beyond.sum() > 30
    assert _dispersion(np.full(402, 2 * 392 / 402), 10) == pytest.approx(2)


@pytest.mark.parametrize("ones", [0.0, 1.0])
@pytest.mark.parametrize("candidates", [1, 2, 400])
def test_reports_that_are_all_equal(ones: float, candidates: int) -> None:
    """Bits that all reports have, or none has, contradict the model, and give finite figures all the same."""
    design = random_design(COHORTS, BITS, 2, candidates, np.random.default_rng(3))
    reports = np.full(COHORTS, 50.0)
    fitted = fit(design, np.full((COHORTS, BITS), 50.0 * ones), reports, RATES)
    for column in (fitted.count, fitted.errors.null_variance, fitted.errors.null_third, fitted.consistent):
        assert np.isfinite(column).all()
    assert (fitted.errors.null_variance > 0).all()
    assert (fitted.consistent >= 0).all()
    assert fitted.consistent.sum() <= reports.sum() * (1 + 1e-9)


def test_posteriors_by_brute_force() -> None:
    """Posterior mean and quantiles are those of the prior's density times the likelihood, summed over a fine grid."""
    source = np.random.default_rng(5)
    truth = np.concatenate([source.exponential(0.02, 60), np.zeros(60)])
    spread = np.where(np.arange(120) % 2, 0.004, 0.012)
    seen, variance = truth + spread * source.normal(size=120), spread**2
    prior = Falling(seen, variance)
    prior.fit(seen, variance, 40)
    mean, _ = prior.moments(seen, variance)
    reached_at = prior._reached(prior._seen(seen, variance), seen, variance)
    quantiles = {level: reached_at.quantiles(level) for level in (0.2, 0.5, 0.8)}
    grid = (np.arange(200_000) + 0.5) / 200_000 * float(prior._edges[-1])
    density = np.zeros_like(grid)
    for edge, weight in zip(prior._edges[1:], prior._mixture[1:], strict=True):
        density += np.where(grid < edge, weight / edge, 0.0)
    for i in range(0, 120, 7):
        likelihood = density * stats.norm.pdf(grid, seen[i], spread[i]) * (grid[1] - grid[0])
        at_zero = prior._mixture[0] * stats.norm.pdf(0, seen[i], spread[i])
        total = at_zero + likelihood.sum()
        assert mean[i] == pytest.approx(float(grid @ likelihood) / total, rel=1e-3, abs=1e-6)
        reached = (at_zero + np.cumsum(likelihood)) / total
        for level, found in quantiles.items():
            expected = 0.0 if at_zero / total >= level else float(grid[np.searchsorted(reached, level)])
            assert found[i] == pytest.approx(expected, abs=3e-6)
    assert prior.consistent(seen, variance).sum() == pytest.approx(min(1.0, mean.sum()), abs=1e-5)


def test_values_that_nobody_holds_have_no_consistent_share() -> None:
    """Where every posterior is at 0, consistent shares are 0, whatever rounding makes of their total."""
    seen, variance = np.full(20, -0.02), np.full(20, 1e-4)
    prior = Falling(seen, variance)
    for rest in (0.0, 1e-20):
        prior._mixture[:] = rest
        prior._mixture[0] = 1.0
        assert (prior.moments(seen, variance)[0].sum() > 0) == (rest > 0)
        assert (prior.consistent(seen, variance) == 0).all()


def test_what_was_kept_of_one_list_is_not_used_for_another() -> None:
    """Posteriors depend on the observations alone, in whatever order the prior has seen them."""
    source = np.random.default_rng(10)
    first, second = (source.exponential(0.02, 30) for _ in range(2))
    variance = np.full(30, 1e-4)
    prior = Falling(first, variance)
    prior.fit(first, variance, 5)
    expected = prior.moments(second.copy(), variance.copy())
    prior.moments(first, variance)
    found = prior.moments(second, variance)
    assert (found[0] == expected[0]).all()
    assert (found[0] != prior.moments(first, variance)[0]).all()
    assert (prior.moments(second, 2 * variance)[1] > found[1]).all()


def test_fitting_the_prior_never_lowers_the_likelihood() -> None:
    """Each step of expectation-maximisation makes what was observed more likely."""
    source = np.random.default_rng(6)
    seen = np.concatenate([source.exponential(0.02, 50), np.zeros(50)]) + 0.005 * source.normal(size=100)
    variance = np.full(100, 0.005**2)
    prior, found = Falling(seen, variance), []
    for _ in range(20):
        found.append(float(np.log(prior._density(_Seen.of(seen, variance, prior._edges))[1]).sum()))
        prior.fit(seen, variance, 1)
    assert (np.diff(found) > -1e-9).all()
    assert found[-1] > found[0] + 1


def test_joint_and_separate_shrinkage_agree_where_nothing_is_shared() -> None:
    """With candidates that share no bits the whole posterior is each one's own."""
    source = np.random.default_rng(7)
    share = np.concatenate([np.linspace(0, 0.1, 15), np.zeros(15)]) + 0.004 * source.normal(size=30)
    variance = np.full(30, 0.004**2)
    apart = shrunk(share, variance)
    together = shrunk_jointly(np.diag(1 / variance), share / variance)
    assert together == pytest.approx(apart, abs=0.0015)
    assert (apart[share < -0.004] < 0.001).all()


def test_consistent_shares_are_nearer_than_clipped_ones() -> None:
    """In total variation the consistent counts beat cutting at 0 by a fifth at least, and are a distribution."""
    source = np.random.default_rng(8)
    weights = 1 / np.arange(1, 16)
    better = []
    for _ in range(10):
        design = random_design(32, 16, 2, 60, source)
        holders = source.multinomial(200_000, np.concatenate([weights / weights.sum(), np.zeros(45)]))
        rates = BitRates(RATES.one, RATES.zero, 1 - (15 / 16) ** 2)
        fitted = fit(design, *draw(design, 32, holders, rates, source), rates)
        assert (fitted.consistent >= 0).all()
        assert fitted.consistent.sum() <= holders.sum() * (1 + 1e-9)
        distance = [np.abs(counts - holders).sum() for counts in (fitted.consistent, np.maximum(fitted.count, 0))]
        better.append(distance[0] / distance[1])
    assert np.mean(better) < 0.8


def test_a_long_list_beside_few_bit_counts() -> None:
    """More candidates than so few counts can tell apart, or memory can hold, are refused; a short list is not."""
    design = random_design(2, 16, 2, 3_000, np.random.default_rng(9))
    sums, reports = np.full((2, 16), 60.0), np.full(2, 100.0)
    with pytest.raises(CandidateError, match="candidates with bits of their own for 32 bit counts"):
        fit(design, sums, reports, RATES)
    few = fit(design[:, :50], sums, reports, RATES)
    assert any("do not determine" in note.what for note in few.notes)


def test_a_million_candidates() -> None:
    """A million candidates are decoded in 8 cohorts, and in 64 refused, with how many would be decoded."""
    check_places("metric m", 1_000_000, 8 * 2)
    with pytest.raises(CandidateError, match="1,000,000 candidates with 128 bits each; 524,288 are as many"):
        check_places("metric m", 1_000_000, 64 * 2)
