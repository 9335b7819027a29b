"""google/rappor's own regression grid: its populations, its map of true and false candidates, and its parameters.

Populations are those of its generator of true values: shares over v1 .. vN by a discretised density, and the number of
holders of each value a multinomial draw. Hash functions are hubbub's, new in every run.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hubbub_decoder import Estimates, State, estimate, partial
from hubbub_decoder.mechanisms.rappor import bit_rates
from hubbub_decoder.rappor.bloom import candidate_bits
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, Floats
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode

# Cells of more reports than this draw their bit counts, and only as many reports as this are made one by one.
_ENCODED = 100_000
DISTRIBUTIONS = ("unif", "gauss", "exp", "zipf1", "zipf1.5")


def shares(distribution: str, values: int) -> Floats:
    """The share of each of ``values`` values. Raises KeyError for a distribution that is not in the grid."""
    rank = np.arange(1, values + 1)
    weights: Floats = {
        "unif": np.ones(values),
        "gauss": np.exp(-0.5 * ((rank - values / 2) / (values / 6)) ** 2),
        "exp": np.exp(-5 * rank / values),
        "zipf1": 1 / rank,
        "zipf1.5": rank**-1.5,
    }[distribution]
    return np.asarray(weights / weights.sum())


@dataclass(frozen=True)
class Cell:
    """One cell: how many devices hold which values, and how they report."""

    distribution: str
    reports: int
    bits: int
    cohorts: int = 64
    p: float = 0.5
    q: float = 0.75
    f: float = 0.5
    values: int = 100
    false: int = 20
    unlisted: float = 0.0
    """The share of devices that hold one value more, which is no candidate."""

    @property
    def candidates(self) -> list[str]:
        """The values of the population, and then those that nobody holds."""
        return [f"v{i + 1}" for i in range(self.values)] + [f"false{i + 1}" for i in range(self.false)]

    @property
    def everything(self) -> list[str]:
        """The candidates, and last what is not among them."""
        return [*self.candidates, "unlisted"] if self.unlisted else self.candidates

    def metric(self, salt: int) -> Metric:
        """Two hash functions, as everywhere in the grid."""
        return define(
            "rappor", epsilon=16, bits=self.bits, hashes=2, cohorts=self.cohorts, f=self.f, p=self.p, q=self.q,
            salt=f"{salt:016x}",
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Run:
    """One population of a cell, encoded and decoded; arrays in the order of the cell's candidates."""

    metric: Metric
    records: Bytes
    """All reports; in a large cell, whose bit counts are drawn, a sample of reports of the same population."""
    state: State
    holders: NDArray[np.int64]
    estimates: Estimates
    seconds: float
    """Of processor time, from bit counts and candidates to estimates."""
    order: NDArray[np.int64] = field(repr=False)
    """Where each candidate is among the estimates."""

    @staticmethod
    def of(cell: Cell, seed: int) -> Run:
        """The run that ``seed`` gives."""
        rng = np.random.default_rng(seed)
        metric = cell.metric(int(rng.integers(0, 1 << 63)))
        held = np.zeros(len(cell.everything), np.int64)
        unlisted = round(cell.reports * cell.unlisted)
        held[: cell.values] = rng.multinomial(cell.reports - unlisted, shares(cell.distribution, cell.values))
        if unlisted:
            held[-1] = unlisted
        items = [value.encode() for value in cell.everything]
        if cell.reports <= _ENCODED:
            records = encode(metric, items, rng.permutation(np.repeat(np.arange(len(held)), held)), rng)
            state = partial(metric, records)
        else:
            records = encode(metric, items, rng.choice(len(held), _ENCODED, p=held / held.sum()), rng)
            state = _draw(metric, cell, held, rng)
        started = time.process_time()
        estimates = estimate(metric, state, cell.candidates)
        seconds = time.process_time() - started
        place = {value: i for i, value in enumerate(estimates.value)}
        order = np.array([place[value] for value in cell.candidates])
        return Run(metric, records, state, held[: len(order)], estimates, seconds, order)

    @property
    def errors(self) -> Floats:
        """Estimated less true count."""
        return self.estimates.count[self.order] - self.holders

    @property
    def std_error(self) -> Floats:
        """The stated standard errors."""
        return self.estimates.std_error[self.order]

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Whether the nominal 95 % interval holds the true count."""
        low, high = self.estimates.confidence_interval(0.95)
        return np.asarray((low[self.order] <= self.holders) & (self.holders <= high[self.order]))

    @property
    def total_variation(self) -> float:
        """Half the sum of the consistent shares' absolute errors."""
        return float(np.abs(self.estimates.consistent()[self.order] - self.holders).sum() / 2 / self.estimates.n)

    def named(self, alpha: float = 0.05) -> NDArray[np.bool_]:
        """Which candidates are significant at ``alpha`` each, uncorrected: what R's two standard deviations are."""
        return self.estimates.significant(alpha, "none")[self.order]


def _draw(metric: Metric, cell: Cell, holders: NDArray[np.int64], rng: np.random.Generator) -> State:
    """Bit counts from their exact law: given which devices are in a cohort, its bits are independent."""
    one, zero = (float(rate) for rate in bit_rates(metric))
    held = rng.multinomial(holders, np.full(cell.cohorts, 1 / cell.cohorts))
    filters = sparse.csr_array(candidate_bits(metric, cell.everything))
    reports = held.sum(axis=0)
    sums = np.empty((cell.cohorts, cell.bits), np.int64)
    for cohort in range(cell.cohorts):
        ones = (filters[cohort * cell.bits : (cohort + 1) * cell.bits] @ held[:, cohort]).astype(np.int64)
        sums[cohort] = rng.binomial(ones, one) + rng.binomial(reports[cohort] - ones, zero)
    return State.of(metric, int(reports.sum()), sums=sums, reports=reports)
