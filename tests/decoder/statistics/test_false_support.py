"""What nobody holds is not called significant, in simulated fleets where the expected false support is small.

Every device holds one value, the others are absent, and Holm's procedure at 0.05 runs over all. Over 60 seeded runs a
sound test names an absent value in a run with probability 0.05 at most, so in 15 or more of them with probability below
1e-6 (binomial), which is the false-alarm rate of each case over seeds.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from hubbub_decoder import Estimates, estimate, partial
from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.statistics.significance import adjusted
from hubbub_registry import Metric
from hubbub_simulations.mechanisms import encode

from tests.registries import metric_of

RUNS, MOST = 60, 14
SKETCH = {"hashes": 1024, "width": 1024}
CASES: list[tuple[str, int, int, dict[str, Any]]] = [
    ("randomized-response", 1000, 100, {"epsilon": 8}),
    ("randomized-response", 1000, 1000, {"epsilon": 8}),
    ("randomized-response", 1000, 200, {"epsilon": 4}),
    ("randomized-response", 100, 1000, {"epsilon": 4}),
    ("unary-encoding", 1000, 500, {"epsilon": 8}),
    ("unary-encoding", 1000, 1000, {"epsilon": 4}),
    ("hadamard-response", 1000, 30, {"epsilon": 4}),
    ("count-mean-sketch", 1000, 100, {"epsilon": 8, **SKETCH}),
    ("count-mean-sketch", 1000, 100, {"epsilon": 4, **SKETCH}),
    ("count-mean-sketch", 1000, 5000, {"epsilon": 8, "hashes": 64, "width": 128}),
    ("hadamard-count-mean-sketch", 1000, 100, {"epsilon": 8, "hashes": 256, "width": 256}),
    ("hadamard-count-mean-sketch", 1000, 5000, {"epsilon": 8, "hashes": 64, "width": 128}),
    ("local-hashing", 1000, 300, {"epsilon": 6, "hashes": 1024}),
    ("local-hashing", 1000, 3000, {"epsilon": 2, "hashes": 64}),
]
# The cases in which a normal tail names absent values in more than a third of the runs.
NORMAL_FAILS = [0, 1, 2, 4, 7, 9]


def runs(folder: Path, mechanism: str, values: int, reports: int, keys: dict[str, Any], times: int) -> list[Estimates]:
    rng = np.random.default_rng(20261130)
    candidates = [f"value {i}" for i in range(values)]
    holders = np.zeros(reports, np.intp)
    found = []
    metric: Metric | None = None
    for _ in range(times):
        if "hashes" in keys:
            metric = metric_of(folder, mechanism, **keys, salt=f"{int(rng.integers(1 << 62)):016x}")
        elif metric is None:
            metric = metric_of(folder, mechanism, **keys, values=candidates)
        records = encode(metric, [candidates[0].encode()], holders, rng)
        found.append(estimate(metric, partial(metric, records), candidates))
    return found


def test_the_bound() -> None:
    """More than 14 false families of 60 are a chance below 1e-6 at a rate of 0.05."""
    assert stats.binom.sf(MOST, RUNS, 0.05) < 1e-6


def normal_tail(count: FloatArray, variance: FloatArray) -> FloatArray:
    """What would be wrong: the tail of a normal distribution with a count's variance."""
    return np.asarray(stats.norm.sf(count / np.sqrt(variance)), np.float64)


@pytest.mark.parametrize(("mechanism", "values", "reports", "keys"), CASES)
def test_absent_values_are_not_significant(
    tmp_path: Path, mechanism: str, values: int, reports: int, keys: dict[str, Any]
) -> None:
    """Holm's procedure at 0.05 names an absent value in 5 % of the runs at most, and intervals of absent ones cover."""
    false = 0
    covered = []
    for found in runs(tmp_path, mechanism, values, reports, keys, RUNS):
        absent = np.array([value != "value 0" for value in found.value])
        false += bool((found.significant(0.05, "holm") & absent).any())
        low, high = found.confidence_interval(0.95)
        covered.append(np.mean((low <= 0)[absent] & (high >= 0)[absent]))
    assert false <= MOST
    assert np.mean(covered) > 0.93


@pytest.mark.parametrize("case", NORMAL_FAILS)
def test_a_normal_tail_names_them(tmp_path: Path, case: int) -> None:
    """The same check fails for the normal tail of the same counts: too many runs name what nobody holds."""
    mechanism, values, reports, keys = CASES[case]
    false = 0
    for found in runs(tmp_path, mechanism, values, reports, keys, 40):
        absent = np.array([value != "value 0" for value in found.value])
        false += bool((adjusted(normal_tail(found.count, found.null_variance), "holm") <= 0.05)[absent].any())
    assert false > MOST


def test_true_values_are_still_found(tmp_path: Path) -> None:
    """A value that every device holds is significant in every run of every case with 100 reports or more."""
    for mechanism, values, reports, keys in CASES:
        if reports >= 100:
            for found in runs(tmp_path, mechanism, values, reports, keys, 3):
                assert found.value[0] == "value 0"
                assert found.significant()[0]


def test_empty_buckets_are_not_significant(tmp_path: Path) -> None:
    """The same for d-bit-flip, whose values are buckets of a range: all devices lie in the first of a thousand."""
    keys = {"epsilon": 4, "low": 0, "high": 999, "buckets": 1000, "bits": 8, "perturbation": None}
    metric = metric_of(tmp_path, "d-bit-flip", **keys)
    rng = np.random.default_rng(20261130)
    false = normal = 0
    for _ in range(RUNS):
        found = estimate(metric, partial(metric, encode(metric, [b"0"], np.zeros(1000, np.intp), rng)))
        absent = np.array([value != metric.candidates[0] for value in found.value])
        false += bool((found.significant(0.05, "holm") & absent).any())
        normal += bool((adjusted(normal_tail(found.count, found.null_variance), "holm") <= 0.05)[absent].any())
    assert false <= MOST < normal
