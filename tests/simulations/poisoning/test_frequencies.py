from __future__ import annotations

import numpy as np
import pytest

from hubbub_decoder import EstimateError, partial
from hubbub_decoder.mechanisms import mechanism
from hubbub_registry import Metric
from hubbub_simulations.accuracy import Study, zipf
from hubbub_simulations.bits import Bytes
from hubbub_simulations.mechanisms import encode
from hubbub_simulations.poisoning import attacked, fake_records
from hubbub_simulations.studies import studies
from hubbub_simulations.support import supports

SKETCH = Study("sketch", "count-mean-sketch", zipf(12, 4, 4000), {"epsilon": 4, "hashes": 16, "width": 64})
UNARY = Study("unary", "unary-encoding", zipf(12, 4, 4000), {"epsilon": 1})
BLOOM = Study(
    "bloom", "rappor", zipf(12, 4, 4000),
    {"epsilon": 2.5, "bits": 32, "hashes": 2, "cohorts": 8, "f": 0.5, "p": 0.5, "q": 0.75},
)  # fmt: skip
MEAN = Study("mean", "one-bit-mean", zipf(12, 4, 4000), {"epsilon": 1, "low": 0, "high": 15})

# Their estimates are sums over reports, so that one report has an estimate of its own.
LINEAR = [study for study in studies(2000) if study.name not in ("one-bit mean", "Bloom filter RAPPOR")]


@pytest.mark.parametrize("study", [SKETCH, UNARY, BLOOM, MEAN], ids=lambda study: study.name)
def test_a_picked_record_supports_the_target(study: Study) -> None:
    """Every record of the two cleverer attackers supports the target, and a repeated one is always the same."""
    metric = study.metric(7)
    rng = np.random.default_rng(1)
    picked = fake_records(metric, study.values, "picked", 300, rng)
    assert picked.shape == (300, metric.device.record_bytes)
    assert supports(metric, study.values[-1], picked).all()
    repeated = fake_records(metric, study.values, "repeated", 300, rng)
    assert (repeated == repeated[0]).all()
    assert supports(metric, study.values[-1], repeated[:1]).all()
    assert not supports(metric, study.values[-1], fake_records(metric, study.values, "holders", 300, rng)).all()


@pytest.mark.parametrize("study", LINEAR, ids=lambda study: study.name)
def test_a_record_supports_a_value_where_an_estimate_from_it_alone_is_positive(study: Study) -> None:
    """What the attacker takes for support is what the decoder counts."""
    metric = study.metric(5)
    rng = np.random.default_rng(3)
    records = encode(metric, [value.encode() for value in study.values], np.arange(40) % len(study.values), rng)
    for value in study.values[:2]:
        found = supports(metric, value, records)
        for record, support in zip(records, found, strict=True):
            assert counts_for(metric, record, value) == support


def counts_for(metric: Metric, record: Bytes, value: str) -> bool:
    """Whether the estimate from one record is positive; a report of a part that does not count the value gives none."""
    try:
        alone = partial(metric, record[np.newaxis])
        return bool(mechanism(metric.mechanism).estimate(metric, alone, [value]).count[0] > 0)
    except EstimateError:
        return False


def test_holders_move_an_estimate_by_their_number_and_pickers_by_more() -> None:
    """A fake holder counts as one holder (5.2 standard errors: 1e-6 with this margin, and the seed is fixed)."""
    study, share, runs = UNARY, 0.1, 20
    # Of one frequency; the two estimates that are compared share nine tenths of their reports, so theirs is less.
    error = (2 * 4 * np.e / (np.e - 1) ** 2 / study.reports / runs) ** 0.5
    assert abs(attacked(study, "holders", share, 1, runs).shift - share) < 5.2 * error
    assert attacked(study, "picked", share, 1, runs).shift > share + 5.2 * error


def test_copies_are_flagged_and_holders_are_not() -> None:
    """The screen sees one record repeated for a tenth of the reports, and cannot see honest-looking holders."""
    assert attacked(SKETCH, "repeated", 0.1, 1).flagged
    assert not attacked(SKETCH, "holders", 0.1, 1).flagged
