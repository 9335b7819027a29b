from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import linalg

from hubbub_decoder import partial
from hubbub_decoder.counting.records import Records
from hubbub_decoder.joint import sample as sample_module
from hubbub_decoder.joint.decode import estimate_joint
from hubbub_decoder.joint.expectation import _drawn, expected, possible_pairs
from hubbub_decoder.joint.information import information, likelihood
from hubbub_decoder.joint.likelihood import Side, side_of
from hubbub_decoder.joint.outputs import Outputs, _possible, bits, every
from hubbub_decoder.joint.sample import sample
from hubbub_registry import Metric

from tests.decoder.joint.questions import Table
from tests.joints import BOOLEAN, LETTERS, PARTS, joint, part, report

SIZE = 40_000
SETS = {"randomized-response", "hadamard-response", "projective-geometry-response", "subset-selection"}
"""Mechanisms whose records are drawn uniformly, and Hadamard sketches."""


@pytest.mark.parametrize("name", PARTS)
def test_drawn_records_are_weighted_by_how_seldom_they_are_drawn(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each record is drawn as often as its weight says, and those that a part cannot send never are.

    A weight is the record's factor over the chance of drawing it. Of at most 512 records one is more than 6.5 standard
    errors off by chance in one of 20 million; with every weight 1, records of most mechanisms are.
    """
    own = joint(tmp_path, part(name, share=0.75), BOOLEAN).parts[0]
    seen: list[Records] = []

    def noted(own: Metric, records: Records, candidates: list[str]) -> Side:
        seen.append(records)
        return side_of(own, records, candidates)

    monkeypatch.setattr(sample_module, "side_of", noted)
    side, weights = sample(own, LETTERS, SIZE, np.random.default_rng(1))
    rows = np.zeros((SIZE, 4), np.uint8)
    rows[:, : own.device.record_bytes] = seen[0]
    drawn = rows.view("<u4")[:, 0]
    whole = every(own, LETTERS)
    numbers = np.arange(1 << bits(own), dtype="<u4")
    numbers = numbers[_possible(own, numbers.view(np.uint8).reshape(-1, 4)[:, : own.device.record_bytes])]
    assert np.isin(drawn, numbers).all()
    assert np.allclose(side.at(slice(None)), whole.side.at(np.searchsorted(numbers, drawn)), rtol=1e-12)
    assert _worst(numbers, whole, drawn, weights) < 6.5
    if name not in SETS | {"hadamard-count-mean-sketch"}:
        assert _worst(numbers, whole, drawn, np.ones(SIZE)) > 6.5


def _worst(numbers: np.ndarray, whole: Outputs, drawn: np.ndarray, weights: Table) -> float:
    """How many standard errors the count of a record is off at most, of those that are expected ten times at least."""
    at = np.searchsorted(numbers, drawn)
    weight = np.full(len(numbers), np.inf)
    weight[at] = weights
    chance = whole.weights / weight
    chance /= chance.sum()
    often = SIZE * chance >= 10
    count = np.bincount(at, minlength=len(numbers))
    expected_count = SIZE * chance[often]
    return float((np.abs(count[often] - expected_count) / np.sqrt(expected_count)).max())


HADAMARD = part("hadamard-count-mean-sketch", hashes=16)
COUNTS = part("count-mean-sketch", hashes=16)
HASHED = part("local-hashing", hashes=16)
FILTERS = part("rappor, bloom", share=0.75, bits=8, cohorts=8)


@pytest.mark.parametrize(
    ("first", "second"),
    [(HADAMARD, COUNTS), (FILTERS, BOOLEAN), (HASHED, COUNTS), (part("unary-encoding"), part("rappor"))],
)
def test_drawn_pairs_tell_what_all_pairs_do(tmp_path: Path, first: dict[str, Any], second: dict[str, Any]) -> None:
    """Information from drawn pairs is 0.7 to 1.4 times the exact one in every direction; without weights it is not."""
    second_values = second.get("values", LETTERS)
    parts = joint(tmp_path, first, second).parts
    one, other = (every(part, names).merged() for part, names in zip(parts, (LETTERS, second_values), strict=True))
    exact = possible_pairs(parts, (LETTERS, second_values))
    drawn = _drawn(one, other, 1 << 14, np.random.default_rng(3))
    table = np.random.default_rng(2).dirichlet(np.full(exact.shape[0] * exact.shape[1], 0.3)).reshape(exact.shape)
    root = linalg.inv(linalg.cholesky(information(expected(exact, table), table), lower=True))
    for pairs, close in ((drawn, True), (replace(drawn, count=np.ones(len(drawn))), False)):
        found = linalg.eigvalsh(root @ information(expected(pairs, table), table) @ root.T)
        assert (found.min() > 0.7 and found.max() < 1.4) == close


def test_equal_questions_draw_equal_pairs_and_scores_of_one(tmp_path: Path) -> None:
    """Too many records to go through are drawn, the same ones each time, and the mean score they give is 1 all over."""
    first, second = (
        part("rappor, bloom", share=0.75, bits=32, cohorts=64),
        part("count-mean-sketch", hashes=64, width=64),
    )
    parts = joint(tmp_path, first, second, epsilon=12).parts
    found, again = (possible_pairs(parts, (LETTERS, LETTERS)) for _ in range(2))
    assert 10_000 < len(found) <= 1 << 15
    assert np.array_equal(found.count, again.count)
    assert np.array_equal(found.i, again.i)
    assert np.array_equal(found.j, again.j)
    table = np.random.default_rng(4).dirichlet(np.ones(36)).reshape(6, 6)
    assert np.abs(likelihood(expected(found, table), table)[1] - 1).max() < 0.1
    assert np.abs(likelihood(replace(found, count=np.ones(len(found))), table)[1] - 1).max() > 0.1


@pytest.mark.parametrize("size", [2, 17, 48, 49, 64])
@pytest.mark.parametrize("name", [name for name, keys in PARTS.items() if "values" in keys])
def test_lists_of_any_size_decode(tmp_path: Path, name: str, size: int) -> None:
    """Whatever mechanism and however many values a part has, a few reports give finite figures and errors."""
    values = [f"v{i}" for i in range(size)]
    keys = {key: value for key, value in PARTS[name].items() if key != "blocks"}
    metric = joint(tmp_path, {"mechanism": name, **keys, "values": values}, BOOLEAN)
    records = report(metric, values[:2], BOOLEAN["values"], np.array([[3, 1], [1, 2]]), seed=size)
    found = estimate_joint(metric, partial(metric, records), None, None)
    assert found.count.shape == (size, 2)
    assert np.isfinite(found.count).all()
    assert np.isfinite(found.std_error).all()
