"""RAPPOR's regression: exact where the bit counts are, and honest where they cannot decide."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hubbub_decoder import CandidateError, Estimates, State, estimate
from hubbub_decoder.mechanisms import rappor
from hubbub_decoder.rappor import bloom
from hubbub_decoder.rappor.bloom import candidate_bits
from hubbub_registry import Metric

from tests.decoder.reports import encode
from tests.registries import metric_of

VALUES = [f"value {i}" for i in range(12)]
ONE_TIME = {"reports": "one-time", "p": None, "q": None, "epsilon": 12}


def expected_state(metric: Metric, holders: dict[str, int], per_cohort: int) -> State:
    """The bit counts that are expected where every cohort has ``per_cohort`` devices, ``holders`` in each.

    ``per_cohort`` is so large a power of two that rounding to whole reports is no matter.
    """
    parameters = metric.device.parameters
    one, zero = rappor.bit_rates(metric)
    cohorts, bits = parameters["cohorts"], parameters["bits"]
    total = sum(holders.values())
    set_bits = (candidate_bits(metric, list(holders)) @ np.array(list(holders.values()))).reshape(cohorts, bits)
    sums = [[round(per_cohort * (zero + (one - zero) * int(held) / total)) for held in row] for row in set_bits]
    return State.of(metric, per_cohort * cohorts, sums=np.array(sums), reports=np.full(cohorts, per_cohort, np.int64))


def by_value(estimates: Estimates) -> dict[str, float]:
    return dict(zip(estimates.value, estimates.frequency, strict=True))


@pytest.mark.parametrize("keys", [{"cohorts": 8}, {"cohorts": 1, "bits": 512}, {"cohorts": 8, **ONE_TIME}])
def test_expected_counts_give_the_truth(tmp_path: Path, keys: dict[str, object]) -> None:
    """From exactly the expected bit counts the regression finds exactly the true shares, and 0 for the absent."""
    metric = metric_of(tmp_path, "rappor", **keys)
    holders = {value: i + 1 for i, value in enumerate(VALUES[:8])}
    found = by_value(estimate(metric, expected_state(metric, holders, 1 << 40), VALUES))
    for value in VALUES:
        assert found[value] == pytest.approx(holders.get(value, 0) / 36, abs=1e-6)


def test_a_value_that_everybody_or_nobody_holds(tmp_path: Path) -> None:
    """A boolean at 0 % and at 100 % decodes (one cohort, one hash function), with intervals about the truth."""
    metric = metric_of(tmp_path, "rappor", cohorts=1, hashes=1)
    estimates = estimate(metric, expected_state(metric, {"true": 1}, 1 << 30), ["true", "false"])
    assert estimates.value == ("true", "false")
    assert estimates.frequency == pytest.approx([1, 0], abs=1e-6)
    assert (estimates.low[0] < estimates.n) & (estimates.n < estimates.high[0])
    assert estimates.low[1] < 0 < estimates.high[1]
    assert estimates.significant().tolist() == [True, False]


def test_values_in_no_list_do_not_lift_the_others(tmp_path: Path) -> None:
    """With half of the population on 200 unlisted values, the listed ones are not biased, on average over salts."""
    holders = {VALUES[0]: 100, VALUES[1]: 50, VALUES[2]: 50, **{f"unlisted {i}": 1 for i in range(200)}}
    errors = []
    for salt in range(30):
        metric = metric_of(tmp_path, "rappor", salt=f"{salt:016x}")
        found = by_value(estimate(metric, expected_state(metric, holders, 1 << 30), VALUES))
        errors.append([found[value] - holders.get(value, 0) / 400 for value in VALUES])
    mean, spread = np.mean(errors, axis=0), np.std(errors, axis=0, ddof=1) / np.sqrt(30)
    # 12 values at 6 standard errors: a false alarm in 1e7 or fewer. Without the background every mean is about +0.015.
    assert (np.abs(mean) < 6 * spread).all()
    assert (mean < 0.01).all()


def test_unlisted_values_widen_the_errors(tmp_path: Path) -> None:
    """Where unlisted values collide unevenly the residuals are large, and the standard errors grow with them."""
    metric = metric_of(tmp_path, "rappor")
    listed = {VALUES[0]: 1, VALUES[1]: 1}
    without = estimate(metric, expected_state(metric, listed, 1 << 30), VALUES)
    with_unlisted = estimate(metric, expected_state(metric, {**listed, "x": 1, "y": 1}, 1 << 30), VALUES)
    assert with_unlisted.std_error.min() > 10 * without.std_error.max()


def test_a_list_without_a_frequent_value_is_noted(tmp_path: Path) -> None:
    """The share that no candidate explains is named where it is beyond chance, and not where the list is complete."""
    metric = metric_of(tmp_path, "rappor")
    state = expected_state(metric, {VALUES[0]: 3, VALUES[1]: 1}, 1 << 20)
    assert estimate(metric, state, VALUES).notes == ()
    (note,) = estimate(metric, state, VALUES[1:]).notes
    # The unlisted value sets two bits of 64 in each cohort: its share is found within 15 points.
    assert 60 <= float(note.split("leave ")[1].split("%")[0]) <= 90
    assert "not in the list" in note
    few = rappor.partial(metric, encode(metric, VALUES * 20, 3))
    assert estimate(metric, few, VALUES).notes == ()


def test_candidates_that_cannot_be_told_apart(tmp_path: Path) -> None:
    """Candidates of the same bits share one count, each with an interval from none of it to all of it, and a note."""
    metric = metric_of(tmp_path, "rappor", bits=4, hashes=1, cohorts=1)
    place = {value: candidate_bits(metric, [value]).indices[0] for value in VALUES}
    first = VALUES[0]
    twin = next(value for value in VALUES[1:] if place[value] == place[first])
    other = next(value for value in VALUES if place[value] != place[first])
    estimates = estimate(metric, expected_state(metric, {first: 3, other: 1}, 1 << 30), [first, twin, other])
    found = by_value(estimates)
    assert found == pytest.approx({first: 0.375, twin: 0.375, other: 0.25}, abs=1e-5)
    note = estimates.notes[0]
    assert repr(first) in note
    assert repr(twin) in note
    row = estimates.value.index(twin)
    assert estimates.low[row] < 0
    assert estimates.high[row] > 0.75 * estimates.n


def test_more_candidates_than_equations(tmp_path: Path) -> None:
    """What the reports do not determine gets an error as large as the population, and is never significant."""
    metric = metric_of(tmp_path, "rappor", bits=8, cohorts=2)
    many = [f"candidate {i}" for i in range(60)]
    estimates = estimate(metric, expected_state(metric, {many[0]: 1, many[1]: 1}, 1 << 20), many)
    assert np.isfinite(estimates.count).all()
    assert not estimates.significant().any()
    assert any("do not determine" in note for note in estimates.notes)
    truth = np.array([estimates.n / 2 if value in many[:2] else 0 for value in estimates.value])
    assert ((estimates.low <= truth) & (truth <= estimates.high)).all()


def test_cohorts_that_nobody_is_in(tmp_path: Path) -> None:
    """Empty cohorts carry no equation: a single report decodes, with a large error."""
    metric = metric_of(tmp_path, "rappor")
    estimates = estimate(metric, rappor.partial(metric, encode(metric, ["value 0"], 1)), VALUES[:3])
    assert np.isfinite(estimates.count).all()
    assert (estimates.std_error > 1).all()


def test_too_many_candidates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list whose bits memory cannot hold is refused before any is computed, with the length that can be."""
    monkeypatch.setattr(bloom, "MAX_PLACES", 11 * 16)
    metric = metric_of(tmp_path, "rappor")
    with pytest.raises(CandidateError, match="12 candidates with 16 bits each; 11 are as many"):
        estimate(metric, expected_state(metric, {VALUES[0]: 1}, 1 << 20), VALUES)


def test_consistent_rappor_counts(tmp_path: Path) -> None:
    """From real reports, consistent counts are non-negative, at most n in all, and hardly anything for the absent."""
    metric = metric_of(tmp_path, "rappor", bits=128, cohorts=4)
    estimates = estimate(metric, rappor.partial(metric, encode(metric, VALUES[:3] * 300, 4)), VALUES)
    projected = estimates.consistent()
    assert (projected >= 0).all()
    assert projected.sum() <= estimates.n + 1e-6
    absent = [value not in VALUES[:3] for value in estimates.value]
    assert projected[absent].sum() < 0.5 * np.maximum(estimates.count[absent], 0).sum()
    assert (estimates.count < 0).any()
