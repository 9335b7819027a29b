"""Intervals of quantiles and ranges cover what they say, over populations of every shape and real numbers."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from hubbub_decoder import partial, quantiles, ranges
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode
from hubbub_simulations.number_accuracy import (
    POPULATIONS,
    PROBABILITIES,
    Answers,
    NumberStudy,
    decode_numbers,
    number_studies,
    run_numbers,
)

RUNS = 120
SMALL = {name: NumberStudy(name, 2.0, 64, 2000) for name in POPULATIONS}


@pytest.mark.parametrize("population", POPULATIONS)
def test_intervals_cover(population: str) -> None:
    """Nominal 95 % intervals of ranges cover 91 to 98.5 % of 840, those of quantiles 93 % of 600 and more.

    The seed is fixed, so this fails where something changed. It is no measurement: that is the study over 1,000 runs in
    docs/numbers.md.
    """
    outcome = run_numbers(SMALL[population], RUNS, seed=3)
    assert 0.91 <= outcome.ranges.mean() <= 0.985
    assert outcome.quantiles.mean() >= 0.93
    assert outcome.quantiles.mean(axis=0).min() >= 0.87


def narrow(study: NumberStudy, metric: Metric, records: Bytes) -> Answers:
    """A decoder whose levels state half of their noise."""
    found, counts = decode_numbers(study, metric, records)
    levels = tuple(
        replace(level, own=level.own / 4, other=level.other / 4, geometry=None) for level in found.distribution.levels
    )
    distribution = replace(found.distribution, levels=levels)
    return replace(found, distribution=distribution), replace(counts, distribution=distribution)


def test_a_decoder_that_states_too_little_is_caught() -> None:
    """With the standard error halved the same conditions do not hold, for ranges nor for quantiles."""
    outcome = run_numbers(SMALL["uniform"], RUNS, 3, narrow)
    assert outcome.ranges.mean() < 0.8
    assert outcome.quantiles.mean() < 0.93
    assert outcome.ratio.max() > 1.5


def test_real_temperatures_are_answered() -> None:
    """Seattle's 8,759 hourly temperatures of a year (package ``vega_datasets``), in tenths of a degree Fahrenheit, five
    devices each: seven quantiles and three ranges lie in intervals of level 0.999999; a false alarm has probability
    1e-5 at most, and the seed is fixed. The median is known to 15 tenths."""
    datasets = import_module("vega_datasets")
    tenths = np.rint(datasets.local_data.seattle_temps()["temp"].to_numpy() * 10).astype(np.int64)
    values = np.repeat(tenths, 5)
    assert (len(values), values.min() >= 0, values.max() < 1024) == (43_795, True, True)
    metric = define("hierarchical-histogram", epsilon=4, low=0, high=1023, buckets=1024)
    items = [b"%d" % value for value in range(1024)]
    state = partial(metric, encode(metric, items, values.astype(np.intp), np.random.default_rng(8)))
    shares = [0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95]
    truth = np.quantile(values, shares, method="inverted_cdf")
    found = quantiles(metric, state, shares).at_level(0.999999)
    assert ((found.low <= truth) & (truth <= found.high)).all()
    assert abs(found.quantile[3] - truth[3]) < 15
    pairs = [(320, 500), (500, 700), (700, 1024)]
    counts = ranges(metric, state, pairs).at_level(0.999999)
    held = np.array([np.count_nonzero((values >= low) & (values < high)) for low, high in pairs])
    assert ((counts.low <= held) & (held <= counts.high)).all()
    assert (counts.std_error < 0.03 * len(values)).all()


def test_the_studies_are_those_of_the_page() -> None:
    """Every population is studied at each epsilon and size, with all that is asked within its range."""
    found = number_studies(1000)
    assert {study.population for study in found} == set(POPULATIONS)
    assert len({(study.epsilon, study.buckets) for study in found}) == 4
    for study in found[:6]:
        assert len(study.values) == 1000
        assert all(0 <= low < high <= study.buckets for low, high in study.pairs)
        assert study.values.min() >= 0
        assert study.values.max() < study.buckets
    assert np.all(np.diff(PROBABILITIES) > 0)
