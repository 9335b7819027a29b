"""The mean of one bit a device: unbiased, with an error and an interval that are computed exactly."""

from __future__ import annotations

from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from hubbub_decoder import EstimateError, Mean, State, StateError, decode_mean, estimate, estimate_mean, partial
from hubbub_decoder.mean import MeanInterval
from hubbub_decoder.sealed.dataset import Dataset
from hubbub_registry import Metric

from tests.decoder.reports import as_records, encode, outputs, random_records, seal, shown
from tests.registries import metric_of

N = 2000


def of(metric: Metric, ones: int, n: int = N) -> Mean:
    return estimate_mean(metric, State.of(metric, n, ones=np.array([ones])))


@pytest.mark.parametrize("keys", [{}, {"perturbation": None, "epsilon": 3}, {"low": -400, "high": -100, "points": 2}])
def test_a_report_expects_to_be_its_value(tmp_path: Path, keys: dict[str, object]) -> None:
    """Over its exact outputs, one report's estimate has its device's value as its mean."""
    metric = metric_of(tmp_path, "one-bit-mean", **keys)
    low, high = of(metric, 0).bounds
    for value in {low, low + 1, (low + high) // 2, high}:
        mean = sum(
            float(chance) * estimate_mean(metric, partial(metric, as_records([record]))).mean
            for record, chance in outputs(metric, str(value))
        )
        assert mean == pytest.approx(value, abs=1e-9 * (high - low))


def test_the_error_is_exact_where_all_hold_one_value(tmp_path: Path) -> None:
    """With the ones that n holders of one value expect, the variance is n times one report's, to the last digit."""
    metric = metric_of(tmp_path, "one-bit-mean")
    low, high = of(metric, 0).bounds
    for value in (low, (low + high) // 2, high):
        chance = dict(outputs(metric, str(value)))[b"\x01"]
        n = chance.denominator
        stated = of(metric, chance.numerator, n)
        scale = Fraction(high - low) / (2 * shown(metric) - 1)
        assert stated.mean == pytest.approx(value, abs=1e-9)
        assert stated.std_error**2 == pytest.approx(float(scale**2 * chance * (1 - chance) / n), rel=1e-9)


def test_no_report_has_no_error_of_zero(tmp_path: Path) -> None:
    """All zeros, or all ones, still have a standard error: that of a population at the end of the range."""
    metric = metric_of(tmp_path, "one-bit-mean")
    for ones in (0, 1):
        single = of(metric, ones, 1)
        assert single.std_error > 0
        assert single.low < single.mean < single.high or single.mean in (single.low, single.high)
    assert of(metric, N).std_error == pytest.approx(of(metric, 0).std_error)


def coverage(metric: Metric, populations: dict[int, int], level: float = 0.95) -> float:
    """The exact chance that the interval holds the true mean: the ones are a sum of binomials."""
    chance = np.ones(1)
    for value, devices in populations.items():
        p = float(dict(outputs(metric, str(value)))[b"\x01"])
        chance = np.convolve(chance, stats.binom.pmf(np.arange(devices + 1), devices, p))
    truth = sum(value * devices for value, devices in populations.items()) / N
    intervals = [of(metric, ones).confidence_interval(level) for ones in range(N + 1)]
    return float(sum(c for c, i in zip(chance, intervals, strict=True) if i.low <= truth <= i.high))


POPULATIONS = {
    "all lowest": {-20: N},
    "all highest": {99: N},
    "one in the middle": {40: N},
    "rare and high": {-20: N - 20, 99: 20},
    "spread": {-20: 400, 10: 400, 40: 400, 70: 400, 99: 400},
}


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("keys", [{"epsilon": 0.5}, {"epsilon": 1, "perturbation": None}, {"epsilon": 2}])
def test_intervals_cover(tmp_path: Path, population: str, keys: dict[str, float]) -> None:
    """Nominal 95 % intervals cover 93 to 97 % exactly, at a high epsilon too where values do not spread."""
    metric = metric_of(tmp_path, "one-bit-mean", **keys)
    found = coverage(metric, POPULATIONS[population])
    assert found >= 0.93
    assert found <= 0.97 or (population == "spread" and keys["epsilon"] == 2)


@pytest.mark.parametrize("epsilon", [0.5, 1, 4, 8])
def test_intervals_never_cover_too_little(tmp_path: Path, epsilon: float) -> None:
    """Half at either end of the range is the widest spread there is: intervals cover more than they say, not less."""
    metric = metric_of(tmp_path, "one-bit-mean", epsilon=epsilon, perturbation=None)
    assert coverage(metric, {-20: N // 2, 99: N // 2}) >= 0.945


RARE = [(8, 520, 0.95), (8, 300, 0.95), (8, 3000, 0.95), (8, 225, 0.999), (6, 70, 0.95), (4, 30, 0.95), (2, 1, 0.95)]


def rare_coverage(mean: Mean, highest: bool, level: float) -> float:
    """The exact chance that the interval holds the end of the range at which all devices are."""
    chance = stats.binom.pmf(np.arange(mean.n + 1), mean.n, float(mean.p if highest else mean.q))
    truth, rounding = mean.bounds[highest], 1e-9 * (mean.bounds[1] - mean.bounds[0])
    held = [
        interval.low - rounding <= truth <= interval.high + rounding
        for interval in (replace(mean, ones=ones).confidence_interval(level) for ones in range(mean.n + 1))
    ]
    return float(chance[held].sum())


@pytest.mark.parametrize("highest", [False, True])
@pytest.mark.parametrize(("epsilon", "n", "level"), RARE)
def test_few_ones_or_few_zeros_are_covered(tmp_path: Path, epsilon: float, n: int, level: float, highest: bool) -> None:
    """Where all devices are at one end, and few reports or one show otherwise, an interval covers what it says."""
    mean = of(metric_of(tmp_path, "one-bit-mean", epsilon=epsilon, perturbation=None), 0, n)
    assert rare_coverage(mean, highest, level) >= level


class Wilson(Mean):
    """Wilson's score interval in place of the exact one."""

    def confidence_interval(self, level: float | None = None) -> MeanInterval:
        z = stats.norm.isf((1 - (level or self.level)) / 2)
        share, weight = self.ones / self.n, z * z / self.n
        centre, half = share + weight / 2, np.sqrt(weight * (share * (1 - share) + weight / 4))
        return MeanInterval(*(self._from_share((centre + sign * half) / (1 + weight)) for sign in (-1, 1)))


def test_wilsons_interval_covers_too_little_there(tmp_path: Path) -> None:
    """The same computation finds 84 % where a normal tail stands for the binomial's, at epsilon 8 and n = 520."""
    mean = of(metric_of(tmp_path, "one-bit-mean", epsilon=8, perturbation=None), 0, 520)
    plain = Wilson(*(getattr(mean, field.name) for field in fields(mean)))
    assert rare_coverage(plain, False, 0.95) < 0.86


def test_an_interval_of_half_the_width_covers_too_little(tmp_path: Path) -> None:
    """The same computation fails an interval that is too narrow: one of another level."""
    metric = metric_of(tmp_path, "one-bit-mean")
    assert coverage(metric, {40: N}, level=0.67) < 0.7


def test_levels(tmp_path: Path) -> None:
    """A higher level gives a wider interval, and one outside (0, 1) is an EstimateError."""
    mean = of(metric_of(tmp_path, "one-bit-mean"), N // 2)
    assert mean.at_level(0.99).low < mean.low < mean.mean < mean.high < mean.at_level(0.99).high
    for level in (0, 1, 95):
        with pytest.raises(EstimateError):
            mean.confidence_interval(level)
        with pytest.raises(EstimateError):
            mean.at_level(level)


def test_nothing_is_clipped_but_the_consistent_figure(tmp_path: Path) -> None:
    """More ones than the highest value gives lie outside the bounds; ``consistent`` alone is held within them."""
    mean = of(metric_of(tmp_path, "one-bit-mean"), N)
    assert mean.mean > 99
    assert mean.consistent() == 99
    assert list(mean.columns(consistent=True)) == ["mean", "std_error", "low", "high", "consistent"]
    assert mean.to_pandas(consistent=True).shape == (1, 5)
    assert str(mean).startswith("m: n = 2,000 reports, one-bit-mean, epsilon = ")


def test_a_mean_is_no_count(tmp_path: Path) -> None:
    """Each of the two questions refuses the other's metrics, and states of another definition or of no report."""
    one, other = metric_of(tmp_path, "one-bit-mean"), metric_of(tmp_path, "one-bit-mean", high=100)
    counted = metric_of(tmp_path, "randomized-response")
    with pytest.raises(EstimateError, match="estimate_mean"):
        estimate(one, partial(one, random_records(one, 3, 1)))
    with pytest.raises(EstimateError, match="gives counts"):
        estimate_mean(counted, partial(counted, random_records(counted, 3, 1)))
    with pytest.raises(StateError):
        estimate_mean(one, partial(other, random_records(other, 3, 1)))
    with pytest.raises(EstimateError, match="no reports"):
        estimate_mean(one, partial(one, random_records(one, 0, 1)))


def test_a_data_set_decodes(tmp_path: Path) -> None:
    """Sealed reports give the mean; a metric that gives counts is refused before anything is read."""
    metric = metric_of(tmp_path, "one-bit-mean", epsilon=4, perturbation=None)
    seal(tmp_path, metric, encode(metric, ["-20"] * 200 + ["99"] * 200, 3))
    mean = decode_mean(metric, Dataset(tmp_path, metric))
    assert mean.low < 39.5 < mean.high
    counted = metric_of(tmp_path, "randomized-response")
    seal(tmp_path, counted, random_records(counted, 3, 1))
    with pytest.raises(EstimateError, match="use decode"):
        decode_mean(counted, Dataset(tmp_path, counted))
