from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hubbub_decoder.errors import EstimateError
from hubbub_decoder.joint import decode as decode_module
from hubbub_decoder.joint import expectation as expectation_module
from hubbub_decoder.joint import fit as fit_module
from hubbub_decoder.joint import information as information_module
from hubbub_decoder.joint import outputs as outputs_module
from hubbub_decoder.joint import pairs as pairs_module
from hubbub_decoder.joint.decode import _slope
from hubbub_decoder.joint.fit import fit
from hubbub_decoder.joint.information import information, likelihood
from hubbub_decoder.joint.outputs import every
from hubbub_decoder.joint.pairs import merged

from tests.decoder.joint.questions import Table, climb_by_em, expected_pairs, pairs_of, question
from tests.joints import BOOLEAN, LETTERS, PARTS, joint, part, report

TRUTH = np.array([[0.3, 0.05], [0.2, 0.1], [0.0, 0.15], [0.02, 0.0], [0.08, 0.1]])
WITH_OTHERS = np.vstack([TRUTH * 0.7, [[0.1, 0.2]]])


def truth_of(name: str) -> Table:
    """A table for a part over ``LETTERS``, with some cells empty, and with others where they can be reported."""
    return TRUTH if joint_is_closed(name) else WITH_OTHERS


def joint_is_closed(name: str) -> bool:
    """Whether a part has a list of values."""
    return "values" in PARTS[name]


@pytest.mark.parametrize("name", [name for name in PARTS if name not in ("count-mean-sketch", "local-hashing")])
def test_expected_reports_give_the_truth(tmp_path: Path, name: str) -> None:
    """Reports that come exactly as often as they are expected give the true table, its empty cells included."""
    wide = {"hashes": 16, "width": 4} if name == "hadamard-count-mean-sketch" else {}
    wide = {"bits": 8, "cohorts": 8} if name == "rappor, bloom" else wide
    metric = joint(tmp_path, part(name, share=0.75, **wide), BOOLEAN)
    asked = question(metric, LETTERS, BOOLEAN["values"])
    found = fit(asked, merged(expected_pairs(asked, truth_of(name), 1_000_000)))
    assert found.free == pytest.approx(truth_of(name), abs=1e-6)
    assert found.likeliest == pytest.approx(truth_of(name), abs=1e-5)
    assert (found.likeliest >= 0).all()


def test_few_outputs_are_inverted_exactly(tmp_path: Path) -> None:
    """With as many outputs as values the free table is the inverse of both parts' chances, applied to the reports."""
    metric = joint(
        tmp_path, part("randomized-response"), {"mechanism": "randomized-response", "values": ["x", "y", "z"]}
    )
    asked = question(metric, LETTERS, ["x", "y", "z"])
    counts = np.random.default_rng(1).multinomial(500, np.full(15, 1 / 15)).reshape(5, 3)
    pairs = pairs_of(metric, report(metric, LETTERS, ["x", "y", "z"], counts, 2), LETTERS, ["x", "y", "z"])
    seen = np.zeros((5, 3))
    np.add.at(seen, (pairs.i, pairs.j), pairs.count / 500)
    left, right = (every(each, values).chances for each, values in zip(metric.parts, asked.sides, strict=True))
    assert fit(asked, pairs).free == pytest.approx(np.linalg.inv(left) @ seen @ np.linalg.inv(right).T, abs=1e-10)


def test_errors_are_exact_where_chances_are_known(tmp_path: Path) -> None:
    """At expected counts the covariance is that of the linear estimate, summed over the holders of every pair."""
    metric = joint(tmp_path, part("randomized-response"), BOOLEAN)
    asked = question(metric, LETTERS, BOOLEAN["values"])
    n = 10_000
    found = fit(asked, expected_pairs(asked, TRUTH, n))
    left, right = (every(each, values).chances for each, values in zip(metric.parts, asked.sides, strict=True))
    channel = np.kron(left, right)
    inverse = np.linalg.inv(channel)
    flat = TRUTH.ravel()
    noise = sum(
        share * (inverse @ np.diag(channel[:, cell]) @ inverse.T - np.outer(np.eye(10)[cell], np.eye(10)[cell]))
        for cell, share in enumerate(flat)
    )
    drawn = np.diag(flat) - np.outer(flat, flat)
    assert found.covariance == pytest.approx((noise + drawn) / n, abs=1e-12)


def test_intervals_widen_as_fast_as_the_noise_grows_with_the_count(tmp_path: Path) -> None:
    """The slope is how much the noise of a table rises with one count, as errors of all its counts go together.

    Of linear estimates with the covariance C the variance of the noise of count c is sum of x_k V_k, k over all pairs,
    and so rises by sum of V_k C_kc / C_cc; with what drawing devices adds taken for that of a rare pair it is far off.
    """
    metric = joint(tmp_path, part("randomized-response"), BOOLEAN, epsilon=5)
    asked = question(metric, LETTERS, BOOLEAN["values"])
    found = fit(asked, expected_pairs(asked, TRUTH, 1000))
    left, right = (every(each, values).chances for each, values in zip(metric.parts, asked.sides, strict=True))
    channel = np.kron(left, right)
    noise = np.linalg.inv(channel) ** 2 @ channel - np.eye(10)
    exact = ((noise @ found.covariance).diagonal() / found.covariance.diagonal()).reshape(TRUTH.shape)
    assert _slope(asked, found, 1000) == pytest.approx(exact, rel=1e-3, abs=1e-4)
    assert np.abs(_slope(asked, found, 1000) - 2 * TRUTH - exact).max() > 0.5


@pytest.mark.parametrize("name", ["randomized-response", "hadamard-count-mean-sketch", "rappor, bloom"])
def test_the_most_likely_table_is_where_em_ends(tmp_path: Path, name: str) -> None:
    """No table that EM reaches is likelier by more than a hundredth of a nat, and EM gets there too."""
    metric = joint(tmp_path, part(name, share=0.75), BOOLEAN)
    values = BOOLEAN["values"]
    counts = np.random.default_rng(3).multinomial(3000, TRUTH.ravel()).reshape(TRUTH.shape)
    asked = question(metric, LETTERS[:3], values) if not metric.parts[0].closed else question(metric, LETTERS, values)
    pairs = merged(pairs_of(metric, report(metric, LETTERS, values, counts, 4), list(asked.sides[0]), values))
    found = fit(asked, pairs)
    slow = climb_by_em(pairs, 3000)
    n = counts.sum()
    assert n * (likelihood(pairs, slow)[0] - likelihood(pairs, found.likeliest)[0]) < 0.01
    assert n * (likelihood(pairs, found.likeliest)[0] - likelihood(pairs, slow)[0]) < 0.5
    assert found.likeliest.min() >= 0
    assert found.likeliest.sum() == pytest.approx(1)
    assert found.steps < 50


@pytest.mark.parametrize(
    ("first", "second"), [("local-hashing", "randomized-response"), ("randomized-response", "local-hashing")]
)
def test_information_is_one_whatever_way_it_is_added_up(
    tmp_path: Path, first: str, second: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By record, by report, with alike records merged or not: the mean of u u' is the same matrix."""
    metric = joint(tmp_path, part(first), part(second))
    counts = np.full((5, 5), 40)
    pairs = pairs_of(metric, report(metric, LETTERS, LETTERS, counts, 5), LETTERS, LETTERS)
    table = np.random.default_rng(6).dirichlet(np.ones(pairs.shape[0] * pairs.shape[1])).reshape(pairs.shape)
    first_rows, second_rows = pairs.first.at(pairs.i), pairs.second.at(pairs.j)
    score = np.einsum("ra,rb->rab", first_rows, second_rows).reshape(len(pairs), -1)
    score /= (score @ table.ravel())[:, np.newaxis]
    exact = (score * pairs.count[:, np.newaxis]).T @ score / pairs.count.sum()
    assert information(pairs, table) == pytest.approx(exact, rel=1e-10)
    assert information(merged(pairs), table) == pytest.approx(exact, rel=1e-10)
    monkeypatch.setattr(information_module, "_FEW", 0)
    monkeypatch.setattr(pairs_module, "_CELLS_AT_ONCE", 50)
    assert information(pairs, table) == pytest.approx(exact, rel=1e-10)
    assert likelihood(pairs, table)[1].ravel() == pytest.approx(score.T @ pairs.count / pairs.count.sum(), rel=1e-10)


def test_merging_keeps_every_report(tmp_path: Path) -> None:
    """Records that a likelihood cannot tell apart are merged, and their reports add up; others are left alone."""
    metric = joint(tmp_path, part("hadamard-count-mean-sketch", hashes=64, width=64), BOOLEAN)
    counts = np.full((5, 2), 300)
    pairs = pairs_of(metric, report(metric, LETTERS, BOOLEAN["values"], counts, 7), LETTERS, BOOLEAN["values"])
    alike = merged(pairs)
    assert len(alike) <= 2 * 3 * 2**5 < len(pairs)  # row 0 makes others as likely or as unlikely as any
    assert alike.count.sum() == pairs.count.sum() == 3000
    table = np.full(pairs.shape, 1 / 12)
    assert likelihood(alike, table)[0] == pytest.approx(likelihood(pairs, table)[0], rel=1e-12)
    many = [f"v{i}" for i in range(50)]
    assert (
        len(merged(pairs_of(metric, report(metric, LETTERS, ["true"], counts[:, :1], 7), many, ["true", "false"])))
        > 700
    )


def test_pairs_that_reports_cannot_tell_apart_are_named(tmp_path: Path) -> None:
    """Candidates that share every bucket are an error with their names, and not a wrong number."""
    metric = joint(tmp_path, part("local-hashing", hashes=1, width=2), BOOLEAN)
    records = report(metric, LETTERS, BOOLEAN["values"], np.full((5, 2), 50), 9)
    asked = question(metric, LETTERS, BOOLEAN["values"])
    with pytest.raises(EstimateError, match=r"cannot tell some pairs apart, \(.+, .+\) and \(.+, .+\) among them"):
        fit(asked, pairs_of(metric, records, LETTERS, BOOLEAN["values"]))


def test_what_would_take_hours_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More work than is taken on is an error that says what to do."""
    monkeypatch.setattr(information_module, "MOST_WORK", 100)
    metric = joint(tmp_path, part("randomized-response"), BOOLEAN)
    records = report(metric, LETTERS, BOOLEAN["values"], np.full((5, 2), 50), 10)
    with pytest.raises(EstimateError, match="list fewer candidates"):
        fit(question(metric, LETTERS, BOOLEAN["values"]), pairs_of(metric, records, LETTERS, BOOLEAN["values"]))


def test_bounds_are_those_that_the_page_states() -> None:
    """docs/joint.md names these."""
    assert decode_module.FEW_A_CELL == 10
    assert fit_module.MOST_CELLS == 4096
    assert outputs_module.MOST_BITS == 16
    assert outputs_module.AT_LEAST == 16
    assert expectation_module._PAIRS == 32768
    assert information_module.MOST_WORK == 1 << 41
