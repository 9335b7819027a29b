"""The embeddable client's own reports, decoded: the two rooms agree on fields, hashing and debiasing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from hubbub_decoder import Estimates, estimate, estimate_mean, partial
from hubbub_decoder.mechanisms import NAMES
from hubbub_registry import Metric
from hubbub_registry.mechanisms import mechanism, takes_integers

from tests.decoder.reports import encode, range_bucket
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
        *[(name, {}) for name in NAMES if not takes_integers(mechanism(name))],
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


INTEGERS = [-20] * 1200 + [13] * 900 + [14] * 600 + [99] * 300


@pytest.mark.parametrize("keys", [{}, {"perturbation": None, "points": 2}, {"points": 120, "epsilon": 2}])
def test_the_client_s_bits_average_to_the_truth(tmp_path: Path, keys: dict[str, object]) -> None:
    """3,000 one-bit reports of integers give their mean within 6 standard errors."""
    metric = metric_of(tmp_path, "one-bit-mean", **keys)
    mean = estimate_mean(metric, partial(metric, encode(metric, [str(x) for x in INTEGERS], seed=5)))
    assert abs(mean.mean - float(np.mean(INTEGERS))) < Z * mean.std_error


@pytest.mark.parametrize("keys", [{"bits": 1}, {}, {"bits": 5, "perturbation": None}, {"buckets": 7, "bits": 3}])
def test_the_client_s_buckets_count_the_truth(tmp_path: Path, keys: dict[str, object]) -> None:
    """3,000 reports of d bits count each bucket within 6 standard errors, where buckets divide the range or do not."""
    metric = metric_of(tmp_path, "d-bit-flip", low=-20, **keys)
    estimates = estimate(metric, partial(metric, encode(metric, [str(x) for x in INTEGERS], seed=6)))
    truth = Counter(metric.candidates[range_bucket(metric, str(x))] for x in INTEGERS)
    errors = estimates.count - np.array([truth[value] for value in estimates.value])
    assert np.max(np.abs(errors) / estimates.std_error) < Z


def test_rounding_without_alpha_is_noticed(tmp_path: Path) -> None:
    """Where alpha is 0 on all devices every value is rounded down, and the mean is off by more than 6 errors."""
    metric = metric_of(tmp_path, "one-bit-mean", low=0, high=100, points=2, epsilon=4, perturbation=None)
    values = ["90"] * 3000
    right = estimate_mean(metric, partial(metric, encode(metric, values, seed=7)))
    assert abs(right.mean - 90) < Z * right.std_error
    with mock.patch("hubbub_client.mechanisms.one_bit_mean.alpha_of", return_value=0):
        wrong = estimate_mean(metric, partial(metric, encode(metric, values, seed=7)))
    assert abs(wrong.mean - 90) > Z * wrong.std_error
