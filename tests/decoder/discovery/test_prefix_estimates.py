"""Counts by the prefix extending method: unbiased, with the variance they state, from the parts that show all of it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from hubbub_client.records import unpack
from hubbub_decoder import EstimateError, State, estimate, partial
from hubbub_decoder.discovery.parts import Part
from hubbub_decoder.discovery.pooled import first_counted, shown_in
from hubbub_registry import Metric
from hubbub_simulations.mechanisms import encode

from tests.decoder.reports import SMALL, as_records, item_of, outputs, probability
from tests.registries import metric_of

VALUES = ["a", "b", "c", "d", "e"]
NAME = "prefix-extending-method"


def small(folder: Path, **keys: object) -> Metric:
    return metric_of(folder, NAME, **{**SMALL[NAME], **keys})


def expected_state(metric: Metric, holders: dict[str, int]) -> State:
    """The state in exact proportion of every output of a population, so often that all counts are integers."""
    p = metric.device.parameters
    unit = 1 << (p["precision"] + p["slots_bits"] + p["families_bits"] + p["width_bits"] * p["dimension"])
    parts, functions = p["levels"] + 1, 1 << (p["width_bits"] * (p["dimension"] - 1))
    counts = np.zeros((parts, 1 << p["families_bits"], functions, 1 << p["width_bits"]), np.int64)
    for value, times in holders.items():
        for record, chance in outputs(metric, value):
            slot, family, function, bucket = unpack(metric.device.fields, record)
            expected = chance * unit * times
            assert expected.denominator == 1
            counts[slot * parts >> p["slots_bits"], family, function, bucket] += int(expected)
    return State.of(metric, unit * sum(holders.values()), counts=counts)


def shared(metric: Metric, a: str, b: str) -> Fraction:
    """By how much holders of ``a`` raise the count of ``b``, for each of them: by collisions of items in the whole."""
    p = metric.device.parameters
    width, families = 1 << p["width_bits"], 1 << p["families_bits"]
    raised = Fraction(0)
    for family in range(families):
        one, other = (item_of(metric, value, (1 << p["slots_bits"]) - 1, family) for value in (a, b))
        if one == other:
            raised += 1
        elif one >> p["width_bits"] == other >> p["width_bits"]:  # all but x_0: never together
            raised -= Fraction(1, width - 1)
    return raised / families


@pytest.mark.parametrize("epsilon", [0.7, 1, 3])
def test_the_mean_is_the_truth_and_collisions(tmp_path: Path, epsilon: float) -> None:
    """With every output in its proportion, a count is that of the holders and of those that share its items."""
    metric = small(tmp_path, epsilon=epsilon)
    holders = {"a": 5, "b": 3, "c": 0, "d": 1, "e": 1}
    state = expected_state(metric, holders)
    found = estimate(metric, state, VALUES)
    for value, count in zip(found.value, found.count, strict=True):
        truth = sum(times * (shared(metric, other, value) if other != value else 1) for other, times in holders.items())
        assert count / state.n * 10 == pytest.approx(float(truth), abs=1e-9)


def test_collisions_are_even_over_families(tmp_path: Path) -> None:
    """Over all items, those of one coordinate vector take off what the same item adds: nobody's count leans by them."""
    metric = small(tmp_path)
    p = metric.device.parameters
    width, items = 1 << p["width_bits"], 1 << (p["width_bits"] * p["dimension"])
    raised = [1 if item == 6 else -Fraction(1, width - 1) if item >> 2 == 6 >> 2 else 0 for item in range(items)]
    assert sum(raised, Fraction(0)) == 0
    keep = probability(metric)
    part = Part.of(metric, expected_state(metric, {"a": 1}), 1)
    variance = sum(Fraction(each) ** 2 for each in raised) / items  # of one family, in holders
    gain = float(keep * (1 - Fraction(1, width)))
    assert part.floor == pytest.approx(float(variance) * gain**2 / (1 << p["families_bits"]))


def test_the_chance_of_one_item_is_estimated_without_bias(tmp_path: Path) -> None:
    """Over all pairs of outputs of one function, agreement stands for 1 where both hold one item, and else expects 0.

    Else: averaged over the items of the other value, of which one shares it and some never meet.
    """
    metric = small(tmp_path)
    p = metric.device.parameters
    keep, width = probability(metric), 1 << p["width_bits"]
    same = keep**2 * (1 - Fraction(1, width)) + Fraction(1, width)
    never = (1 - same) / (width - 1)
    assert (same + (width - 1) * never) / width == Fraction(1, width)  # an item, its siblings: as often as any two
    state = expected_state(metric, {"a": 1000})
    assert Part.of(metric, state, 1).squares == pytest.approx(1, abs=1e-3)


def test_the_null_variance_is_that_of_the_counting_reports(tmp_path: Path) -> None:
    """n/M times that of a binomial of rate 1/width among M, and the collision floor; the slope adds what a holder does.

    The variance of the share that is drawn is that of a hypergeometric number of holders.
    """
    metric = small(tmp_path)
    p = metric.device.parameters
    state = expected_state(metric, {"a": 1, "b": 3})
    found = estimate(metric, state, VALUES)
    part = Part.of(metric, state, 1)
    n, m, q = state.n, part.reports, Fraction(1, 1 << p["width_bits"])
    gain = probability(metric) * (1 - q)
    holder = q + gain
    assert m * 2 == n
    noise = 4 * (m * q * (1 - q) + m * m * Fraction(part.squares) * Fraction(part.floor)) / gain**2
    assert found.null_variance == pytest.approx(float(noise), rel=1e-9)
    place = found.value.index("a")
    share = found.frequency[place]
    slope = 2 * float((holder * (1 - holder) - q * (1 - q)) / gain**2) + (1 - share)
    assert found.slope[place] == pytest.approx(slope, rel=1e-9)


def test_which_parts_count_a_string(tmp_path: Path) -> None:
    """The first beginning that shows the end of a string finds it, and all later ones count it, with the whole."""
    p = metric_of(tmp_path, NAME, longest=9).device.parameters  # 3, 5, 7, 9 bytes and the whole
    assert p["levels"] == 4
    assert [first_counted(size, p) for size in range(12)] == [1, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 4]
    assert shown_in(b"ab", 1, p) == b"ab\xff\xff\xff"
    assert shown_in(b"ab", 4, p) == b"ab"


def test_a_short_string_is_counted_by_more_reports(tmp_path: Path) -> None:
    """A string of two bytes has a smaller error than one of nine, at the same truth of nothing."""
    metric = metric_of(tmp_path, NAME, longest=9, items=4096)
    rng = np.random.default_rng(1)
    records = encode(metric, [b"abcd"], np.zeros(20_000, np.intp), rng)
    found = estimate(metric, partial(metric, records), ["no", "nine more"])
    by = dict(zip(found.value, found.std_error, strict=True))
    assert 1.5 < by["nine more"] / by["no"] < 2.3  # a fifth of the reports against four fifths


def test_without_a_report_of_the_whole_nothing_is_estimated(tmp_path: Path) -> None:
    """Where all reports are of beginnings that do not show a candidate, that is an error and no figure."""
    metric = small(tmp_path)
    record = next(record for record, _ in outputs(metric, "a") if unpack(metric.device.fields, record)[0] == 0)
    with pytest.raises(EstimateError, match="none of the 3 reports is of a whole value"):
        estimate(metric, partial(metric, as_records([record] * 3)), VALUES)
