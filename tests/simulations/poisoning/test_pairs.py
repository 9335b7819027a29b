"""Fakes against pairs: what one counts as, by formula and by the decoder, and what it does to independence."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from hubbub_client.pairs import pair_bytes
from hubbub_decoder import partial
from hubbub_decoder.joint.decode import estimate_joint
from hubbub_decoder.joint.estimates import JointEstimates
from hubbub_decoder.screen import Screen
from hubbub_registry import Metric
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode
from hubbub_simulations.poisoning.pairs import pair_leverage, pair_records

FIRST, SECOND = ["a", "b", "c"], ["x", "y"]
SHARES = np.outer([0.6, 0.3, 0.1], [0.7, 0.3])  # independent sides
FAKES = 400


@cache
def metric() -> Metric:
    sides = ({"mechanism": "randomized-response", "values": values} for values in (FIRST, SECOND))
    return define("joint", epsilon=2, **dict(zip(("first", "second"), sides, strict=True)))


def decoded(attack: str, seed: int) -> JointEstimates:
    """Of 4000 reports, a tenth of them fakes for the pair of the last values."""
    rng = np.random.default_rng(seed)
    items = [pair_bytes((a, b)) for a in FIRST for b in SECOND]
    index = np.repeat(np.arange(6), np.rint(SHARES * 9 * FAKES).astype(np.int64).ravel())
    fakes = pair_records(metric(), FIRST, SECOND, attack, FAKES, rng)
    records = np.concatenate([encode(metric(), items, index, rng), fakes])
    return estimate_joint(metric(), partial(metric(), records))


@pytest.mark.parametrize("attack", ["holders", "picked", "repeated"])
def test_a_fake_counts_as_the_formula_says(attack: str) -> None:
    """A tenth of fakes makes the share s of the pair 0.9 s + 0.1 leverage, within 4.9 standard errors (1e-6).

    Of lying holders the leverage is 1, and of picked records not.
    """
    found = [decoded(attack, seed).share[-1, -1] for seed in range(40)]
    error = np.std(found, ddof=1) / np.sqrt(len(found))
    leverage = 1.0 if attack == "holders" else pair_leverage(metric())
    assert abs(np.mean(found) - 0.9 * SHARES[-1, -1] - 0.1 * leverage) < 4.9 * error
    assert (abs(np.mean(found) - 0.9 * SHARES[-1, -1] - 0.1) > 4.9 * error) == (attack != "holders")


def test_picked_fakes_make_independent_sides_look_dependent_and_are_not_seen() -> None:
    """Independence is rejected at 1e-6 with a tenth of picked fakes, in a batch that the screen cannot flag."""
    assert decoded("picked", 1).independence.p_value < 1e-6
    screen = Screen(metric())
    screen.add(pair_records(metric(), FIRST, SECOND, "repeated", 5000, np.random.default_rng(1)))
    assert screen.verdict().what is None
