"""The embeddable client's own reports, decoded: the two rooms agree on fields, hashing and debiasing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hubbub_decoder import Estimates, estimate, partial
from hubbub_decoder.mechanisms import NAMES
from hubbub_registry import Metric

from tests.decoder.reports import encode
from tests.registries import metric_of

HOLDERS = {"a": 1600, "b": 800, "c": 400, "d": 200, "e": 0}
REPORTS = [value for value, times in HOLDERS.items() for _ in range(times)]
# Two-sided normal tails beyond 6 standard errors are 2e-9; five values: a false alarm in 1e8.
Z = 6


def worst(estimates: Estimates) -> float:
    truth = np.array([HOLDERS[value] for value in estimates.value])
    return float(np.max(np.abs(estimates.count - truth) / estimates.std_error))


def reported(folder: Path, mechanism: str, **keys: object) -> tuple[Metric, np.ndarray]:
    metric = metric_of(folder, mechanism, **keys)
    return metric, encode(metric, REPORTS, seed=11)


@pytest.mark.parametrize(
    ("mechanism", "keys"),
    [
        *[(name, {}) for name in NAMES],
        ("hadamard-response", {"epsilon": 3, "blocks": 2}),
        ("rappor", {"cohorts": 1}),
        ("rappor", {"epsilon": 12, "reports": "one-time", "p": None, "q": None}),
        ("rappor", {"encoding": "one-hot", "bits": None, "hashes": None, "cohorts": None, "values": list(HOLDERS)}),
    ],
)
def test_the_client_s_reports_decode_to_the_truth(tmp_path: Path, mechanism: str, keys: dict[str, object]) -> None:
    """3,000 reports of the client decode to within 6 standard errors of the true counts, for every value."""
    metric, records = reported(tmp_path, mechanism, **keys)
    assert worst(estimate(metric, partial(metric, records), list(HOLDERS))) < Z


@pytest.mark.parametrize("mechanism", ["randomized-response", "unary-encoding", "hadamard-count-mean-sketch"])
def test_a_wrong_probability_is_noticed(tmp_path: Path, mechanism: str) -> None:
    """The same check fails where the decoder debiases with another probability than the client used."""
    metric, records = reported(tmp_path, mechanism, epsilon=2)
    state = partial(metric, records)
    parameters = metric.device.parameters
    whole = 1 << parameters["precision"]
    noisier = mechanism != "randomized-response"
    parameters["threshold"] += (whole - parameters["threshold"]) // 4 if noisier else -(parameters["threshold"] // 3)
    assert worst(estimate(metric, state, list(HOLDERS))) > Z
