"""The distribution from a state: unbiased, with the errors that going through every output gives."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hubbub_decoder import EstimateError, State, estimate, partial
from hubbub_decoder.counting.geometry import MOST_REPORTS
from hubbub_decoder.mechanisms.hierarchical_histogram import distribution
from hubbub_simulations.theory import scaled_mse

from tests.decoder.numbers.trees import chances, expected_state, tree_metric
from tests.decoder.reports import SMALL, as_records, outputs
from tests.registries import metric_of

SHAPES = [(4, 2, 1.0), (4, 4, 2.0), (5, 1, 3.0), (6, 4, 0.5)]


def holders(bits: int) -> list[int]:
    drawn = np.random.default_rng(5).integers(0, 9, 1 << bits)
    drawn[:3] = 0
    drawn[-1] = 40
    return [int(each) for each in drawn]


@pytest.mark.parametrize(("bits", "levels", "epsilon"), SHAPES)
def test_what_is_expected_gives_the_truth(tmp_path: Path, bits: int, levels: int, epsilon: float) -> None:
    """Where every level has just the reports that its holders expect, each bucket's share is the true one."""
    metric = tree_metric(tmp_path, bits, levels, epsilon)
    held = np.array(holders(bits))
    found = distribution(metric, expected_state(metric, holders(bits), 10**8))
    assert found.share == pytest.approx(held / held.sum(), abs=1e-6)
    assert found.likely == pytest.approx(held / held.sum(), abs=1e-6)
    assert found.below == pytest.approx(np.concatenate([[0], np.cumsum(held)]) / held.sum(), abs=1e-6)


@pytest.mark.parametrize(("bits", "levels", "epsilon"), SHAPES)
def test_stated_errors_are_those_of_all_outputs(tmp_path: Path, bits: int, levels: int, epsilon: float) -> None:
    """Buckets' standard errors are, within 5 % each and 1 % on average, what going through every output gives.

    The difference is that of triples of points on one line, which the decoder takes at their mean.
    """
    metric = tree_metric(tmp_path, bits, levels, epsilon)
    held = np.array(holders(bits))
    state = expected_state(metric, holders(bits), 10**8)
    stated = estimate(metric, state)
    order = [metric.candidates.index(value) for value in stated.value]
    exact = np.sqrt(scaled_mse(metric, metric.candidates, held / held.sum(), state.n) * state.n)[order]
    assert stated.std_error == pytest.approx(exact, rel=0.05)
    assert np.mean(stated.std_error / exact) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("epsilon", [0.5, 1, 2, 4])
def test_stated_errors_of_ranges_are_those_of_all_outputs(tmp_path: Path, epsilon: float) -> None:
    """Every range's variance is that of going through every output; without that within 15 %, and on average 2 %."""
    metric = tree_metric(tmp_path, 4, 4, epsilon)
    held = np.array(holders(4)) / sum(holders(4))
    state = expected_state(metric, holders(4), 10**8)
    found = distribution(metric, state)
    levels = []
    for number in range(4):
        chance = chances(metric, number)
        supports = chance > chance.min() + 1e-15
        p, q = (chance @ supports.T)[0, :2]
        levels.append((held.reshape(len(chance), -1).sum(axis=1), chance, (supports.T - q) / (p - q)))
    stated, mean, exact = [], [], []
    plain = replace(found, levels=tuple(replace(level, geometry=None) for level in found.levels))
    for start, end in itertools.combinations(range(17), 2):
        if end - start < 16:
            asked = ((np.arange(16) >= start) & (np.arange(16) < end)).astype(np.float64)
            variance = -float(asked @ held) * (1 - float(asked @ held))
            for (shares, chance, adds), weight in zip(levels, found.tree.weights(asked), strict=True):
                # A report's mean over its points is its own node's weight.
                variance += 4 * float(shares @ chance @ (adds @ weight) ** 2 - (shares @ weight) ** 2)
            exact.append(variance)
            stated.append(found.share_of(start, end)[1] ** 2 * state.n)
            mean.append(plain.share_of(start, end)[1] ** 2 * state.n)
    assert stated == pytest.approx(exact, rel=1e-4)
    assert mean == pytest.approx(exact, rel=0.15)
    assert np.mean(np.array(mean) / exact) == pytest.approx(1, abs=0.02)


def test_errors_of_ranges_and_of_shares_below_agree(tmp_path: Path) -> None:
    """The share of a range from the first bucket on has about the error of the share below its end; all of them none.

    The former is over every point, the latter with the mean over triples of points.
    """
    metric = tree_metric(tmp_path, 5, 4)
    found = distribution(metric, expected_state(metric, holders(5), 10**6))
    for end in range(1, 32):
        assert found.share_of(0, end) == pytest.approx((found.below[end], found.below_error[end]), rel=0.08)
    assert found.share_of(0, 32) == (1.0, 0.0)
    assert found.below_error[[0, -1]].tolist() == [0, 0]


def test_a_point_that_its_level_does_not_have_is_another_of_it(tmp_path: Path) -> None:
    """A made-up record counts for its level, and no other, and stops nothing."""
    metric = metric_of(tmp_path, "hierarchical-histogram", **SMALL["hierarchical-histogram"])
    # Level 0 has three points; a record with point 3 of it passes any range check.
    state = partial(metric, np.array([[0b110]], np.uint8))
    assert state.arrays["counts"].tolist() == [1, 0, 0, 0, 0, 0, 0]
    honest = partial(metric, as_records([record for record, _ in outputs(metric, "0")]))
    assert (honest.arrays["counts"] == 1).all()


def test_too_many_reports_are_refused(tmp_path: Path) -> None:
    """More reports than add up exactly are an error that says what to do."""
    metric = tree_metric(tmp_path, 4, 2)
    state = expected_state(metric, holders(4), 10)
    with pytest.raises(EstimateError, match="decode fewer periods at a time"):
        distribution(metric, State(state.mechanism, state.fingerprint, MOST_REPORTS + 1, state.arrays))


def test_a_level_without_reports_is_an_error_as_large_as_what_is_unknown(tmp_path: Path) -> None:
    """Where no report speaks of the buckets, each has an even part of its parent, and errors that hold any truth."""
    metric = tree_metric(tmp_path, 4, 2, 4)
    state = expected_state(metric, [0] * 5 + [1] + [0] * 10, 10**6)
    counts = state.arrays["counts"].copy()
    counts[4:] = 0
    found = distribution(metric, State(state.mechanism, state.fingerprint, int(counts.sum()), {"counts": counts}))
    assert found.share[4:8] == pytest.approx([0.25] * 4, abs=1e-3)
    for bucket in range(16):
        share, error = found.share_of(bucket, bucket + 1)
        assert abs(share - (bucket == 5)) <= 1.1 * error
