"""How the prefix extending method is laid out for an epsilon: levels, slots, items; and what is said of its error."""

from __future__ import annotations

import numpy as np
import pytest

from hubbub_client.mechanisms.prefix_extending_method import MOST_ITEM_BITS, lengths, part_of
from hubbub_registry.advice import Conditions, advise
from hubbub_registry.advice.error import rare_value_error
from hubbub_registry.lints.sketch import TYPICAL_S
from hubbub_registry.mechanisms.prefix_extending_method import levels_for, longest
from hubbub_simulations.definitions import define
from hubbub_simulations.theory import scaled_mse

NAME = "prefix-extending-method"


@pytest.mark.parametrize("asked", range(1, 32))
def test_the_longest_string_fits_the_last_level(asked: int) -> None:
    """The last level has as many bytes as were asked for or one more, and none before it has."""
    p = define(NAME, epsilon=1, longest=asked, items=4).device.parameters
    *shorter, last = lengths(p)
    assert last == longest({"longest": asked}) == max(3, asked + 1 - asked % 2)
    assert all(length < asked for length in shorter)
    assert levels_for(asked) == len(shorter) + 1


@pytest.mark.parametrize("asked", range(1, 32))
def test_every_part_has_about_its_share(asked: int) -> None:
    """Slots are spread evenly: no part has a quarter less than an even share, and powers of two are exact."""
    p = define(NAME, epsilon=1, longest=asked, items=4).device.parameters
    parts, slots = p["levels"] + 1, 1 << p["slots_bits"]
    sizes = np.bincount([part_of(slot, p) for slot in range(slots)])
    assert len(sizes) == parts
    assert sizes.min() * parts >= 0.75 * slots
    assert parts & (parts - 1) or set(sizes.tolist()) == {slots // parts} == {1}


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 2, 3, 4, 5, 6, 8])
def test_items_are_as_many_as_asked_for(epsilon: float) -> None:
    """By default there are 2**18 items and up to eight times as many, or a quarter; with families, 2**20 cells a part.

    A record takes four bytes at most, and the state of a part 2 MiB where each cell takes one.
    """
    metric = define(NAME, epsilon=epsilon)
    p = metric.device.parameters
    bits = p["width_bits"] * p["dimension"]
    assert 16 <= bits <= 21 <= MOST_ITEM_BITS
    assert bits + p["families_bits"] == max(20, bits)
    assert metric.device.record_bytes <= 4
    assert p["dimension"] >= 2


@pytest.mark.parametrize("epsilon", [1, 4])
@pytest.mark.parametrize("reports", [1000, 10**8])
def test_the_expected_error_is_that_of_the_simulations(epsilon: float, reports: int) -> None:
    """The formula is that of a string that only reports of the whole count, where squared frequencies sum to 0.1."""
    metric = define(NAME, epsilon=epsilon, longest=5, items=4096, families=1)
    values = ["much longer than that", "also longer than that"]
    share = TYPICAL_S**0.5
    rest = [f"long enough {i}" for i in range(100_000)]
    frequencies = np.array([share, 0.0, *[(1 - share) / len(rest)] * len(rest)])
    exact = scaled_mse(metric, [*values, *rest], frequencies, reports)[1] / reports
    found = rare_value_error(NAME, metric.device.parameters, reports)
    assert found == pytest.approx(exact**0.5, rel=1e-4)


def test_at_frequency_zero_it_is_local_hashing_with_a_share_of_the_reports() -> None:
    """n Var is (E-1+g)^2/((g-1)(E-1)^2) times 2 for a long string of two parts, and the floor of its items."""
    metric = define(NAME, epsilon=2, longest=3)
    p = metric.device.parameters
    g, e, cells = 1 << p["width_bits"], float(metric.ratio), 1 << 20
    found = scaled_mse(metric, ["long one", "long two"], np.array([1.0, 0.0]), 500)[1]
    floor = 500 * g / (g - 1) / cells
    assert found == pytest.approx(2 * (e - 1 + g) ** 2 / ((g - 1) * (e - 1) ** 2) + floor)


def test_it_is_named_where_no_list_is() -> None:
    """Advice on a metric of any text without candidates says which mechanisms find values; with them it does not."""
    open_ended = define("local-hashing", epsilon=1)
    assert "or sequence-fragment-puzzle finds frequent values" in advise(open_ended, Conditions()).because
    assert NAME in advise(open_ended, Conditions()).because
    assert NAME not in advise(define("randomized-response", epsilon=1, values=["a", "b"]), Conditions()).because
    assert advise(define(NAME, epsilon=1), Conditions()).advised is None
