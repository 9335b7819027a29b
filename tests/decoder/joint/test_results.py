from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from hubbub_decoder import JointEstimates, estimate_joint, partial
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.joint import render
from hubbub_decoder.joint.collisions import excess, spread
from hubbub_decoder.joint.decode import _pairs
from hubbub_decoder.joint.fit import fit
from hubbub_decoder.joint.pairs import merged
from hubbub_decoder.joint.shares import shares
from hubbub_decoder.screen.fields import numbers

from tests.decoder.joint.questions import question
from tests.joints import BOOLEAN, LETTERS, joint, part, report

COLUMNS = [
    "first", "second", "count", "frequency", "std_error", "low", "high", "p_value", "significant", "given_first",
    "given_low", "given_high", "likeliest",
]  # fmt: skip
COUNTS = np.array([[900, 100], [300, 200], [0, 250], [50, 0], [100, 100]])


@pytest.fixture
def found(tmp_path: Path) -> JointEstimates:
    """Estimates of 2,000 pairs; the first side is open, with three candidates."""
    metric = joint(tmp_path, part("local-hashing", hashes=32), BOOLEAN)
    return estimate_joint(metric, partial(metric, report(metric, LETTERS, ["true", "false"], COUNTS, 1)), LETTERS[:3])


def test_columns_are_those_that_the_page_documents(found: JointEstimates) -> None:
    """Every output has these columns, a row a pair, by falling count; others are named so."""
    columns = found.columns()
    assert list(columns) == COLUMNS
    assert len(found) == 8
    assert set(columns["first"]) == {"a", "b", "c", "(other)"}
    assert set(columns["second"]) == {"true", "false"}
    assert (np.diff(columns["count"]) <= 0).all()
    first, second = (
        labels.index(columns[name][0]) for labels, name in ((found.first, "first"), (found.second, "second"))
    )
    assert columns["count"][0] == found.count[first, second] == found.count.max()
    assert columns["likeliest"][0] == found.likeliest[first, second]
    assert list(found.to_pandas().columns) == COLUMNS
    assert found.to_arrow().column_names == COLUMNS


def test_tables_and_marginals_add_up(found: JointEstimates) -> None:
    """Counts and likely counts add up to n, and marginals are sums of the table with the errors of sums."""
    assert found.count.sum() == pytest.approx(found.n)
    assert found.likeliest.sum() == pytest.approx(found.n)
    assert found.likeliest.min() >= 0
    assert found.frequency == pytest.approx(found.count / 2000)
    four = found.noise.reshape(4, 2, 4, 2)
    for side, axis, error in (("first", 1, np.einsum("abac->a", four)), ("second", 0, np.einsum("abcb->b", four))):
        marginal = found.marginal(side)
        assert marginal.count == pytest.approx(found.count.sum(axis=axis))
        assert marginal.std_error == pytest.approx(found.n * np.sqrt(error))
        assert marginal.high - marginal.low == pytest.approx(2 * stats.norm.isf(0.025) * marginal.std_error)
    with pytest.raises(EstimateError, match="neither 'first' nor 'second'"):
        found.marginal("third")


def test_intervals_are_where_a_count_is_within_its_error(found: JointEstimates) -> None:
    """At either end of an interval the count is a normal quantile of the standard error there away."""
    for level in (0.5, 0.95, 0.999):
        for end in found.confidence_interval(level):
            variance = found.std_error**2 + found.slope * (end - found.likeliest)
            assert (end - found.count) ** 2 == pytest.approx(stats.norm.isf((1 - level) / 2) ** 2 * variance)
    assert (found.at_level(0.5).high < found.high).all()
    assert (found.low < found.count).all()
    for bad in (0, 1, 1.5):
        with pytest.raises(EstimateError, match="strictly between"):
            found.at_level(bad)
        with pytest.raises(EstimateError, match="strictly between"):
            found.significant(bad)


def test_what_is_there_is_significant(found: JointEstimates) -> None:
    """The pair that nearly half hold is found, one that nobody holds is not; p-values are those of a normal tail."""
    assert found.significant()[0, 0]
    assert not found.significant()[2, 0]
    error = np.sqrt(np.diag(found.covariance)).reshape(4, 2)
    assert found.p_value == pytest.approx(stats.norm.sf(found.share / error))
    assert (found.std_error <= found.n * error).all()


def test_shares_are_fiellers(found: JointEstimates) -> None:
    """At the ends of a share's interval, and nowhere inside, the difference is a quantile of its standard errors."""
    share = np.array([[0.3, 0.1], [0.05, 0.55]])
    noise = np.diag([0.01, 0.02, 0.01, 0.01]) ** 2
    quotient, low, high = shares(share, noise, 1.96)
    assert quotient == pytest.approx(share / share.sum(axis=1, keepdims=True))
    for t in (low[0, 0], high[0, 0]):
        error = noise[0, 0] * (1 - t) ** 2 + noise[1, 1] * t**2
        assert (0.3 - t * 0.4) ** 2 == pytest.approx(1.96**2 * error)
    assert low[0, 0] < 0.75 < high[0, 0]
    assert low + high[:, ::-1] == pytest.approx(np.ones((2, 2)))
    nobody, low, high = shares(np.array([[-0.01, 0.005], [0.5, 0.5]]), noise, 1.96)
    assert np.isnan(nobody[0]).all()
    assert (low[0], high[0]) == (pytest.approx([0, 0]), pytest.approx([1, 1]))
    certain, low, high = shares(np.array([[0.5, -0.05], [0.3, 0.3]]), noise / 100, 1.96)
    assert certain[0].tolist() == [1, 0]
    assert low[0].tolist() == high[0].tolist() == [1, 0]


def test_collisions_of_unlisted_values_widen_intervals(tmp_path: Path) -> None:
    """With few hash functions a heavy unlisted value adds to the errors, and says so; many light ones add little."""
    metric = joint(tmp_path, part("local-hashing", hashes=16, width=4), BOOLEAN, epsilon=12)
    heavy = report(metric, ["a", "b", "heavy"], ["true", "false"], np.array([[4000, 4000]] * 2 + [[16000, 16000]]), 1)
    many = [f"u{i}" for i in range(320)]
    light = report(metric, ["a", "b", *many], ["true", "false"], np.array([[4000, 4000]] * 2 + [[50, 50]] * 320), 1)
    added = []
    for records in (heavy, light):
        pairs, rows = _pairs(metric, partial(metric, records), (("a", "b"), ("true", "false")))
        fitted = fit(question(metric, ["a", "b"], ["true", "false"]), merged(pairs))
        alone = spread(merged(pairs), fitted)
        more = excess(pairs, numbers(metric.parts[0], rows[0], 0)[pairs.i], fitted, alone, 0)
        assert (more[0] == more[1]).all()  # whichever of the two candidates it fell upon
        added.append(more / np.diag(fitted.covariance).reshape(3, 2))
    assert added[0].max() > 10 * max(added[1].max(), 1)
    result = estimate_joint(metric, partial(metric, heavy), ["a", "b"])
    assert len(result.notes) == 1
    assert "not listed and collide" in result.notes[0]


def test_text_and_files_say_the_same(found: JointEstimates) -> None:
    """The table, CSV, JSON and Arrow hold the same figures, with the marginals and the test in JSON and metadata."""
    document = json.loads(render.as_json(found, top=3))
    assert [list(row) for row in document["rows"]] == [COLUMNS] * 3
    assert document["independence"]["p_value"] == found.independence.p_value
    assert [row["value"] for row in document["marginals"]["first"]] == list(found.first)
    assert document["n"] == 2000
    rows = list(csv.DictReader(io.StringIO(render.as_csv(found))))
    assert [float(row["count"]) for row in rows] == found.columns()["count"].tolist()
    assert len(list(csv.DictReader(io.StringIO(render.as_csv(found, top=2))))) == 2
    about = json.loads(found.to_arrow().schema.metadata[b"hubbub"])
    assert about == {key: value for key, value in document.items() if key != "rows"}
    shown = str(found)
    assert "n = 2,000 reports of pairs" in shown
    assert "\ntest of independence: p = " in shown
    assert "(other)" in shown
    assert repr(found) == shown


def test_a_share_of_nobody_is_no_number(found: JointEstimates) -> None:
    """Where a row's count is not positive its shares are empty in CSV and null in JSON and Arrow, never NaN."""
    from dataclasses import replace

    share = found.share.copy()
    share[2] = -0.001
    nobody = replace(found, share=share)
    row = next(row for row in json.loads(render.as_json(nobody))["rows"] if row["first"] == "c")
    assert row["given_first"] is None
    line = next(row for row in csv.DictReader(io.StringIO(render.as_csv(nobody))) if row["first"] == "c")
    assert line["given_first"] == ""
    arrow = nobody.to_arrow()["given_first"]
    assert arrow.null_count == len(nobody.second)
    assert not any(value is not None and value != value for value in arrow.to_pylist())
    assert "nan" not in str(nobody).lower()
