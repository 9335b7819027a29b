"""RAPPOR's p-values where values are in no list: candidates are held against random bits."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse

from hubbub_decoder.rappor.google import Source
from hubbub_decoder.rappor.joint import Joint
from hubbub_decoder.rappor.observed import BitRates, Observed
from hubbub_decoder.rappor.outcome import estimates_of
from hubbub_decoder.rappor.randomised import _RandomBits, randomised_tail
from hubbub_decoder.rappor.regression import fit
from hubbub_decoder.rappor.screened import Screened
from hubbub_decoder.statistics.significance import adjusted, skewed_tail

from tests.decoder.rappor.counts import draw, random_design

COHORTS, BITS = 8, 32
RATES = BitRates(one=0.951, zero=0.049, background=1 - (31 / 32) ** 2)


@pytest.mark.parametrize(("bits", "hashes"), [(2, 1), (2, 3), (4, 1), (4, 2), (5, 3)])
def test_moments_are_those_of_all_ways_of_hashing(bits: int, hashes: int) -> None:
    """Variance and third moment of a sum over random bits are what going through all h-tuples of bits gives."""
    values = [Fraction(each) for each in (3, -1, 4, -2, 5)[:bits]]
    sums = [sum(values[bit] for bit in set(hit)) for hit in itertools.product(range(bits), repeat=hashes)]
    mean = sum(sums) / Fraction(len(sums))
    second, third = (sum((each - mean) ** power for each in sums) / len(sums) for power in (2, 3))
    rates = BitRates(one=0.75, zero=0.25, background=1 - (1 - 1 / bits) ** hashes)
    observed = Observed.of(np.ones((2, bits)), np.full(2, 10.0), rates)
    twice = np.array([[float(each) for each in values] + [2 * float(each) for each in values]])
    variance, skew = _RandomBits(observed).moments(twice)  # two cohorts, independent
    assert variance[0] == pytest.approx(float(second * 5))
    assert skew[0] == pytest.approx(float(third * 9))


def test_leaving_one_out_is_a_fit_without_it() -> None:
    """Score and residual of the test are those of a fit from which the candidate is left out, in either way to fit."""
    source = np.random.default_rng(5)
    design = random_design(COHORTS, BITS, 2, 12, source)
    sums, reports = draw(design, COHORTS, np.array([900, 500, 300, *[10] * 9]), RATES, source)
    observed = Observed.of(sums, reports, RATES)
    weight = 1 / observed.variance(np.full(len(observed.share), RATES.background))
    joint = Joint.of(design, observed, weight)
    score = joint.share / np.diag(joint.inverse)
    ((_, rows),) = joint.coefficients(design, observed, weight)
    for i in (0, 7):
        others = sparse.csc_array(design[:, [j for j in range(12) if j != i]])
        without = weight * observed.residual(others, Joint.of(others, observed, weight).share)
        assert weight * observed.residual(design, joint.share) + score[i] * rows[i] == pytest.approx(without)
        assert (design[:, [i]].toarray().ravel() - RATES.background) @ without == pytest.approx(score[i])
    found = Screened.of(design, observed, weight)
    assert 0 < len(found.adjusters) < 12
    every = np.concatenate([rows for _, rows in found.coefficients(design, observed, weight)])
    for index, rows in found.of_adjusters(design, observed, weight):
        assert rows == pytest.approx(every[index])


def tail_of_all_ways(observed: Observed, others: sparse.csc_array, own: npt.NDArray[np.float64]) -> float:
    """The tail of the score of bits ``own`` (rows,) beside ``others``: its moments go through all pairs of bits."""
    weight = 1 / observed.variance(np.full(len(observed.share), RATES.background))
    left = weight * observed.residual(others, Joint.of(others, observed, weight).share)
    variance = third = 0.0
    for values in left.reshape(-1, BITS):
        ways = [sum(values[bit] for bit in set(hit)) for hit in itertools.product(range(BITS), repeat=2)]
        variance += float(np.var(ways))
        third += float(np.mean((np.array(ways) - np.mean(ways)) ** 3))
    score = np.array([(own - RATES.background) @ left])
    return float(skewed_tail(score, np.array([variance]), np.array([third]))[0])


@pytest.mark.parametrize("listed", [12, 150])
def test_a_tail_is_that_of_all_ways_of_hashing(listed: int) -> None:
    """In a short list and in a long one a candidate's tail is of all random bits beside the others that are fitted."""
    source = np.random.default_rng(8)
    holders = np.array([28_200, 18_800, 940, *[0] * (listed - 3), 3_000])
    whole = random_design(COHORTS, BITS, 2, len(holders), source)
    sums, reports = draw(whole, COHORTS, holders, RATES, source)
    design = sparse.csc_array(whole[:, :-1])
    fitted = fit(design, sums, reports, RATES)
    assert fitted.screened == (listed > 100)
    assert fitted.tail is not None
    observed = Observed.of(sums, reports, RATES)
    beside = set(range(listed))
    if fitted.screened:
        flat = 1 / observed.variance(np.full(len(observed.share), RATES.background))
        beside = set(Screened.of(design, observed, flat).adjusters.tolist())
        assert 0 in beside
    for i in (0, 2, 5, listed - 1):
        others = sparse.csc_array(design[:, sorted(beside - {i})])
        expected = tail_of_all_ways(observed, others, design[:, [i]].toarray().ravel())
        assert fitted.tail[i] == pytest.approx(expected, rel=1e-4)


def test_collisions_with_a_value_in_no_list_are_not_taken_for_holders() -> None:
    """With 6 % of the devices on one unlisted value Holm's procedure at 5 % is wrong in 5 % of lists, not in 20 %.

    A binomial variable of 150 lists at 5 % is above 22 once in 1e6.
    """
    wrong = unaware = 0
    holders = np.array([28_200, 18_800, 940, *[0] * 9, 3_000])
    for seed in range(150):
        source = np.random.default_rng(seed)
        whole = random_design(COHORTS, BITS, 2, len(holders), source)
        sums, reports = draw(whole, COHORTS, holders, RATES, source)
        fitted = fit(sparse.csc_array(whole[:, :-1]), sums, reports, RATES)
        estimates = estimates_of(fitted, Source("c", Fraction(3)), int(reports.sum()), [str(i) for i in range(12)])
        number = np.array([int(value) for value in estimates.value])
        wrong += bool(estimates.significant(0.05, "holm")[number > 2].any())
        by_noise = skewed_tail(fitted.count, fitted.errors.null_variance, fitted.errors.null_third)
        unaware += bool((adjusted(by_noise, "holm")[3:12] <= 0.05).any())
    assert wrong <= 22
    assert unaware > 22


def test_random_bits_are_asked_only_where_values_seem_to_be_missing() -> None:
    """A list that leaves nothing out is tested against random bits in one decode of five, and one that does in all."""
    asked = 0
    holders = np.array([20_000, 10_000, 5_000, *[500] * 17])
    tight = BitRates(one=0.6875, zero=0.5625, background=RATES.background)
    for seed in range(120):
        source = np.random.default_rng(seed)
        design = random_design(COHORTS, BITS, 2, len(holders), source)
        counts = draw(design, COHORTS, holders, tight, source)
        asked += fit(design, *counts, tight).tail is not None
        assert fit(sparse.csc_array(design[:, 1:]), *counts, tight).tail is not None
    # Binomial, 24 expected: beyond these once in 1e6.
    assert 5 <= asked <= 48


def test_frequent_values_are_found_at_a_high_epsilon_beside_an_unlisted_one() -> None:
    """With hardly any noise and 5 % on one unlisted value the frequent values are significant in every list."""
    rates = BitRates(one=0.97, zero=0.03, background=RATES.background)
    holders = np.array([50_000, 40_000, 10_000, *[0] * 9, 5_000])
    for seed in range(20):
        source = np.random.default_rng(seed)
        whole = random_design(COHORTS, BITS, 2, len(holders), source)
        fitted = fit(sparse.csc_array(whole[:, :-1]), *draw(whole, COHORTS, holders, rates, source), rates)
        assert fitted.tail is not None
        assert fitted.tail[:3] == pytest.approx(0, abs=1e-3)


def test_where_missing_values_cannot_show_a_note_says_so() -> None:
    """With hardly more bit counts than candidates a note tells that nothing shows whether values are missing."""
    source = np.random.default_rng(1)
    holders = np.array([500, 300, *[0] * 10])
    for cohorts, said in ((1, True), (2, False)):
        design = random_design(cohorts, BITS, 2, len(holders), source)
        fitted = fit(design, *draw(design, cohorts, holders, RATES, source), RATES)
        notes = [note.text([str(i) for i in range(12)]) for note in fitted.notes]
        assert any("too few to show whether" in note for note in notes) == said


def test_values_with_bits_of_their_own_have_no_random_bits() -> None:
    """Where no value shares another's bits (a background of 0), there is nothing to hold a candidate against."""
    rates = BitRates(one=0.75, zero=0.25, background=0.0)
    observed = Observed.of(np.ones((1, 4)), np.full(1, 10.0), rates)
    assert randomised_tail(observed, np.ones(4), np.ones(3), ()) is None
