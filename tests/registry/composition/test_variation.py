"""Total variation and dominating pairs, against the enumerated output distributions of the real encoders."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from hubbub_client.plan import mechanism
from hubbub_registry.composition.part import largest_variation
from hubbub_registry.composition.variation import own_variation, variation

from tests.client.distribution import (
    VALUES,
    Distribution,
    device_metric,
    encoder_of,
    enumerate_bytes,
    words,
)
from tests.registries import MECHANISMS, metric_of
from tests.registry.composition.exact import hockey_stick, three_points

# Mechanism, the plan's integers, the fields of a record, the size of the closed domain, the random bits of the source.
SMALL: list[tuple[str, dict[str, int], list[list[Any]], int, list[int]]] = [
    (
        "randomized-response", {"domain": 3, "uniform_bits": 5, "threshold": 3, "precision": 4},
        [["index", 2, 3]], 3, [9],
    ),
    ("unary-encoding", {"domain": 3, "threshold": 3, "precision": 3}, [["bits", 3, 0]], 3, [3] * 4),
    (
        "hadamard-response", {"domain": 3, "blocks_bits": 0, "size_bits": 2, "threshold": 3, "precision": 4},
        [["index", 2, 0]], 3, [6],
    ),
    (
        "hadamard-response", {"domain": 5, "blocks_bits": 1, "size_bits": 2, "threshold": 3, "precision": 4},
        [["index", 3, 0]], 5, [7],
    ),
    (
        "projective-geometry-response",
        {"domain": 4, "order": 3, "dimension": 2, "uniform_bits": 2, "threshold": 3, "precision": 4},
        [["point", 2, 0]], 4, [6],
    ),
    (
        "local-hashing", {"hashes_bits": 0, "width_bits": 2, "salt": 11, "threshold": 3, "precision": 4},
        [["hash", 0, 0], ["bucket", 2, 0]], 0, [6],
    ),
    (
        "sequence-fragment-puzzle",
        {
            "hashes_bits": 0, "width_bits": 1, "salt": 11, "threshold": 3, "precision": 4, "positions_bits": 1,
            "fragment_bytes": 1, "piece_bits": 2, "fragment_hashes_bits": 0, "fragment_width_bits": 2,
            "fragment_threshold": 5, "fragment_precision": 3, "fragment_salt": 12,
        },
        [["hash", 0, 0], ["bucket", 1, 0], ["position", 1, 0], ["fragment_hash", 0, 0], ["fragment_bucket", 2, 0]],
        0, [5, 6],
    ),
    (
        "prefix-extending-method",
        {
            "levels": 1, "first": 2, "step": 1, "slots_bits": 1, "families_bits": 0, "dimension": 2, "width_bits": 1,
            "threshold": 3, "precision": 4, "salt": 11,
        },
        [["slot", 1, 0], ["family", 0, 0], ["function", 1, 0], ["bucket", 1, 0]], 0, [7],
    ),
    (
        "subset-selection", {"domain": 3, "size": 2, "draw_bits": 3, "threshold": 7, "precision": 3},
        [["bits", 3, 0]], 3, [3, 3, 3],
    ),
    (
        "count-mean-sketch", {"hashes_bits": 0, "width_bits": 2, "salt": 11, "threshold": 2, "precision": 3},
        [["hash", 0, 0], ["row", 4, 0]], 0, [4] * 3,
    ),
    (
        "hadamard-count-mean-sketch",
        {"hashes_bits": 0, "width_bits": 2, "salt": 11, "threshold": 2, "precision": 3},
        [["hash", 0, 0], ["row", 2, 0], ["bit", 1, 0]], 0, [5],
    ),
    (
        "hierarchical-histogram",
        {
            "low": 0, "below_zero": 0, "span": 3, "buckets_bits": 2, "levels_bits": 1, "uniform_bits": 2,
            "precision": 3, "order_0": 3, "dimension_0": 2, "threshold_0": 3, "order_1": 3, "dimension_1": 2,
            "threshold_1": 4,
        },
        [["level", 1, 0], ["point", 2, 0]], 0, [6],
    ),
    (
        "rappor",
        {
            "bits": 4, "bits_bits": 2, "hashes": 1, "cohorts": 1, "salt": 11, "prr_threshold": 2, "prr_precision": 3,
            "irr_q": 0, "irr_p": 0, "irr_precision": 0,
        },
        [["cohort", 0, 0], ["bits", 4, 0]], 0, [4] * 3,
    ),
]  # fmt: skip


def distributions(
    kind: str, parameters: dict[str, int], fields: list[list[Any]], domain: int, bits: list[int]
) -> list[Distribution]:
    """The output distribution of every value of the domain, or of the first dozen where it is open."""
    metric = device_metric(kind, parameters, fields, domain)
    inputs = list(words(bits))
    encoder = encoder_of(metric)
    values = map(str, range(parameters["span"] + 1)) if "span" in parameters else VALUES[: domain or 12]
    return [enumerate_bytes(encoder, value.encode(), iter(inputs)) for value in values]


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case[0]}-{case[3]}")
def test_enumerated(case: tuple[str, dict[str, int], list[list[Any]], int, list[int]]) -> None:
    """The largest total variation between two values is the one stated, and three points dominate every pair."""
    kind, parameters = case[:2]
    ratio = Fraction(*mechanism(kind).worst_ratio(parameters))
    stated = own_variation(kind, parameters)
    assert stated is not None
    assert stated <= largest_variation(ratio)
    found = distributions(*case)
    pairs = list(permutations(found, 2))
    assert max(hockey_stick(pair, Fraction(1)) for pair in pairs) == stated
    bound = three_points(ratio, stated)
    for i in range(13):
        level = 1 + (ratio - 1) * Fraction(i, 12)
        assert max(hockey_stick(pair, level) for pair in pairs) <= hockey_stick(bound, level)


@pytest.mark.parametrize("name", MECHANISMS)
def test_calibrated(tmp_path: Path, name: str) -> None:
    """Every calibrated metric has a total variation above 0 and within what its epsilon allows."""
    metric = metric_of(tmp_path, name)
    assert 0 < variation(metric) <= largest_variation(metric.ratio)


def test_permanent_noise_has_no_variation_of_its_own(tmp_path: Path) -> None:
    """Longitudinal RAPPOR counts with the largest variation; one-time RAPPOR with that of its 2 h bits."""
    longitudinal = metric_of(tmp_path, "rappor")
    assert variation(longitudinal) == largest_variation(longitudinal.ratio)
    once = metric_of(tmp_path, "rappor", reports="one-time", epsilon=4.4, p=None, q=None)
    assert variation(once) < largest_variation(once.ratio)
