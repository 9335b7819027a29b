"""The audit's own arithmetic: against plain enumeration where that is possible, and against brute force."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub_simulations.audit.errors import AuditError
from hubbub_simulations.audit.noise import SOURCE, Part
from hubbub_simulations.audit.ratios import ratio_of_bits, worst_of_distributions, worst_pair_of_bits
from hubbub_simulations.audit.tree import grow

from tests.client.distribution import VALUES, device_metric, encoder_of, enumerate_bytes, words

FEW = settings(max_examples=15)
SHARES = st.fractions(Fraction(1, 64), Fraction(63, 64), max_denominator=64)


@pytest.mark.parametrize(("domain", "extra", "precision"), [(2, 3, 4), (3, 5, 5), (5, 6, 8), (7, 4, 7)])
def test_a_search_finds_what_enumeration_finds(domain: int, extra: int, precision: int) -> None:
    """k-RR's distribution by searching for the edges is the one over all of its random inputs."""
    uniform_bits = domain.bit_length() + extra
    parameters = {"domain": domain, "uniform_bits": uniform_bits, "threshold": 3, "precision": precision}
    metric = device_metric("randomized-response", parameters, [["index", (domain - 1).bit_length(), domain]], domain)
    encoder = encoder_of(metric)
    parts = [Part(SOURCE, 0, precision, ordered=True), Part(SOURCE, precision, uniform_bits, ordered=True)]
    for value in VALUES[:domain]:

        def run(numbers: tuple[int, ...], value: str = value) -> bytes:
            noise = sum(part.spread(number) for part, number in zip(parts, numbers, strict=True))
            record: bytes = encoder.encode(value.encode(), lambda count: noise.to_bytes(count, "little"))
            return record

        found = grow(run, parts, random.Random(1)).distribution()
        assert found == enumerate_bytes(encoder, value.encode(), words([uniform_bits + precision]))


@FEW
@given(st.data())
def test_a_tree_is_exact_and_foretells_every_input(data: st.DataObject) -> None:
    """Over a comparison, a staircase and a table, shares are exact and every input is foretold."""
    parts = [
        Part(SOURCE, 0, 8, ordered=True),
        Part(SOURCE, 8, 9, ordered=True),
        Part(SOURCE, 17, 3),
    ]
    edge = data.draw(st.integers(0, 256))
    steps = sorted(data.draw(st.lists(st.integers(1, 511), max_size=5)))
    table = data.draw(st.lists(st.integers(0, 3), min_size=8, max_size=8))

    def run(numbers: tuple[int, ...]) -> bytes:
        keep, draw, column = numbers
        return bytes([table[column]]) if keep < edge else bytes([8 + sum(draw >= step for step in steps)])

    tree = grow(run, parts, random.Random(2))
    expected: dict[bytes, int] = {}
    for keep, draw in product(range(256), range(0, 512)):
        if keep < edge and draw:
            continue
        for column in range(8):
            weight = 512 if keep < edge else 1
            output = run((keep, draw, column))
            expected[output] = expected.get(output, 0) + weight
    total = 1 << 20
    assert tree.distribution() == {output: Fraction(count, total) for output, count in expected.items()}
    for _ in range(50):
        numbers = tuple(data.draw(st.integers(0, (1 << part.bits) - 1)) for part in parts)
        assert tree.predict(numbers) == run(numbers)


def test_a_part_too_wide_to_try_is_refused() -> None:
    """A wide part that is not ordered is refused, with what to do instead, before a single run too many."""
    with pytest.raises(AuditError, match="--empirical"):
        grow(lambda numbers: bytes(numbers), [Part(SOURCE, 0, 30)], random.Random(3))


@FEW
@given(st.lists(st.lists(st.integers(1, 9), min_size=3, max_size=3), min_size=2, max_size=5))
def test_the_worst_of_distributions_is_that_over_all_pairs(weights: list[list[int]]) -> None:
    """Looking at each output's extremes finds the same ratio as trying all pairs of values."""
    made = {
        b"%d" % value: {b"%d" % o: Fraction(w, sum(row)) for o, w in enumerate(row)}
        for value, row in enumerate(weights)
    }
    worst = worst_of_distributions(made)
    assert worst.ratio == max(made[a][o] / made[b][o] for a, b in product(made, made) for o in made[a])
    assert made[worst.likelier][worst.output] / made[worst.rarer][worst.output] == worst.ratio


def test_an_output_that_one_value_lacks_is_infinite() -> None:
    """An output with probability 0 for one value makes the ratio infinite, and names both values."""
    one, half = Fraction(1), Fraction(1, 2)
    worst = worst_of_distributions({b"a": {b"x": one}, b"b": {b"x": half, b"y": half}})
    assert (worst.ratio, worst.likelier, worst.rarer, worst.output) == (None, b"b", b"a", b"y")
    assert worst.exceeds(Fraction(10**9))


@FEW
@given(st.lists(st.lists(SHARES, min_size=4, max_size=4), min_size=2, max_size=6))
def test_the_worst_pair_of_bit_vectors_is_that_over_all_outputs(rows: list[list[Fraction]]) -> None:
    """The pair found by logarithms has the largest ratio of all pairs, over all 16 outputs, and gives that output."""

    def chance(row: list[Fraction], bits: int) -> Fraction:
        total = Fraction(1)
        for lane, p in enumerate(row):
            total *= p if bits >> lane & 1 else 1 - p
        return total

    def worst(one: list[Fraction], other: list[Fraction]) -> Fraction:
        return max(chance(one, bits) / chance(other, bits) for bits in range(16))

    likelier, rarer = worst_pair_of_bits(np.array([[float(p) for p in row] for row in rows]))
    ratio, bits = ratio_of_bits(rows[likelier], rows[rarer])
    assert ratio == worst(rows[likelier], rows[rarer]) == chance(rows[likelier], bits) / chance(rows[rarer], bits)
    best = max(worst(one, other) for one, other in product(rows, rows))
    assert float(ratio) == pytest.approx(float(best), rel=1e-9)


def test_a_bit_that_one_value_never_sends_is_infinite() -> None:
    """A certain bit gives an infinite ratio against an uncertain one, in the direction that shows it."""
    rows = [[Fraction(0), Fraction(1, 2)], [Fraction(1, 4), Fraction(1, 2)]]
    likelier, rarer = worst_pair_of_bits(np.array([[float(p) for p in row] for row in rows]))
    assert (likelier, rarer) == (1, 0)
    assert ratio_of_bits(rows[1], rows[0]) == (None, 0b01)


@pytest.mark.parametrize(("lanes", "bits"), [(1, 3), (8, 2), (11, 4)])
def test_a_part_in_step_gives_every_lane_the_same_number(lanes: int, bits: int) -> None:
    """Spreading a number over lanes and reading any lane back gives that number, and touches no other bit."""
    part = Part(SOURCE, 16, bits, lanes, ordered=True)
    for number in range(1 << bits):
        channel = part.spread(number)
        assert channel & ~part.mask == 0
        assert {part.number(channel, lane) for lane in range(lanes)} == {number}


def test_the_oracle_of_other_tests_still_fails_on_an_infinite_ratio() -> None:
    """The enumeration that other tests share says where an output is impossible for one value."""
    from tests.client.distribution import worst_ratio

    outputs: list[dict[bytes, Fraction]] = [{b"x": Fraction(1)}, {b"y": Fraction(1)}]
    with pytest.raises(AssertionError, match="infinite"):
        worst_ratio(outputs)
    same: list[Any] = [{b"x": Fraction(1)}, {b"x": Fraction(1)}]
    assert worst_ratio(same) == 1
