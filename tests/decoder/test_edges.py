"""The smallest shapes and batches there are: two values, one hash function or cohort, no report, one, or equal ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hubbub_decoder import CandidateError, EstimateError, estimate, estimate_mean, partial
from hubbub_decoder.decode import gives_mean
from hubbub_decoder.discovery import can_discover, discover
from hubbub_registry import Metric, Registry

from tests.decoder.reports import encode, random_records
from tests.decoder.test_any_reports import sound
from tests.registries import MECHANISMS, metric_of, registry_of

TWO = ["no", "yes"]
ONE_HOT = {"mechanism": "rappor", "encoding": "one-hot", "bits": None, "hashes": None, "cohorts": None}
NARROW: dict[str, dict[str, Any]] = {
    "two_by_response": {"mechanism": "randomized-response", "values": TWO},
    "two_by_bits": {"mechanism": "unary-encoding", "values": TWO},
    "two_by_hadamard": {"mechanism": "hadamard-response", "values": TWO},
    "two_by_points": {"mechanism": "projective-geometry-response", "values": TWO},
    "two_by_sets": {"mechanism": "subset-selection", "values": TWO},
    "two_by_rappor": {**ONE_HOT, "values": TWO},
    "two_buckets": {"mechanism": "hierarchical-histogram", "low": 0, "high": 1, "buckets": 2, "levels": 1},
    "both_buckets": {"mechanism": "d-bit-flip", "low": 0, "high": 1, "buckets": 2, "perturbation": None},
    "one_hash": {"mechanism": "local-hashing", "hashes": 1},
    "one_row": {"mechanism": "hadamard-count-mean-sketch", "hashes": 1, "width": 2},
    "one_family": {"mechanism": "prefix-extending-method", "longest": 1, "items": 4, "families": 1},
    "one_position": {
        "mechanism": "sequence-fragment-puzzle", "hashes": 1, "fragment_hashes": 1, "positions": 1,
        "fragment_bytes": 1, "piece_bits": 1,
    },
    "one_cohort": {"mechanism": "rappor", "cohorts": 1},
    "once": {"mechanism": "rappor", "reports": "one-time", "cohorts": 1, "p": None, "q": None, "epsilon": 6},
    "certain": {"mechanism": "randomized-response", "epsilon": 16},
    "blind": {"mechanism": "projective-geometry-response", "epsilon": 0.01},
}  # fmt: skip


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    return registry_of(tmp_path_factory.mktemp("narrow"), **NARROW)


def looked_for(metric: Metric) -> tuple[str, ...]:
    """All values where they are known, else one."""
    return metric.candidates or ("a",)


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("n", [1, 2, 1000])
def test_equal_reports_of_the_smallest_shapes(narrow: Registry, name: str, n: int) -> None:
    """One report, and many that are all equal, have finite figures and intervals that hold their estimate."""
    metric = narrow.metric(name)
    state = partial(metric, np.repeat(random_records(metric, 1, n), n, axis=0))
    sound(estimate(metric, state, looked_for(metric)), n)
    if can_discover(metric.mechanism):
        assert np.isfinite(discover(metric, state, insignificant=True).count).all()


@pytest.mark.parametrize("name", [name for name, keys in NARROW.items() if "values" in keys])
def test_a_value_that_all_hold_and_one_that_nobody_holds(narrow: Registry, name: str) -> None:
    """At 100 % and at 0 % the intervals at level 1 - 1e-7 hold the truth (false alarm: 1e-6 over all of them)."""
    metric = narrow.metric(name)
    estimates = estimate(metric, partial(metric, encode(metric, ["yes"] * 400, 5)))
    interval = estimates.confidence_interval(1 - 1e-7)
    truth = np.where(np.array(estimates.value) == "yes", 400, 0)
    assert (interval.low <= truth).all()
    assert (truth <= interval.high).all()
    assert (interval.high - interval.low > 0).all()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_batch_of_no_reports(tmp_path_factory: pytest.TempPathFactory, mechanism: str) -> None:
    """No mechanism estimates, averages or finds anything in no reports: an error names the metric and says so."""
    metric = metric_of(tmp_path_factory.mktemp("none"), mechanism)
    nothing = partial(metric, random_records(metric, 1, 1)[:0])
    asked: list[Callable[[], object]] = [lambda: estimate(metric, nothing, looked_for(metric))]
    if gives_mean(metric):
        asked = [lambda: estimate_mean(metric, nothing)]
    if can_discover(mechanism):
        asked.append(lambda: discover(metric, nothing))
    for ask in asked:
        with pytest.raises(EstimateError, match="metric m: there are no reports"):
            ask()


@pytest.mark.parametrize("mechanism", ["local-hashing", "prefix-extending-method", "sequence-fragment-puzzle"])
def test_no_candidates(tmp_path_factory: pytest.TempPathFactory, mechanism: str) -> None:
    """Without a list the error says where to write one, and names discovery where the mechanism allows it."""
    metric = metric_of(tmp_path_factory.mktemp("open"), mechanism)
    with pytest.raises(CandidateError, match="--candidates") as caught:
        estimate(metric, partial(metric, random_records(metric, 5, 1)))
    assert ("hubbub discover" in str(caught.value)) == can_discover(mechanism)


def test_a_million_candidates(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A million candidates of an open domain are all estimated, and none is significant in reports of noise."""
    metric = metric_of(tmp_path_factory.mktemp("million"), "local-hashing", hashes=2)
    candidates = [f"{i:x}" for i in range(1_000_000)]
    estimates = estimate(metric, partial(metric, random_records(metric, 50, 1)), candidates)
    assert len(estimates) == 1_000_000
    assert not estimates.significant().any()
