from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from hubbub_decoder.joint import JointEstimates, estimate_joint
from hubbub_decoder.joint.decode import _pairs
from hubbub_decoder.joint.distinct import partial
from hubbub_decoder.joint.expectation import expected
from hubbub_decoder.joint.fit import fit
from hubbub_decoder.joint.pairs import Pairs, merged
from hubbub_decoder.joint.question import Question
from hubbub_registry import Metric

from tests.decoder.joint.questions import Table
from tests.joints import BOOLEAN, joint, report

CLOSED: dict[str, Any] = {"mechanism": "randomized-response", "values": ["a", "b", "c", "d", "e"]}
HASHED: dict[str, Any] = {"mechanism": "local-hashing", "hashes": 256}
SKETCH: dict[str, Any] = {"mechanism": "hadamard-count-mean-sketch", "hashes": 1024, "width": 1024}
LISTED = ["a", "b", "c", "d"]
HEAVY = "in no list"
VALUES = ["true", "false"]
WITH_ZEROS = np.array([[0.4, 0.1], [0.2, 0.0], [0.01, 0.09], [0.0, 0.1], [0.05, 0.05]])
SKEWED = np.outer([0.9, 0.05, 0.03, 0.01, 0.01], [0.97, 0.03])
"""Where hardly any noise falls, most cells have no report that speaks for them."""
TWO: dict[str, Any] = {"mechanism": "randomized-response", "values": ["a", "b"]}
SKEWED_TWO = np.array([[0.9, 0.05], [0.05, 0.0]])
UNLISTED = np.array([[0.15, 0.05], [0.1, 0.0], [0.01, 0.09], [0.0, 0.1], [0.45, 0.05]])
"""The last row is one value that many hold, and that is among no candidates."""


def runs(
    folder: Path, first: dict[str, Any], truth: Table, n: int, seeds: int, epsilon: float = 3
) -> Iterator[tuple[JointEstimates, Table]]:
    """Estimates of ``n`` reports and the true counts, for each seed; devices are drawn from ``truth``."""
    metric = joint(folder, first, BOOLEAN, epsilon=epsilon)
    closed = metric.parts[0].closed
    for seed in range(seeds):
        counts = np.random.default_rng(seed).multinomial(n, truth.ravel()).reshape(truth.shape)
        # Other texts for each seed, so that hash functions are as good as drawn anew.
        listed = list(metric.parts[0].values) if closed else [f"{value} {seed}" for value in LISTED]
        held = listed if closed else [*listed, f"{HEAVY} {seed}"]
        state = partial(metric, report(metric, held, VALUES, counts, 1000 + seed))
        yield estimate_joint(metric, state, None if closed else listed), counts.astype(np.float64)


def covered(found: JointEstimates, counts: Table) -> np.ndarray:
    """Which intervals hold the true count."""
    return (found.low <= counts) & (counts <= found.high)


@pytest.mark.parametrize(
    ("first", "truth", "n", "epsilon", "seeds"),
    [
        (CLOSED, WITH_ZEROS, 1500, 2, 150),
        (CLOSED, WITH_ZEROS, 1000, 5, 150),
        (CLOSED, SKEWED, 300, 8, 150),
        (TWO, SKEWED_TWO, 100, 8, 250),
        (HASHED, UNLISTED, 8000, 3, 100),
        (SKETCH, UNLISTED, 5000, 3, 100),
        (SKETCH, UNLISTED, 300, 8, 100),
    ],
)
def test_intervals_cover_as_often_as_they_say(
    tmp_path: Path, first: dict[str, Any], truth: Table, n: int, epsilon: float, seeds: int
) -> None:
    """Of nominal 95 % intervals 93 to 97 % cover, among large cells and among empty ones, and with halved errors not.

    The seeds are fixed. Of 1,000 independent intervals at least, a share outside 93 to 97 % has odds of 1 in 270.
    """
    hits, halved = [], []
    for found, counts in runs(tmp_path, first, truth, n, seeds, epsilon):
        hits.append(covered(found, counts))
        halved.append(covered(replace(found, covariance=_quartered(found)), counts))
    large = truth > np.median(truth)
    share = np.mean(hits, axis=0)
    assert 0.93 <= share.mean() <= 0.97
    assert 0.92 <= share[large].mean() <= 0.98
    assert 0.92 <= share[~large].mean() <= 0.98
    assert np.mean(halved) < 0.8


def test_fewer_than_ten_reports_a_cell_are_said_to_be_few(tmp_path: Path) -> None:
    """Below ten reports a cell a table has a note that a normal law is a rough one, and from there on none."""
    for n, few in ((99, True), (100, False)):
        (found, _), *_ = runs(tmp_path, SKETCH, UNLISTED, n, 1)
        assert found.share.size == 10
        assert any("fewer than 10 reports a cell" in note for note in found.notes) == few


def _quartered(found: JointEstimates) -> Table:
    """A covariance of which the noise is a quarter of what it should be."""
    return found.covariance - 0.75 * found.noise


def test_half_of_all_reports_unlisted_do_not_move_the_listed_ones(tmp_path: Path) -> None:
    """One unlisted value that half of the devices hold leaves listed counts unbiased; without its class it does not.

    The mean of 60 standardised errors is within 5.5 of its standard error for each of 8 cells (false alarm: 3e-7).
    """
    errors, without = [], []
    for found, counts in runs(tmp_path, SKETCH, UNLISTED, 8000, 60):
        errors.append(((found.count - counts) / found.std_error)[:4])
    metric = joint(tmp_path, SKETCH, BOOLEAN, epsilon=3)
    for seed in range(5):
        counts = np.rint(8000 * UNLISTED).astype(np.int64)
        without.append(_closed_fit(metric, counts, seed)[:4] * 8000 - counts[:4])
    limit = 5.5 / np.sqrt(60)
    assert np.abs(np.mean(errors, axis=0)).max() < limit
    assert np.mean(without, axis=0).max() > 5 * found.std_error[:4].max()


def _closed_fit(metric: Metric, counts: np.ndarray, seed: int) -> Table:
    """A fit that takes the candidates for all there is."""
    records = report(metric, [*LISTED, HEAVY], VALUES, counts, seed)
    pairs, _ = _pairs(metric, partial(metric, records), (tuple(LISTED), tuple(VALUES)))
    asked = _Closed("m", metric.parts, (tuple(LISTED), tuple(VALUES)))
    return fit(asked, merged(_without_others(pairs))).free


class _Closed(Question):
    """What is asked of a metric whose candidates are taken for all there is."""

    def expected(self, table: Table) -> Pairs:
        return expected(_without_others(self._possible), table)


def _without_others(pairs: Pairs) -> Pairs:
    return replace(pairs, first=replace(pairs.first, other=None))


def test_independence_is_rejected_as_often_as_it_says(tmp_path: Path) -> None:
    """Where the sides are independent the p-values are uniform, in their tail too; where they are not, they are tiny.

    Of 200 p-values a share below t is within 5.2 standard errors of t for three t (false alarm: 6e-7).
    """
    product = np.outer(WITH_ZEROS.sum(axis=1), WITH_ZEROS.sum(axis=0))
    p = np.array([found.independence.p_value for found, _ in runs(tmp_path, CLOSED, product, 1500, 200, 3)])
    for at in (0.05, 0.2, 0.5):
        assert abs((p < at).mean() - at) < 5.2 * np.sqrt(at * (1 - at) / 200)
    for found, _ in runs(tmp_path, CLOSED, WITH_ZEROS, 3000, 5, 4):
        assert found.independence.degrees == 4
        assert found.independence.p_value < 1e-6


def test_independence_of_a_hashed_side_is_rejected_as_often_as_it_says(tmp_path: Path) -> None:
    """The same of a side with candidates and others, at one level: 60 p-values, false alarm below 1e-6."""
    product = np.outer(UNLISTED.sum(axis=1), UNLISTED.sum(axis=0))
    p = np.array([found.independence.p_value for found, _ in runs(tmp_path, SKETCH, product, 5000, 60, 3)])
    assert stats.binom.sf((p < 0.05).sum() - 1, 60, 0.05) > 1e-6
    assert stats.binom.cdf((p < 0.5).sum(), 60, 0.5) > 1e-6


def test_shares_of_a_row_cover_as_often_as_they_say(tmp_path: Path) -> None:
    """Of nominal 95 % intervals of P(second | first) 93 to 98 % cover, rows of few included; an empty row has none."""
    truth = np.array([[0.4, 0.1], [0.2, 0.05], [0.02, 0.08], [0.1, 0.0], [0.0, 0.0], [0.05, 0.0]])[:5] / 0.95
    hits = []
    for found, counts in runs(tmp_path, CLOSED, truth, 4000, 150, 4):
        share, low, high = found.given_first()
        with np.errstate(invalid="ignore"):
            true = counts / counts.sum(axis=1, keepdims=True)
        hits.append(((low <= true) & (true <= high))[:4])
        assert ((low >= 0) & (high <= 1) & (low <= high)).all()
        assert not (found.marginal("first").count[4] > 0 and np.isnan(share[4]).any())
    assert 0.93 <= np.mean(hits) <= 0.98
