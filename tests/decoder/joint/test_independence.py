from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from hubbub_decoder.joint import independence as independence_module
from hubbub_decoder.joint.independence import _shuffled_variance, independence
from hubbub_decoder.joint.likelihood import Side
from hubbub_decoder.joint.pairs import Pairs

from tests.decoder.joint.test_calibration import SKETCH, UNLISTED, runs

COUNTS = np.array([[120, 80, 50], [100, 90, 60]])
RARE = np.outer([0.9, 0.05, 0.03, 0.01, 0.01], [0.9, 0.05, 0.03, 0.01, 0.01])
"""At a hundred reports most pairs are expected of less than one."""


def seen(counts: np.ndarray, noise: float = 0.0) -> Pairs:
    """Reports that show their values, or nearly."""
    first, second = (Side((np.eye(size) == 1).astype(np.uint8), np.array([noise, 1.0]), None) for size in counts.shape)
    i, j = np.indices(counts.shape).reshape(2, -1)
    return Pairs(first, second, i, j, counts.ravel().astype(np.float64))


def test_the_test_is_pearsons_where_nothing_is_hidden() -> None:
    """Without noise the statistic is Pearson's chi-squared, but for n - 1 in place of n, with its degrees."""
    found = independence(seen(COUNTS), COUNTS / COUNTS.sum())
    pearson = stats.chi2_contingency(COUNTS, correction=False)
    assert found.degrees == pearson.dof == 2
    assert found.statistic == pytest.approx(pearson.statistic * 499 / 500, rel=1e-9)
    assert found.p_value == pytest.approx(pearson.pvalue, rel=0.02)


def test_no_table_and_no_chunk_changes_what_is_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    """With as many outputs as values the scores of any table tell the same, and rows taken one by one as well."""
    found = independence(seen(COUNTS, 0.1), COUNTS / COUNTS.sum())
    monkeypatch.setattr(independence_module, "_AT_ONCE", 1)
    assert independence(seen(COUNTS, 0.1), np.full((2, 3), 1 / 6)) == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize(("counts", "degrees"), [([[2, 1], [1, 2]], 1), ([[2, 0], [0, 1], [2, 1]], 2)])
def test_mean_and_variance_are_those_over_all_shuffles(counts: list[list[int]], degrees: int) -> None:
    """Over all orders of the second side's records the statistic has the mean and the variance that are stated."""
    table = np.array(counts)
    i, j = (np.repeat(side.ravel(), table.ravel()) for side in np.indices(table.shape))
    n = len(i)
    statistics = []
    for order in itertools.permutations(range(n)):
        shuffled = np.zeros(table.shape)
        np.add.at(shuffled, (i, j[list(order)]), 1)
        statistics.append(independence(seen(shuffled), table / n).statistic)
    found = independence(seen(table), table / n)
    assert found.degrees == degrees == pytest.approx(np.mean(statistics))
    # A record's squared square: the diagonal of the projection on k groups is 1 / (reports of the group) - 1 / n.
    peaks = [float((of * (1 / of - 1 / n) ** 2).sum()) for of in (table.sum(axis=1), table.sum(axis=0))]
    rank, other = (size - 1 for size in table.shape)
    variance = _shuffled_variance(n, rank, peaks[0], other, peaks[1])
    assert variance == pytest.approx(np.var(statistics))
    times = variance / (2 * degrees)
    assert found.p_value == pytest.approx(stats.chi2.sf(found.statistic / times, degrees / times))


def test_where_every_shuffle_is_alike_nothing_is_rejected() -> None:
    """With one value on a side, three reports, or no two alike, the p-value is 1."""
    for counts in (np.array([[5, 7]]), np.array([[1, 1], [0, 1]]), np.eye(5)):
        found = independence(seen(counts), counts / counts.sum())
        assert found.p_value == 1
        assert np.isfinite(found.statistic)


def test_rare_pairs_are_rejected_as_often_as_it_says() -> None:
    """Where most pairs are expected of less than one report, 1 % are rejected at 1 %, and not ten.

    More than 30 of 1,000 have odds of 2 in 10 million; of the chi-squared law itself more than 70 are rejected.
    """
    rng = np.random.default_rng(1)
    found = []
    for _ in range(1000):
        pairs = seen(rng.multinomial(100, RARE.ravel()).reshape(RARE.shape), 1e-9)
        some = pairs.count > 0
        pairs = replace(pairs, i=pairs.i[some], j=pairs.j[some], count=pairs.count[some])
        found.append(independence(pairs, RARE))
    assert sum(each.p_value < 0.01 for each in found) <= 30
    assert sum(each.p_value < 0.2 for each in found) >= 100
    assert sum(float(stats.chi2.sf(each.statistic, each.degrees)) < 0.01 for each in found) > 70


def test_few_reports_of_a_sketch_are_rejected_as_often_as_it_says(tmp_path: Path) -> None:
    """At epsilon 8, with 50 reports a cell, tables are rejected at 5 % no oftener than chance allows.

    The seeds are fixed; more than 20 of 100 have odds of 1 in 10 million where it holds.
    """
    product = np.outer(UNLISTED.sum(axis=1), UNLISTED.sum(axis=0))
    p = np.array([found.independence.p_value for found, _ in runs(tmp_path, SKETCH, product, 500, 100, 8)])
    assert (p < 0.05).sum() <= 20
    assert (p < 0.5).sum() >= 26
