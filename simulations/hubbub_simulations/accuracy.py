"""Are the estimates as good as theory says? Many seeded runs of encode and decode, held against ``theory``.

The population of a study is fixed: how many devices hold each value. A run draws every device's noise anew, and for a
sketch its hash functions too (a new salt), because the formula for a sketch is a mean over families of hash functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub_decoder import estimate_mean, partial
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.mechanisms import mechanism
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, Floats
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode
from hubbub_simulations.theory import scaled_mse

RATIO_TOLERANCE = 0.05
"""How far n x MSE may be from its formula, as a share of it."""
MEAN_ERROR_LIMIT = 4.0
"""How far a mean error may be from zero, in its standard errors."""
COVERAGE_RANGE = (0.93, 0.97)
"""What nominal 95 % intervals must cover."""
RUNS_OF_A_MEAN = 40

Decoder: TypeAlias = Callable[[Metric, Bytes, Sequence[str]], Estimates]


@dataclass(frozen=True)
class Study:
    """One mechanism and one population. ``holders (d,)`` says how many devices hold each value; 0 for none."""

    name: str
    mechanism: str
    holders: NDArray[np.int64]
    keys: Mapping[str, Any] = field(default_factory=dict)
    """Registry keys besides mechanism, values and salt."""

    @property
    def values(self) -> list[str]:
        """The values, in the order of ``holders``; where they are a range of integers, those from its ``low`` on."""
        if self.numeric:
            return [str(self.keys["low"] + i) for i in range(len(self.holders))]
        return [f"value {i}" for i in range(len(self.holders))]

    @property
    def reports(self) -> int:
        """How many devices report."""
        return int(self.holders.sum())

    @property
    def frequencies(self) -> Floats:
        """The true frequencies ``(d,)``."""
        return np.asarray(self.holders / self.reports)

    @property
    def hashed(self) -> bool:
        """Whether values are hashed, so that every run takes a salt of its own."""
        return "hashes" in self.keys or "items" in self.keys

    @property
    def numeric(self) -> bool:
        """Whether values are the integers of a range; a histogram then has a bucket for each."""
        return "low" in self.keys

    @property
    def of_mean(self) -> bool:
        """Whether the result is one mean, in place of a frequency for each value."""
        return self.mechanism == "one-bit-mean"

    def metric(self, salt: int) -> Metric:
        """The metric of one run."""
        domain: dict[str, Any] = {}
        if self.hashed:
            domain["salt"] = f"{salt:016x}"
        elif not self.numeric:
            domain["values"] = self.values
        return define(self.mechanism, **self.keys, **domain)


@dataclass(frozen=True)
class Outcome:
    """What the runs of a study gave. Arrays are ``(runs, d)``, in the order of its values; d is 1 for a mean."""

    study: Study
    errors: Floats
    """Estimated less true frequency; of a mean, estimated less true mean as a share of the range."""
    covered: NDArray[np.bool_]
    """Whether the nominal 95 % interval held the true count."""
    formula: Floats
    """n x MSE by theory. Only RAPPOR's depends on the run, through its salt."""

    @property
    def scaled_mse(self) -> float:
        """n x the mean squared error, over runs and values."""
        return float(self.study.reports * np.mean(self.errors**2))

    @property
    def ratio(self) -> float:
        """The measured n x MSE over its formula."""
        return self.scaled_mse / float(np.mean(self.formula))

    @property
    def ratio_error(self) -> float:
        """The Monte Carlo standard error of ``ratio``: the runs are independent, the values within one are not."""
        per_run = self.study.reports * np.mean(self.errors**2, axis=1) / np.mean(self.formula)
        return float(np.std(per_run, ddof=1) / np.sqrt(len(per_run)))

    @property
    def worst_z(self) -> float:
        """The mean error over runs in its standard errors: of the value for which that is farthest from zero.

        The mean over devices counts as one more value: there the faults of a debiasing constant show first.
        """
        errors = self.errors
        if not self.study.of_mean:
            errors = np.column_stack([errors, errors @ self.study.frequencies])
        standard_errors = np.std(errors, axis=0, ddof=1) / np.sqrt(len(errors))
        return float(np.max(np.abs(np.mean(errors, axis=0)) / standard_errors))

    @property
    def coverage(self) -> float:
        """The share of intervals, over runs and values, that held the true count."""
        return float(np.mean(self.covered))

    def shortcomings(self, mean_error_limit: float = MEAN_ERROR_LIMIT) -> list[str]:
        """Which of the three conditions the runs do not meet: of ``"n x MSE"``, ``"mean error"``, ``"coverage"``."""
        low, high = COVERAGE_RANGE
        missed = {
            "n x MSE": not abs(self.ratio - 1) <= RATIO_TOLERANCE,
            "mean error": not self.worst_z <= mean_error_limit,
            "coverage": not low <= self.coverage <= high,
        }
        return [condition for condition, is_missed in missed.items() if is_missed]

    def to_dict(self) -> dict[str, Any]:
        """The figures, for CSV and JSON."""
        return {
            "study": self.study.name,
            "mechanism": self.study.mechanism,
            "values": len(self.study.holders),
            "reports": self.study.reports,
            "runs": len(self.errors),
            "n_mse": self.scaled_mse,
            "formula": float(np.mean(self.formula)),
            "ratio": self.ratio,
            "ratio_standard_error": self.ratio_error,
            "worst_mean_error_z": self.worst_z,
            "coverage_95": self.coverage,
            "shortcomings": "; ".join(self.shortcomings()),
        }


def zipf(values: int, unheld: int, reports: int, exponent: float = 1.1) -> NDArray[np.int64]:
    """Holders of ``values`` values in falling order, proportional to 1/rank**exponent, and of ``unheld`` that none has.

    They add up to ``reports`` exactly: what rounding down leaves over goes to the most frequent value.
    """
    weights = 1 / np.arange(1, values + 1) ** exponent
    holders = np.floor(reports * weights / weights.sum()).astype(np.int64)
    holders[0] += reports - holders.sum()
    return np.concatenate([holders, np.zeros(unheld, np.int64)])


def decode(metric: Metric, records: Bytes, candidates: Sequence[str]) -> Estimates:
    """The decoder itself."""
    module = mechanism(metric.mechanism)
    return module.estimate(metric, module.partial(metric, records), candidates)


def run_study(study: Study, runs: int, seed: int, decoder: Decoder = decode) -> Outcome:
    """``runs`` independent runs, the same for the same ``seed``.

    ``decoder`` is given so that a broken one can be; a study of a mean takes none, and makes ``RUNS_OF_A_MEAN`` runs
    for each, since a run gives one figure and not one a value.
    """
    if study.of_mean:
        return _run_mean_study(study, runs * RUNS_OF_A_MEAN, seed)
    rng = np.random.default_rng(seed)
    index = np.repeat(np.arange(len(study.holders)), study.holders)
    items = [value.encode() for value in study.values]
    place = {value: i for i, value in enumerate(study.values)}
    errors = np.empty((runs, len(study.holders)))
    covered = np.empty((runs, len(study.holders)), np.bool_)
    formula = np.empty((runs, len(study.holders)))
    metric = study.metric(int(rng.integers(0, 1 << 64, dtype=np.uint64)))
    for run in range(runs):
        if run and study.hashed:
            metric = study.metric(int(rng.integers(0, 1 << 64, dtype=np.uint64)))
        estimates = decoder(metric, encode(metric, items, index, rng), study.values)
        order = [place[value] for value in estimates.value]
        truth = study.holders[order]
        errors[run, order] = (estimates.count - truth) / study.reports
        interval = estimates.confidence_interval(0.95)
        covered[run, order] = (interval.low <= truth) & (truth <= interval.high)
        formula[run] = scaled_mse(metric, study.values, study.frequencies, study.reports)
    return Outcome(study, errors, covered, formula)


def _run_mean_study(study: Study, runs: int, seed: int) -> Outcome:
    rng = np.random.default_rng(seed)
    index = np.repeat(np.arange(len(study.holders)), study.holders)
    metric = study.metric(0)
    items = [value.encode() for value in study.values]
    truth = float(study.frequencies @ np.array([int(value) for value in study.values]))
    errors = np.empty((runs, 1))
    covered = np.empty((runs, 1), np.bool_)
    for run in range(runs):
        estimated = estimate_mean(metric, partial(metric, encode(metric, items, index, rng)))
        errors[run] = (estimated.mean - truth) / metric.device.parameters["span"]
        interval = estimated.confidence_interval(0.95)
        covered[run] = interval.low <= truth <= interval.high
    formula = np.tile(scaled_mse(metric, study.values, study.frequencies, study.reports), (runs, 1))
    return Outcome(study, errors, covered, formula)
