"""What holds of every estimate from any records at all: one report, all reports equal, nonsense reports."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hubbub_decoder
from hubbub_decoder import Estimates, estimate, partial
from hubbub_registry import Registry

from tests.decoder.reports import random_records
from tests.registries import registry_of

METRICS: dict[str, dict[str, Any]] = {
    "two_values": {"mechanism": "randomized-response", "values": ["no", "yes"]},
    "unary": {"mechanism": "unary-encoding"},
    "response": {"mechanism": "hadamard-response"},
    "sketch": {"mechanism": "count-mean-sketch", "hashes": 4, "width": 16},
    "hashing": {"mechanism": "local-hashing", "hashes": 4},
    "puzzle": {"mechanism": "sequence-fragment-puzzle", "hashes": 4},
    "points": {"mechanism": "projective-geometry-response"},
    "subset": {"mechanism": "subset-selection"},
    "narrow": {"mechanism": "count-mean-sketch", "hashes": 1, "width": 2},
    "hadamard": {"mechanism": "hadamard-count-mean-sketch", "hashes": 4, "width": 16},
    "bloom": {"mechanism": "rappor", "cohorts": 3},
    "histogram": {"mechanism": "d-bit-flip"},
    "one_of_two": {"mechanism": "d-bit-flip", "high": 1, "buckets": 2, "bits": 1, "perturbation": None},
    "levels": {"mechanism": "hierarchical-histogram"},
    "flat": {"mechanism": "hierarchical-histogram", "levels": 1, "epsilon": 4},
    "deep": {"mechanism": "hierarchical-histogram", "low": 0, "high": 999, "buckets": 512, "levels": 8},
    "tight": {"mechanism": "rappor", "cohorts": 1, "bits": 2, "hashes": 1},
}


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    return registry_of(tmp_path_factory.mktemp("any"), **METRICS)


def sound(estimates: Estimates, reports: int) -> None:
    for column in (estimates.count, estimates.std_error, estimates.low, estimates.high, estimates.p_value):
        assert np.isfinite(column).all()
    assert (estimates.std_error >= 0).all()
    assert (estimates.low <= estimates.count + 1e-9 * reports).all()
    assert (estimates.count <= estimates.high + 1e-9 * reports).all()
    assert ((estimates.p_value >= 0) & (estimates.p_value <= 1)).all()
    assert (np.diff(estimates.count) <= 0).all()
    assert (estimates.consistent() >= 0).all()
    assert estimates.consistent().sum() <= reports * (1 + 1e-9)


@given(name=st.sampled_from(sorted(METRICS)), n=st.integers(1, 40), equal=st.booleans(), seed=st.integers(0, 2**32))
def test_estimates_are_sound(registry: Registry, name: str, n: int, equal: bool, seed: int) -> None:
    """Figures are finite, intervals hold their estimate, p-values are probabilities, consistent counts fit in n."""
    metric = registry.metric(name)
    records = random_records(metric, n, seed)
    if equal:
        records = np.repeat(records[:1], n, axis=0)
    candidates = metric.values or metric.candidates or [f"value {i}" for i in range(6)]
    sound(estimate(metric, partial(metric, records), candidates), n)


def test_what_the_package_exports() -> None:
    """The public names are these, and each of them is documented."""
    assert hubbub_decoder.__all__ == [
        "ArgumentError", "CandidateError", "Change", "ConfidenceInterval", "Dataset", "DecodeError", "EstimateError",
        "Estimates", "HeldBackError", "JointEstimates", "Mean", "MeanInterval", "QuantileInterval", "Quantiles",
        "Ranges", "RecordError", "Split", "State", "StateCache", "StateError", "Trend", "aggregate", "compare",
        "compare_states", "decode", "decode_by", "decode_joint", "decode_mean", "decode_quantiles", "decode_ranges",
        "estimate", "estimate_joint", "estimate_mean", "merge", "partial", "quantiles", "ranges", "trend",
    ]  # fmt: skip
    assert all(getattr(hubbub_decoder, name).__doc__ for name in hubbub_decoder.__all__)
