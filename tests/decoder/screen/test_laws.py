from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from hubbub_client.mechanisms.names import NAMES
from hubbub_decoder.screen.checks import Within
from hubbub_decoder.screen.laws import law_of
from hubbub_registry import Metric

from tests.decoder.reports import SMALL, as_records, outputs
from tests.registries import metric_of

NOTHING = ("randomized-response", "projective-geometry-response", "one-bit-mean")
# Of subset selection a size that never varies is known, so no honest record changes a proportion.
SCREENED = [name for name in NAMES if name not in NOTHING]
# So many records in exact proportion that a probability off by 1e-4 would show.
MANY = 10**10


def values(metric: Metric) -> list[str]:
    if metric.numeric:
        return ["0", "1", "2", "4"]
    return list(metric.values) or ["a", "b", "c"]


def expected(metric: Metric, value: str, field: int) -> np.ndarray:
    """The counts of check number ``field`` in ``MANY`` records of holders of ``value``, each output in proportion."""
    chances: dict[bytes, Fraction] = defaultdict(Fraction)
    for record, chance in outputs(metric, value):
        chances[record] += chance
    check = law_of(metric).checks[field]
    total = None
    for record, chance in chances.items():
        found = check.count(metric, as_records([record])) * round(MANY * chance)
        total = found if total is None else total + found
    assert total is not None
    return total


@pytest.mark.parametrize("mechanism", SCREENED)
def test_the_laws_are_those_of_the_mechanism_whatever_the_value(tmp_path: Path, mechanism: str) -> None:
    """Enumerating every output of every value gives just the proportions that each check expects."""
    metric = metric_of(tmp_path, mechanism, **SMALL[mechanism])
    law = law_of(metric)
    assert law.checks
    for field, check in enumerate(law.checks):
        for value in values(metric):
            assert check.p_value(expected(metric, value, field), 1) > 0.5, (check.what, value)


@pytest.mark.parametrize("mechanism", [name for name in SCREENED if name != "subset-selection"])
def test_other_proportions_are_noticed(tmp_path: Path, mechanism: str) -> None:
    """Where one record in a thousand is a fixed other one, every check that the record touches says so."""
    metric = metric_of(tmp_path, mechanism, **SMALL[mechanism])
    value = values(metric)[0]
    every = sorted({record for record, _ in outputs(metric, value)})
    for field, check in enumerate(law_of(metric).checks):
        if isinstance(check, Within):
            continue  # no record of a device changes it
        honest = expected(metric, value, field)
        noticed = [
            check.p_value(honest + check.count(metric, as_records([record])) * (MANY // 1000), 1) < 1e-6
            for record in every
        ]
        assert sum(noticed) > len(noticed) // 5, check.what


def test_a_bloom_filter_s_own_collisions_are_no_suspicion(tmp_path: Path) -> None:
    """Values that set one bit and values that set two are both honest, alone or mixed; three bits are not."""
    metric = metric_of(tmp_path, "rappor", bits=8, hashes=2, cohorts=2, epsilon=4)
    ones = law_of(metric).checks[1]
    one_bit, two_bits = ones.laws  # type: ignore[attr-defined]
    for share in (0.0, 0.3, 1.0):
        counts = np.rint(MANY * (share * one_bit + (1 - share) * two_bits)).astype(np.int64)
        assert ones.p_value(counts, 1) > 0.5
    three = np.rint(MANY * (two_bits + (two_bits - one_bit))).astype(np.int64)
    assert ones.p_value(three, 1) < 1e-6


def test_every_mechanism_has_a_law(tmp_path: Path) -> None:
    """A mechanism in the table says what is known of its records, be it nothing."""
    for name in NAMES:
        law_of(metric_of(tmp_path, name))
